"""Counts of an ingest while it runs: every row ends up in exactly one of them."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from search.documents import WriteKind
from search.ingest.parsing import Notice
from search.ingest.records import Counted, with_rejections
from search.ingest.report import MAX_REJECTIONS, Rejection

MAX_NOTICES = 200
MAX_ATTRIBUTE_FIELDS = 1_000
IDS_NAMED = 10

RowKind = WriteKind | Literal["duplicate"]

_STAYED: tuple[tuple[RowKind, str], ...] = (
    ("stale", "an older version than the one that is stored, which stays"),
    ("deleted_earlier", "a document that was deleted earlier and stays so; a higher version brings it back"),
)


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """What became of one row."""

    row: int
    doc_id: str | None
    kind: RowKind
    field: str = ""
    reason: str = ""


@dataclass(slots=True)
class Noticed:
    """What was noticed in some rows: equal notices counted together, and the columns that became attributes."""

    counts: Counter[Notice] = field(default_factory=Counter)
    first_rows: dict[Notice, int] = field(default_factory=dict)
    extra: dict[str, None] = field(default_factory=dict)
    masked: Counter[str] = field(default_factory=Counter)

    def add(self, row: int, notices: Iterable[Notice], extra: Iterable[str]) -> None:
        """Take one row into account."""
        for notice in notices:
            self._count(notice, 1, row)
        self._keep(extra)

    def mask(self, row: int, masked: Mapping[str, int], dropped: Iterable[Notice]) -> None:
        """Take into account what was masked in one row, whatever becomes of it."""
        self.masked.update(masked)
        self.add(row, dropped, ())

    def merge(self, other: "Noticed") -> None:
        """Take other rows into account."""
        self.masked.update(other.masked)
        for notice, count in other.counts.items():
            self._count(notice, count, other.first_rows[notice])
        self._keep(other.extra)

    def lines(self) -> list[str]:
        """One line for each different notice."""
        return [f"{notice.field}: {notice.message} ({_rows(count, self.first_rows[notice])})" for notice, count in self.counts.items()]

    def _count(self, notice: Notice, count: int, row: int) -> None:
        if notice not in self.counts and len(self.counts) >= MAX_NOTICES:
            notice = Notice("warnings", f"more than {MAX_NOTICES} different ones; the rest is counted here")
        self.counts[notice] += count
        self.first_rows.setdefault(notice, row)

    def _keep(self, extra: Iterable[str]) -> None:
        for column in extra:
            if column in self.extra or len(self.extra) < MAX_ATTRIBUTE_FIELDS:
                self.extra[column] = None


class Tally:
    """Adds up outcomes; safe to read from another thread than the one that adds. ``on_rejection`` is told of every rejection, ``on_outcome``
    of what became of every row, both in row order within what is added at once."""

    def __init__(
        self, on_rejection: Callable[[Rejection], None] | None = None, on_outcome: Callable[[RowOutcome], None] | None = None
    ) -> None:
        self._lock = threading.Lock()
        self._on_rejection = on_rejection
        self._on_outcome = on_outcome
        self._counts: Counter[RowKind] = Counter()
        self._named: dict[RowKind, list[str]] = {"stale": [], "deleted_earlier": []}
        self._rejections: list[Rejection] = []
        self._counted: Counted = ()
        self._noticed = Noticed()

    def add(self, outcomes: Iterable[RowOutcome], noticed: Noticed) -> None:
        """Count rows, all of them or none."""
        outcomes = sorted(outcomes, key=lambda outcome: outcome.row)
        with self._lock:
            self._noticed.merge(noticed)
            for outcome in outcomes:
                self._counts[outcome.kind] += 1
                self._name(outcome)
            rejected = ((outcome.field, outcome.reason) for outcome in outcomes if outcome.kind == "rejected")
            self._counted = with_rejections(self._counted, rejected)
        for outcome in outcomes:
            if self._on_outcome is not None:
                self._on_outcome(outcome)
            if outcome.kind == "rejected" and self._on_rejection is not None:
                self._on_rejection(_rejection(outcome))

    @property
    def done(self) -> int:
        """Rows dealt with."""
        with self._lock:
            return self._counts.total()

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        """The first rejections."""
        return tuple(self._rejections)

    @property
    def counted_rejections(self) -> Counted:
        """All rejections by field and reason."""
        return self._counted

    @property
    def attribute_fields(self) -> tuple[str, ...]:
        """Columns that became attributes, in the order of their first row."""
        return tuple(self._noticed.extra)

    @property
    def masked(self) -> Mapping[str, int]:
        """How often each kind was masked."""
        return dict(sorted(self._noticed.masked.items()))

    def count(self, *kinds: RowKind) -> int:
        """How many rows ended as one of these."""
        with self._lock:
            return sum(self._counts[kind] for kind in kinds)

    def totals(self) -> dict[str, int]:
        """The counts of a report under their names."""
        with self._lock:
            counts = dict(self._counts)
        unchanged = sum(counts.get(kind, 0) for kind in ("unchanged", "stale", "deleted_earlier"))
        rest = {kind: counts.get(kind, 0) for kind in ("indexed", "updated", "duplicate", "rejected")}
        return {"received": sum(counts.values()), "unchanged": unchanged, **rest}

    def warnings(self) -> list[str]:
        """What was noticed, then what an older version or an earlier deletion kept from being stored."""
        return self._noticed.lines() + stayed_lines(self._counts, self._named)

    def _name(self, outcome: RowOutcome) -> None:
        if outcome.kind == "rejected" and len(self._rejections) < MAX_REJECTIONS:
            self._rejections.append(_rejection(outcome))
        named = self._named.get(outcome.kind)
        if named is not None and len(named) < IDS_NAMED and outcome.doc_id is not None:
            named.append(outcome.doc_id)


def stayed_lines(counts: Mapping[RowKind, int], named: Mapping[RowKind, Sequence[str]]) -> list[str]:
    """What an older version or an earlier deletion kept from being stored, with the first ids."""
    return [
        f"version: {_counted(counts[kind])} {meaning}: {_some(named.get(kind, ()), counts[kind])}"
        for kind, meaning in _STAYED
        if counts.get(kind)
    ]


def _rejection(outcome: RowOutcome) -> Rejection:
    return Rejection(outcome.row, outcome.doc_id, outcome.field, outcome.reason)


def _counted(count: int) -> str:
    return "1 row holds" if count == 1 else f"{count:,} rows hold"


def _rows(count: int, first: int) -> str:
    return f"row {first}" if count == 1 else f"{count:,} rows, the first is row {first}"


def _some(ids: Sequence[str], count: int) -> str:
    more = f" and {count - len(ids):,} more" if count > len(ids) else ""
    return ", ".join(ids) + more
