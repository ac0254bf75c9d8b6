"""What is counted of a document: its day, theme and source; and of all documents of a tenant at one moment."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Document, Filters
from search.ports import Engine
from search.ranking import BucketQuery, Buckets

_YEARS_OF_DAYS = timedelta(days=9_000)
"""Days asked for at once; an aggregation has at most 10,000 buckets."""
_FEW = 8
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Facts:
    """Of one version of a document. ``day`` is a UTC date, ``source`` the kind of the source."""

    version: int
    day: str
    theme: str | None
    source: str

    def as_json(self) -> dict[str, Any]:
        """Plain values; a document without a theme has none."""
        fields = {"version": self.version, "day": self.day, "source": self.source}
        return fields if self.theme is None else {**fields, "theme": self.theme}


def facts_of(document: Document, version: int | None = None) -> Facts:
    """The facts of a document, stored or about to be."""
    day = document.occurred_at.astimezone(UTC).date().isoformat()
    return Facts(document.version if version is None else version, day, document.theme_id, document.source.kind)


def stored_facts(engine: Engine, tenant: Tenant, versions: Mapping[str, int]) -> dict[str, Facts]:
    """The facts of live documents, at the versions the store has them now."""
    found: dict[str, Facts] = {}
    doc_ids = list(versions)
    if len(doc_ids) > _FEW:
        engine.refresh(tenant)
        for start in range(0, len(doc_ids), _PAGE):
            page = engine.documents(tenant, Filters(doc_ids=tuple(doc_ids[start : start + _PAGE])), first=_PAGE)
            found |= {document.doc_id: facts_of(document) for document in page.documents}
    for doc_id, version in versions.items():
        if doc_id not in found or found[doc_id].version != version:
            document = engine.document(tenant, doc_id)
            if document is not None:
                found[doc_id] = facts_of(document)
    return found


def counted(engine: Engine, tenant: Tenant) -> dict[str, Any]:
    """All documents of a tenant by day, theme and source, as plain values."""
    engine.refresh(tenant)
    corpus = engine.corpus(tenant)
    if not corpus.documents:
        return {"documents": 0, "days": {}, "themes": {}, "sources": {}}
    themes = engine.aggregate(tenant, BucketQuery("theme", EVERYTHING, ids_per_bucket=0)).buckets
    days = [bucket for buckets in _days(engine, tenant, corpus.first_occurred_at, corpus.last_occurred_at) for bucket in buckets.buckets]
    return {
        "documents": corpus.documents,
        "days": {bucket.key: bucket.count for bucket in days if bucket.count},
        "themes": {bucket.key: bucket.count for bucket in themes},
        "sources": dict(corpus.sources),
    }


def _days(engine: Engine, tenant: Tenant, first: datetime | None, last: datetime | None) -> Iterator[Buckets]:
    if first is None or last is None:
        return
    since = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    while since <= last:
        before = since + min(_YEARS_OF_DAYS, last - since + timedelta(days=1))
        yield engine.aggregate(tenant, BucketQuery("day", Filters(since=since, before=before), ids_per_bucket=0))
        since = before


def portions(sizes: Sequence[int], most: int) -> Iterator[slice]:
    """Cuts a sequence, given the size of each item, into runs of at most ``most``, at least one item each."""
    start, size = 0, 0
    for at, own in enumerate(sizes):
        if at > start and size + own > most:
            yield slice(start, at)
            start, size = at, 0
        size += own
    if len(sizes) > start:
        yield slice(start, len(sizes))
