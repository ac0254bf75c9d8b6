"""What became of every row of an ingest."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.text import counted, heading
from api.cli.visible import one_line
from search.documents import Document
from search.ingest.report import IngestReport, Rejection

REJECTIONS_SHOWN = 20
_OUTCOMES = (
    ("indexed", "new documents"),
    ("updated", "newer versions"),
    ("unchanged", "already there"),
    ("duplicate", "twice in this batch"),
    ("rejected", "not taken, see below"),
)


def report_view(report: IngestReport) -> RenderableType:
    """Counts that add up, then rejections and warnings."""
    rows = [("received", f"{report.received:,}", "rows")]
    rows += [(name, f"{getattr(report, name):,}", meaning) for name, meaning in _OUTCOMES if getattr(report, name) or name == "indexed"]
    rows.append(("corpus", f"{report.corpus_size:,}", "documents of the tenant now"))
    parts: list[RenderableType] = [Grid((Column("rows"), Column("count", right=True), Column("meaning")), tuple(rows), minimum=40)]
    if report.rejections:
        parts += [heading("Rejected"), rejections_grid(report.rejections[:REJECTIONS_SHOWN])]
    return Group(*parts)


def report_notes(report: IngestReport) -> list[str]:
    """Lines beside the report."""
    notes = [f"{counted(report.received, 'row')} in {report.seconds:.1f} s, batch {report.batch_id}"]
    more = report.rejected - min(len(report.rejections), REJECTIONS_SHOWN)
    if more > 0:
        notes.append(f"{counted(more, 'further rejection')}; --rejects FILE writes all of them")
    if report.attribute_fields:
        kept = ", ".join(one_line(name, 40) for name in report.attribute_fields[:REJECTIONS_SHOWN])
        notes.append(f"columns kept as attributes: {kept}")
    return notes


def rejections_grid(rejections: Sequence[Rejection]) -> Grid:
    """One row per rejection."""
    files = any(rejection.file for rejection in rejections)
    columns = (
        *((Column("file", flexible=True),) if files else ()),
        Column("row", right=True),
        Column("document", flexible=True),
        Column("field"),
        Column("reason", flexible=True),
    )
    rows = tuple(
        (
            *((rejection.file or "",) if files else ()),
            str(rejection.row),
            one_line(rejection.doc_id or "", 60),
            rejection.field,
            one_line(rejection.reason, 200),
        )
        for rejection in rejections
    )
    return Grid(columns, rows, minimum=60)


def rejection_value(rejection: Rejection) -> dict[str, object]:
    """One line of ``--rejects FILE``."""
    return {
        "file": rejection.file,
        "row": rejection.row,
        "docId": rejection.doc_id,
        "field": rejection.field,
        "reason": rejection.reason,
    }


def mapping_view(mapping: Sequence[tuple[str, str]], documents: Sequence[Document]) -> RenderableType:
    """What a dry run prints."""
    parts: list[RenderableType] = []
    if mapping:
        parts.append(Grid((Column("field"), Column("column", flexible=True)), tuple(mapping), minimum=30))
    for document in documents:
        parts += [Text(""), heading(document.doc_id)]
    return Group(*parts)
