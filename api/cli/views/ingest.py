"""What became of every row of an ingest."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.documents import document_view
from api.cli.views.text import counted, heading
from api.cli.visible import one_line
from search.ingest.preview import Preview
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
    return [*notes, *masked_notes(report.masked)]


def masked_notes(masked: Mapping[str, int]) -> list[str]:
    """What was masked, in one line; no line where nothing was."""
    said = ", ".join(f"{count:,} × {kind}" for kind, count in masked.items())
    return [f"masked: {said}"] if said else []


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


def previews_view(previews: Sequence[tuple[str, Preview]]) -> RenderableType:
    """What a dry run prints: per input the mapping, the first documents as they would be stored, and every rejection."""
    parts: list[RenderableType] = []
    for name, found in previews:
        parts.append(heading(one_line(name)))
        if found.mapping:
            parts.append(Grid((Column("field"), Column("column", flexible=True)), tuple(found.mapping.items()), minimum=30))
        for number, document in enumerate(found.documents, start=1):
            parts += [heading(f"Document {number}"), document_view(document), Text("")]
        if found.rejections:
            parts += [heading("Rejected"), rejections_grid(found.rejections)]
    return Group(*parts)


def preview_notes(previews: Sequence[tuple[str, Preview]]) -> list[str]:
    """Lines beside a dry run."""
    notes = []
    for name, found in previews:
        notes.append(f"{one_line(name)}: {counted(found.received, 'row')}, {found.rejected:,} would be rejected; nothing was stored")
        notes += [f"warning: {warning}" for warning in found.warnings]
        if found.rejected > len(found.rejections):
            notes.append(f"{counted(found.rejected - len(found.rejections), 'further rejection')}; --rejects FILE writes all of them")
        if found.attribute_fields:
            notes.append(f"columns kept as attributes: {', '.join(found.attribute_fields[:REJECTIONS_SHOWN])}")
        notes += masked_notes(found.masked)
    return notes
