"""Bodies of searches. Pure; nothing here reads an answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant
from search.analysis import MAX_QUERY_TERMS, Phrase, match_terms, query_terms
from search.documents import Filters, Vector
from search.engines.attribute_terms import attribute_term
from search.engines.intervals import milliseconds
from search.engines.limits import MAX_DEPTH
from search.engines.opensearch_records import CANDIDATE_FIELDS, DOCUMENT_FIELDS
from search.engines.ordering import decoded
from search.ranking import LegQuery

Body = dict[str, Any]

MAX_TERMS = 65_536
BREADTH = 4
"""The graph is searched for this many times the hits wanted: Lucene takes ``k`` as the breadth of its search."""

DOCUMENTS: Body = {"term": {"number": 0}}
"""One record per document."""

NEWEST_FIRST: list[Body] = [{"occurred_at": "desc"}, {"doc_id": "asc"}]


def selection(tenant: Tenant, filters: Filters) -> list[Body]:
    """What every search holds: this tenant, nothing deleted, and the filters."""
    clauses: list[Body] = [{"term": {"tenant": tenant}}, {"term": {"deleted": False}}]
    clauses += _range("occurred_at", gte=_ms(filters.since), lt=_ms(filters.before))
    clauses += _range("rating", gte=filters.rating_min, lte=filters.rating_max)
    for field, values in (("theme_id", filters.theme_ids), ("account_id", filters.account_ids), ("doc_id", filters.doc_ids)):
        if values is not None:
            clauses.append(_any_of(field, values))
    if filters.sources is not None:
        either = [_any_of("source_kind", filters.sources), _any_of("source_name", filters.sources)]
        clauses.append({"bool": {"should": either, "minimum_should_match": 1}})
    clauses += [{"term": {"attribute_terms": attribute_term(name, value)}} for name, value in filters.attributes]
    return clauses


def matching(match: str | None) -> list[Body]:
    """What a document must hold, as in :class:`search.ranking.BucketQuery`; nothing when there is no word in it."""
    if match is None:
        return []
    wanted = match_terms(match)
    return [{"term": {"whole": term}} for term in wanted.terms] + [_consecutive(phrase) for phrase in wanted.phrases]


def legs(alias: str, tenant: Tenant, query: LegQuery) -> list[Body]:
    """Lines of one multi-search: the lexical leg, the vector leg where there is a vector, and the count of documents that pass the filters."""
    chosen = selection(tenant, query.filters)
    header = {"index": alias, "ignore_unavailable": True, "preference": f"tenant-{tenant}"}
    lines = [header | {"search_type": "dfs_query_then_fetch"}, _leg(query.depth, _lexical(query.text, chosen))]
    if query.vector is not None:
        lines += [header, _leg(query.depth, _nearest(query.vector, query.depth, chosen))]
    return [*lines, header, {"size": 0, "track_total_hits": True, "query": every([*chosen, DOCUMENTS])}]


def one_document(tenant: Tenant, doc_id: str) -> Body:
    """The newest record that stands for a document."""
    chosen = selection(tenant, Filters(doc_ids=(doc_id,)))
    return {"size": 1, "_source": DOCUMENT_FIELDS, "query": every([*chosen, DOCUMENTS]), "sort": [{"version": "desc"}]}


def document_page(tenant: Tenant, filters: Filters, match: str | None, first: int, after: str | None) -> Body:
    """A page of documents, newest first.

    Raises:
        InvalidRequest: on ``after``, when it is not a cursor of ours.
    """
    body: Body = {
        "size": first,
        "track_total_hits": True,
        "_source": DOCUMENT_FIELDS,
        "query": every([*selection(tenant, filters), DOCUMENTS, *matching(match)]),
        "sort": NEWEST_FIRST,
    }
    return body if after is None else body | {"search_after": list(decoded(after))}


def every(clauses: Sequence[Body]) -> Body:
    """All clauses hold; none of them scores."""
    return {"bool": {"filter": list(clauses)}}


def _leg(depth: int, query: Body) -> Body:
    return {
        "size": depth,
        "track_total_hits": False,
        "_source": CANDIDATE_FIELDS,
        "query": query,
        "sort": ["_score", {"passage_id": "asc"}],
    }


def _lexical(text: str, chosen: Sequence[Body]) -> Body:
    return {"bool": {"must": [{"match": {"lexical": _words(text)}}], "filter": list(chosen)}}


def _words(text: str) -> Body:
    """The question as it is, for OpenSearch to analyse; a very long one as its first terms."""
    terms = query_terms(text)
    if len(terms) < MAX_QUERY_TERMS:
        return {"query": text}
    repeated = [term for term, count in terms.items() for _ in range(count)]
    return {"query": " ".join(repeated), "analyzer": "whitespace"}


def _nearest(vector: Vector, depth: int, chosen: Sequence[Body]) -> Body:
    k = min(MAX_DEPTH, max(100, BREADTH * depth))
    return {"knn": {"vector": {"vector": vector.tolist(), "k": k, "filter": every(chosen)}}}


def _consecutive(phrase: Phrase) -> Body:
    """Terms at exact distances; a stop word between two of them leaves a gap."""
    clauses: list[Body] = []
    next_place = 0
    for term, place in phrase.places:
        if place > next_place:
            clauses.append({"span_gap": {"whole": place - next_place}})
        clauses.append({"span_term": {"whole": term}})
        next_place = place + 1
    return clauses[0] if len(clauses) == 1 else {"span_near": {"clauses": clauses, "slop": 0, "in_order": True}}


def _any_of(field: str, values: Sequence[str]) -> Body:
    if len(values) > MAX_TERMS:
        raise InvalidRequest(f"has {len(values)} values; at most {MAX_TERMS} are allowed", field=f"{field}s")
    return {"terms": {field: list(values)}}


def _range(field: str, **bounds: float | None) -> list[Body]:
    given: Mapping[str, float] = {name: bound for name, bound in bounds.items() if bound is not None}
    return [{"range": {field: given}}] if given else []


def _ms(moment: Any) -> int | None:
    return None if moment is None else milliseconds(moment)
