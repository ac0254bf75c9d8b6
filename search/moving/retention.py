"""Retention: documents of old months leave together, and what was known of them is kept as for any deletion.

Months are those of ``occurred_at`` in UTC, never of the day a document came in. A plan changes nothing; applying one deletes every document of its
months like any other deletion (tombstones, events, marks for what quotes them) and then drops what is left of the months.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from runtime.errors import InvalidRequest, Unavailable
from runtime.tenancy import Tenant
from search.documents import Filters
from search.ingest.erasure import delete_documents
from search.ports import Engine, Months, StateStore
from search.ranking import BucketQuery

_MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])\Z")
_PER_CALL = 1_000
_ROUNDS = 5

Told = Callable[[str, int, int], None]
"""A month, documents deleted of it so far, documents it had."""


@dataclass(frozen=True, slots=True)
class OldMonth:
    """One month to go: ``month`` as ``2026-01``; ``size`` in bytes. One without documents holds nothing but traces of earlier deletions."""

    month: str
    documents: int
    size: int


@dataclass(frozen=True, slots=True)
class RetentionPlan:
    """What applying would do: every month before ``before``, oldest first. ``foreign`` is left alone."""

    tenant: Tenant
    before: str
    months: tuple[OldMonth, ...]
    foreign: tuple[str, ...] = ()

    @property
    def documents(self) -> int:
        """Documents of all its months."""
        return sum(month.documents for month in self.months)

    @property
    def size(self) -> int:
        """Bytes of all its months."""
        return sum(month.size for month in self.months)


def first_kept(now: datetime, keep_months: int | None, before: str | None) -> str:
    """The first month that stays: the one named, or the earliest of the last ``keep_months``, the present one included.

    Raises:
        InvalidRequest: not exactly one is given; or it is no month, or one in the future.
    """
    if (keep_months is None) == (before is None):
        raise InvalidRequest("give --keep-months or --before: exactly one of them")
    if before is None:
        return _months_back(now, keep_months or 0)
    if not _MONTH.match(before) or before.startswith("0000"):
        raise InvalidRequest("must be a month such as 2026-01", field="before")
    if before > f"{now:%Y-%m}":
        raise InvalidRequest(f"is after the present month, {now:%Y-%m}", field="before")
    return before


def planned(engine: Engine, months: Months, tenant: Tenant, before: str) -> RetentionPlan:
    """What is older than ``before``, counted now."""
    engine.refresh(tenant)
    query = BucketQuery("month", Filters(before=_begin(before)), ids_per_bucket=0)
    counts = {bucket.key: bucket.count for bucket in engine.aggregate(tenant, query).buckets if bucket.count}
    held = months.held(tenant)
    old = sorted(month for month in counts.keys() | held.sizes.keys() if month < before)
    return RetentionPlan(
        tenant, before, tuple(OldMonth(month, counts.get(month, 0), held.sizes.get(month, 0)) for month in old), held.foreign
    )


def applied(engine: Engine, state: StateStore, months: Months, plan: RetentionPlan, told: Told | None = None) -> int:
    """Do what the plan says; how many documents were deleted. What came into its months since goes too. Safe to repeat after any interruption.

    Raises:
        Unavailable: the store does not answer, or others go on writing into a month; what was deleted stays so.
    """
    return sum(_gone(engine, state, months, plan.tenant, month, told) for month in plan.months)


def _gone(engine: Engine, state: StateStore, months: Months, tenant: Tenant, old: OldMonth, told: Told | None) -> int:
    deleted = 0
    for _ in range(_ROUNDS):
        deleted += _emptied(engine, state, tenant, old, told)
        if months.drop(tenant, old.month):
            return deleted
    raise Unavailable(f"documents of {old.month} are being written all the time; stop their writer and apply again", dependency="engine")


def _emptied(engine: Engine, state: StateStore, tenant: Tenant, old: OldMonth, told: Told | None) -> int:
    filters = Filters(since=_begin(old.month), before=_begin(_following(old.month)))
    deleted = 0
    engine.refresh(tenant)
    while page := engine.documents(tenant, filters, first=_PER_CALL).documents:
        gone = delete_documents(engine, state, tenant, doc_ids=[document.doc_id for document in page]).deleted
        if not gone:
            raise Unavailable("the store still shows documents that it says are deleted; apply again", dependency="engine")
        deleted += gone
        if told is not None:
            told(old.month, deleted, old.documents)
    return deleted


def _begin(month: str) -> datetime:
    return datetime(int(month[:4]), int(month[5:]), 1, tzinfo=UTC)


def _following(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year + number // 12:04d}-{number % 12 + 1:02d}"


def _months_back(now: datetime, count: int) -> str:
    if not 1 <= count <= 1_200:
        raise InvalidRequest(f"must be 1 to 1,200, not {count}", field="keep_months")
    number = now.year * 12 + now.month - count
    return f"{number // 12:04d}-{number % 12 + 1:02d}"
