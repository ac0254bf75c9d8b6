"""A dry run: what an ingest would make of its rows, with nothing stored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from runtime.errors import InvalidRequest
from search.documents import Document
from search.ingest.parsing import Defaults, Notice, claimed_doc_id, parse_document
from search.ingest.report import Rejection
from search.ingest.rows import Row, RowSource
from search.ingest.tally import Noticed, RowOutcome, Tally

DOCUMENTS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Preview:
    """The mapping, the first documents as they would be stored, and every rejection (the first 1,000 by name)."""

    received: int
    rejected: int
    documents: tuple[Document, ...]
    rejections: tuple[Rejection, ...]
    warnings: tuple[str, ...]
    mapping: Mapping[str, str]
    attribute_fields: tuple[str, ...]
    masked: Mapping[str, int] = field(default_factory=dict)


def preview(source: RowSource, defaults: Defaults, on_rejection: Callable[[Rejection], None] | None = None) -> Preview:
    """Validate all rows and store none. Ids that are taken already are not looked up."""
    defaults = replace(defaults, order=source.order)
    tally = Tally(on_rejection)
    documents: list[Document] = []
    for row in source:
        outcome, noticed, document = _checked(row, defaults)
        tally.add([outcome], noticed)
        if document is not None and len(documents) < DOCUMENTS_SHOWN:
            documents.append(document)
    return Preview(
        received=tally.done,
        rejected=tally.count("rejected"),
        documents=tuple(documents),
        rejections=tally.rejections,
        warnings=(*source.warnings, *tally.warnings()),
        mapping=dict(source.mapping),
        attribute_fields=tally.attribute_fields,
        masked=tally.masked,
    )


def _checked(row: Row, defaults: Defaults) -> tuple[RowOutcome, Noticed, Document | None]:
    noticed = Noticed()
    masked = defaults.masking.row(row)
    row = masked.row
    noticed.mask(row.number, masked.counts, (Notice(*dropped) for dropped in masked.dropped))
    if row.problem is not None:
        return RowOutcome(row.number, None, "rejected", row.problem.field, row.problem.reason), noticed, None
    try:
        parsed = parse_document(row.values, defaults)
    except InvalidRequest as error:
        return RowOutcome(row.number, claimed_doc_id(row.values), "rejected", error.field, error.reason), noticed, None
    noticed.add(row.number, parsed.warnings, parsed.extra)
    return RowOutcome(row.number, parsed.document.doc_id, "indexed"), noticed, parsed.document
