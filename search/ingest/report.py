"""What became of every row: a report that adds up, or does not exist."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

MAX_REJECTIONS = 1_000
"""Rejections a report names; all of them are counted."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A row that was not taken. ``row`` counts data rows of its input from 1; ``field`` is ``row`` when the row as a whole cannot be read."""

    row: int
    doc_id: str | None
    field: str
    reason: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an ingest stands: rows read, rows dealt with, rows a second, and the seconds left (None while unknown)."""

    received: int
    done: int
    rate: float
    remaining: float | None


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The result of one ingest. ``received`` counts the rows that were dealt with, ``corpus_size`` the tenant's documents afterwards.

    ``unchanged`` includes older versions and documents deleted earlier, which a warning names. ``rejections`` holds the first
    1,000. ``masked`` says how often what was masked, by kind. ``attribute_fields`` are the columns that are no field of a document and were kept as attributes.

    Raises:
        ValueError: the counts do not add up, which is a defect of this program.
    """

    batch_id: str
    received: int
    indexed: int
    unchanged: int
    updated: int
    duplicate: int
    rejected: int
    corpus_size: int
    seconds: float
    rejections: tuple[Rejection, ...] = ()
    warnings: tuple[str, ...] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)
    attribute_fields: tuple[str, ...] = ()
    interrupted: bool = False
    masked: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a report that does not reconcile."""
        if self.received != self.indexed + self.unchanged + self.updated + self.duplicate + self.rejected:
            raise ValueError(f"the report does not add up: {self}")
        if len(self.rejections) != min(self.rejected, MAX_REJECTIONS):
            raise ValueError(f"{self.rejected} rows were rejected and {len(self.rejections)} are named")

    @property
    def saved(self) -> int:
        """Rows that changed the store."""
        return self.indexed + self.updated


def together(reports: Sequence[tuple[str, IngestReport]]) -> IngestReport:
    """One report for several inputs of one batch, each with the name of its file, which its rejections and warnings then carry.

    Raises:
        ValueError: no reports.
    """
    if not reports:
        raise ValueError("no reports to put together")
    only = [report for _, report in reports]
    rejections = [replace(rejection, file=name) for name, report in reports for rejection in report.rejections]
    return IngestReport(
        batch_id=only[0].batch_id,
        received=sum(report.received for report in only),
        indexed=sum(report.indexed for report in only),
        unchanged=sum(report.unchanged for report in only),
        updated=sum(report.updated for report in only),
        duplicate=sum(report.duplicate for report in only),
        rejected=sum(report.rejected for report in only),
        corpus_size=only[-1].corpus_size,
        seconds=sum(report.seconds for report in only),
        rejections=tuple(rejections[:MAX_REJECTIONS]),
        warnings=tuple(f"{name}: {warning}" for name, report in reports for warning in report.warnings),
        mapping={key: column for report in only for key, column in report.mapping.items()},
        attribute_fields=tuple(dict.fromkeys(column for report in only for column in report.attribute_fields)),
        interrupted=any(report.interrupted for report in only),
        masked=dict(sum((Counter(report.masked) for report in only), Counter[str]())),
    )
