"""Reading documents and ranking passages: what the searches find, checked and put into our types."""

from collections.abc import Mapping, Sequence
from typing import Any

from runtime.clock import Deadline
from runtime.telemetry import logger
from runtime.tenancy import Tenant
from search.documents import Document, DocumentPage, Filters
from search.engines import opensearch_queries as queries
from search.engines.limits import MAX_PAGE, check_query, within
from search.engines.opensearch_cluster import Cluster, loss, whole
from search.engines.opensearch_errors import unavailable
from search.engines.opensearch_names import Names
from search.engines.opensearch_records import candidate_of, document_of
from search.engines.ordering import encoded
from search.ranking import LegHit, LegName, LegQuery, Legs

Answer = Mapping[str, Any]
Hits = Sequence[Mapping[str, Any]]
Place = tuple[str, str]

_log = logger(__name__)


class Reader:
    """Finds documents and passages of all tenants of one cluster."""

    def __init__(self, cluster: Cluster, prefix: str, dimension: int) -> None:
        self._cluster = cluster
        self._prefix = prefix
        self._dimension = dimension

    def document(self, tenant: Tenant, doc_id: str) -> Document | None:
        """See :meth:`search.ports.Engine.document`."""
        names = Names(self._prefix, tenant)
        found = hits(self._cluster.search(names.alias, queries.one_document(tenant, doc_id), tenant=tenant))
        return document_of(found[0]["_source"]) if found else None

    def documents(self, tenant: Tenant, filters: Filters, *, match: str | None, first: int, after: str | None) -> DocumentPage:
        """See :meth:`search.ports.Engine.documents`."""
        within(first, 1, MAX_PAGE, "first")
        names = Names(self._prefix, tenant)
        answer = self._cluster.search(names.alias, queries.document_page(tenant, filters, match, first + 1, after), tenant=tenant)
        found = hits(answer)
        documents = tuple(document_of(hit["_source"]) for hit in found[:first])
        cursor = encoded((found[first - 1]["sort"][0], found[first - 1]["sort"][1])) if len(found) > first else None
        return DocumentPage(documents, answer["hits"]["total"]["value"], cursor)

    def legs(self, tenant: Tenant, query: LegQuery, deadline: Deadline | None) -> Legs:
        """See :meth:`search.ports.Engine.legs`."""
        check_query(query, self._dimension)
        names = Names(self._prefix, tenant)
        asked: tuple[LegName, ...] = ("lexical",) if query.vector is None else ("lexical", "vector")
        lines = queries.legs(names.alias, tenant, query)
        *answers, count = self._cluster.searches(lines, tenant=tenant, deadline=deadline, accept=_something_found)
        lost = {name: reason for name, answer in zip(asked, answers, strict=True) if (reason := loss(answer))}
        for name, reason in lost.items():
            _log.warning("leg_lost", leg=name, reason=reason)
        found = {name: hits(answer) for name, answer in zip(asked, answers, strict=True) if name not in lost}
        near = [{**hit, "_score": cosine(hit["_score"])} for hit in found.get("vector", ())]
        lexical, vector = _ranked(found.get("lexical", ()), near)
        return Legs(lexical, vector, count["hits"]["total"]["value"], lost)


def hits(answer: Answer) -> Hits:
    """The hits of an answer."""
    found: Hits = answer["hits"]["hits"]
    return found


def cosine(score: float) -> float:
    """The cosine behind Lucene's score for ``innerproduct``: 1 + d for d >= 0, 1 / (1 - d) below."""
    return score - 1.0 if score >= 1.0 else 1.0 - 1.0 / score


def _something_found(answers: Sequence[Answer]) -> None:
    """Accepts what can be answered from.

    Raises:
        Unavailable: every leg failed, or the count did.
    """
    *legs, count = answers
    whole([count])
    reasons = [loss(leg) for leg in legs]
    if all(reasons):
        raise unavailable("; ".join(dict.fromkeys(reasons)))


def _ranked(*legs: Hits) -> tuple[tuple[LegHit, ...], ...]:
    """Each leg with its ranks. While a document is being replaced, passages of its older version are left out."""
    placed = [[((hit["_index"], hit["_id"]), hit) for hit in leg] for leg in legs]
    sources: dict[Place, Mapping[str, Any]] = {place: hit["_source"] for leg in placed for place, hit in leg}
    newest: dict[str, int] = {}
    for source in sources.values():
        newest[source["doc_id"]] = max(source["version"], newest.get(source["doc_id"], 0))
    candidates = {place: candidate_of(source) for place, source in sources.items() if source["version"] == newest[source["doc_id"]]}
    kept = [[(candidates[place], hit["_score"]) for place, hit in leg if place in candidates] for leg in placed]
    return tuple(tuple(LegHit(candidate, score, rank) for rank, (candidate, score) in enumerate(leg, start=1)) for leg in kept)
