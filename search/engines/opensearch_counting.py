"""Exact counts with ids. Nothing is estimated: values come page by page, and a count that changed between pages is taken again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Corpus, Filters
from search.engines.intervals import Interval, Range, extent, instant, ranges
from search.engines.limits import MAX_BUCKET_IDS, MAX_PAGE, within
from search.engines.opensearch_cluster import Cluster, whole
from search.engines.opensearch_errors import unavailable
from search.engines.opensearch_names import Names
from search.engines.opensearch_ownership import INDICES
from search.engines.opensearch_queries import DOCUMENTS, NEWEST_FIRST, Body, every, matching, selection
from search.engines.opensearch_reading import hits
from search.filters import zone_named
from search.ranking import Bucket, BucketQuery, GroupMembers

T = TypeVar("T")

_FIELDS = {"theme": "theme_id", "source": "source_kind", "account": "account_id"}
_PAGE_BUCKETS = 10_000
_FEW_MEMBERS = 500
_PAGE_IDS = 20_000
_ANSWER_BUCKETS = 50_000
_TRIES = 3

Counted = tuple[tuple[Bucket, ...], int, int, int]
"""Buckets, documents that match, documents that pass the filters, and matching documents without the field."""


class Counter:
    """Counts documents of all tenants of one cluster."""

    def __init__(self, cluster: Cluster, prefix: str) -> None:
        self._cluster = cluster
        self._prefix = prefix
        self._distinct: dict[Tenant, tuple[object, tuple[int, int]]] = {}

    def buckets(self, tenant: Tenant, query: BucketQuery) -> Counted:
        """See :meth:`search.ports.Engine.aggregate`."""
        within(query.ids_per_bucket, 0, MAX_BUCKET_IDS, "ids_per_bucket")
        names = Names(self._prefix, tenant)
        if query.by in ("day", "week", "month"):
            interval: Interval = query.by
            return _settled(lambda: self._by_time(names, query, interval))
        field = _FIELDS[query.by]
        return _settled(lambda: self._by_field(names, query, field))

    def group_members(self, tenant: Tenant, group_keys: Sequence[str], filters: Filters, first: int) -> Mapping[str, GroupMembers]:
        """See :meth:`search.ports.Engine.group_members`."""
        within(first, 0, MAX_PAGE, "first")
        names = Names(self._prefix, tenant)
        keys = list(dict.fromkeys(group_keys))
        chunk = max(1, _ANSWER_BUCKETS // (first + 1))
        found: dict[str, GroupMembers] = {}
        for start in range(0, len(keys), chunk):
            found |= self._members(names, keys[start : start + chunk], filters, first)
        return {key: found[key] for key in keys if key in found}

    def corpus(self, tenant: Tenant, *, generation: int, model: str, dimension: int) -> Corpus:
        """See :meth:`search.ports.Engine.corpus`."""
        names = Names(self._prefix, tenant)
        documents, passages, moment = self._ask(names, _overview(tenant), _passages(tenant), _moment(tenant))
        groups, themes = self._distinct_counts(names, moment["aggregations"]) if documents["hits"]["total"]["value"] else (0, 0)
        overview: Mapping[str, Any] = documents.get("aggregations", _NOTHING)
        return Corpus(
            documents=documents["hits"]["total"]["value"],
            passages=passages["hits"]["total"]["value"],
            groups=groups,
            first_occurred_at=_moment_of(overview["first"]),
            last_occurred_at=_moment_of(overview["last"]),
            sources={each["key"]: each["doc_count"] for each in sorted(overview["sources"]["buckets"], key=lambda each: str(each["key"]))},
            themes=themes,
            without_theme=overview["without_theme"]["doc_count"],
            generation=generation,
            model=model,
            dimension=dimension,
        )

    def documents(self, tenant: Tenant) -> int:
        """How many live documents are visible."""
        (answer,) = self._ask(Names(self._prefix, tenant), _count(_scope(tenant, EVERYTHING)))
        found: int = answer["hits"]["total"]["value"]
        return found

    def _by_field(self, names: Names, query: BucketQuery, field: str) -> Counted | None:
        matched = _matched(names.tenant, query)
        missing: Body = {"missing": {"missing": {"field": field}}}
        total, scope = self._ask(names, _count(matched, missing), _count(_scope(names.tenant, query.filters)))
        buckets = tuple(
            Bucket(each["key"]["value"], each["doc_count"], _ids(each))
            for each in self._values(names, matched, field, query.ids_per_bucket)
        )
        without = total["aggregations"]["missing"]["doc_count"] if "aggregations" in total else 0
        matching_documents = total["hits"]["total"]["value"]
        if sum(bucket.count for bucket in buckets) + without != matching_documents:
            return None
        ordered = sorted(buckets, key=lambda bucket: (-bucket.count, bucket.key))
        return tuple(ordered), matching_documents, scope["hits"]["total"]["value"], without

    def _by_time(self, names: Names, query: BucketQuery, interval: Interval) -> Counted | None:
        zone = zone_named(query.time_zone)
        matched = _matched(names.tenant, query)
        edges: Body = {"first": {"min": {"field": "occurred_at"}}, "last": {"max": {"field": "occurred_at"}}}
        total, scope = self._ask(names, _count(matched, edges), _count(_scope(names.tenant, query.filters)))
        seen = total.get("aggregations", _NOTHING)
        covered = extent(query.filters, _whole(seen["first"]["value"]), _whole(seen["last"]["value"]))
        spans = ranges(interval, *covered, zone) if covered else ()
        buckets = self._ranges(names, matched, spans, query.ids_per_bucket)
        matching_documents = total["hits"]["total"]["value"]
        if sum(bucket.count for bucket in buckets) != matching_documents:
            return None
        return buckets, matching_documents, scope["hits"]["total"]["value"], 0

    def _ranges(self, names: Names, matched: Sequence[Body], spans: Sequence[Range], ids: int) -> tuple[Bucket, ...]:
        if not spans:
            return ()
        limits = [{"key": span.key, "from": span.start_ms, "to": span.end_ms} for span in spans]
        ranged: Body = {"date_range": {"field": "occurred_at", "keyed": True, "ranges": limits}, **_newest(ids)}
        (answer,) = self._ask(names, _count(matched, {"found": ranged}))
        found = answer["aggregations"]["found"]["buckets"] if "aggregations" in answer else {}
        empty = {"doc_count": 0}
        return tuple(Bucket(span.key, found.get(span.key, empty)["doc_count"], _ids(found.get(span.key, empty))) for span in spans)

    def _values(self, names: Names, matched: Sequence[Body], field: str, ids: int) -> Iterator[Mapping[str, Any]]:
        """Every value of a field, page by page."""
        size = max(10, min(1000, _PAGE_IDS // ids)) if ids else _PAGE_BUCKETS
        paged: Body = {"size": size, "sources": [{"value": {"terms": {"field": field}}}]}
        while True:
            (answer,) = self._ask(names, _count(matched, {"found": {"composite": paged, **_newest(ids)}}))
            found = answer.get("aggregations", {}).get("found", {"buckets": []})
            yield from found["buckets"]
            if len(found["buckets"]) < size:
                return
            paged = paged | {"after": found["after_key"]}

    def _members(self, names: Names, keys: Sequence[str], filters: Filters, first: int) -> dict[str, GroupMembers]:
        members = [*_scope(names.tenant, filters), {"terms": {"group_key": list(keys)}}]
        few = self._few_members(names, members, first)
        return self._many_members(names, members, keys, first) if few is None else few

    def _few_members(self, names: Names, members: Sequence[Body], first: int) -> dict[str, GroupMembers] | None:
        """The groups by a list of their documents, which is what a cluster does fastest; None when there are too many for one answer."""
        listed = {"size": _FEW_MEMBERS, "sort": ["_doc"], "_source": False, "docvalue_fields": ["doc_id", "group_key", "tenant"]}
        (answer,) = self._ask(names, {"track_total_hits": True, "query": every(members), **listed})
        listed_hits = hits(answer)
        if answer["hits"]["total"]["value"] > len(listed_hits):
            return None
        found: dict[str, list[str]] = {}
        for hit in listed_hits:
            found.setdefault(hit["fields"]["group_key"][0], []).append(hit["fields"]["doc_id"][0])
        return {key: GroupMembers(len(doc_ids), tuple(sorted(doc_ids)[:first])) for key, doc_ids in found.items()}

    def _many_members(self, names: Names, members: Sequence[Body], keys: Sequence[str], first: int) -> dict[str, GroupMembers]:
        grouped: Body = {"terms": {"field": "group_key", "size": max(1, len(keys)), "execution_hint": "map"}, **_first_ids(first)}
        (answer,) = self._ask(names, _count(members, {"found": grouped}))
        found = answer["aggregations"]["found"]["buckets"] if "aggregations" in answer else []
        return {each["key"]: GroupMembers(each["doc_count"], _ids(each)) for each in found}

    def _distinct_counts(self, names: Names, moment: object) -> tuple[int, int]:
        """Groups and themes, counted again only when something became visible since."""
        known = self._distinct.get(names.tenant)
        if known is not None and known[0] == moment:
            return known[1]
        scope = _scope(names.tenant, EVERYTHING)
        counts = (sum(1 for _ in self._values(names, scope, "group_key", 0)), sum(1 for _ in self._values(names, scope, "theme_id", 0)))
        self._distinct[names.tenant] = (moment, counts)
        return counts

    def _ask(self, names: Names, *bodies: Body) -> Sequence[Mapping[str, Any]]:
        header = {"index": names.alias, "ignore_unavailable": True}
        return self._cluster.searches([line for body in bodies for line in (header, body)], tenant=names.tenant, accept=whole)


_NOTHING: Mapping[str, Any] = {
    "first": {"value": None},
    "last": {"value": None},
    "sources": {"buckets": []},
    "without_theme": {"doc_count": 0},
}


def _settled(count: Callable[[], T | None]) -> T:
    """The first count that agrees with itself."""
    for _ in range(_TRIES):
        found = count()
        if found is not None:
            return found
    raise unavailable("documents changed while they were being counted; ask again")


def _scope(tenant: Tenant, filters: Filters) -> list[Body]:
    return [*selection(tenant, filters), DOCUMENTS]


def _matched(tenant: Tenant, query: BucketQuery) -> list[Body]:
    return [*_scope(tenant, query.filters), *matching(query.match)]


def _count(clauses: Sequence[Body], aggregations: Body | None = None) -> Body:
    return {"size": 0, "track_total_hits": True, "query": every(clauses), "aggs": {**INDICES, **(aggregations or {})}}


def _newest(ids: int) -> Body:
    return _hits(ids, NEWEST_FIRST)


def _first_ids(ids: int) -> Body:
    return _hits(ids, [{"doc_id": "asc"}])


def _hits(size: int, order: list[Body]) -> Body:
    if not size:
        return {}
    return {"aggs": {"ids": {"top_hits": {"size": size, "sort": order, "_source": False, "docvalue_fields": ["doc_id", "tenant"]}}}}


def _ids(bucket: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(hit["fields"]["doc_id"][0] for hit in hits(bucket["ids"])) if "ids" in bucket else ()


def _overview(tenant: Tenant) -> Body:
    aggregations: Body = {
        "first": {"min": {"field": "occurred_at"}},
        "last": {"max": {"field": "occurred_at"}},
        "sources": {"terms": {"field": "source_kind", "size": _PAGE_BUCKETS}},
        "without_theme": {"missing": {"field": "theme_id"}},
    }
    return _count(_scope(tenant, EVERYTHING), aggregations)


def _passages(tenant: Tenant) -> Body:
    return _count(selection(tenant, EVERYTHING))


def _moment(tenant: Tenant) -> Body:
    """What tells one state of the indices from every other: the newest change visible in each."""
    newest: Body = {"terms": {"field": "_index", "size": _PAGE_BUCKETS}, "aggs": {"newest": {"max": {"field": "_seq_no"}}}}
    return _count([{"term": {"tenant": tenant}}], {"indices": newest})


def _moment_of(edge: Mapping[str, Any]) -> Any:
    ms = _whole(edge["value"])
    return None if ms is None else instant(ms)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
