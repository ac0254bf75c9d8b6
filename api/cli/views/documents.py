"""Stored documents: a list of them, one in full, and what a deletion removed."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.text import Indented, day, minute
from api.cli.visible import one_line, visible
from search.documents import Document

TEXT_CHARS = 120


def documents_view(documents: Sequence[Document]) -> RenderableType:
    """What ``documents list`` prints."""
    return document_rows(documents) if documents else Text("no document matches")


def document_rows(documents: Sequence[Document]) -> Grid:
    """One row per document, its text cut."""
    columns = (
        Column("document", style="cyan", flexible=True),
        Column("date"),
        Column("source"),
        Column("theme", flexible=True),
        Column("account", flexible=True),
        Column("rating", right=True),
        Column("text", flexible=True),
    )
    return Grid(columns, tuple(map(_row, documents)), minimum=90, narrow=tuple(map(_lines, documents)))


def document_view(document: Document) -> RenderableType:
    """What ``documents show`` prints: every field, then the whole text as stored, control characters made visible."""
    width = max(len(name) for name, _ in _fields(document))
    lines = [
        Text.assemble((name.ljust(width), "dim"), "  ", (one_line(value), "cyan" if name == "document" else ""))
        for name, value in _fields(document)
        if value
    ]
    return Group(*lines, Text(""), Text(visible(document.text)))


def _lines(document: Document) -> RenderableType:
    """A document where a table does not fit."""
    doc_id, *about, text = _row(document)
    line = Text(doc_id, style="cyan").append("".join(f" · {one_line(each)}" for each in about if each), style="dim")
    return Group(line, Indented(Text(text)))


def _row(document: Document) -> tuple[str, ...]:
    return (
        one_line(document.doc_id, 60),
        day(document.occurred_at),
        _source(document),
        document.theme_id or "",
        document.account_id or "",
        "" if document.rating is None else f"{document.rating:g}",
        one_line(document.text, TEXT_CHARS),
    )


def _fields(document: Document) -> list[tuple[str, str]]:
    return [
        ("document", document.doc_id),
        ("version", str(document.version)),
        ("occurred", minute(document.occurred_at)),
        ("source", f"{_source(document)} (weight {document.source.weight:g})"),
        ("title", document.title or ""),
        ("theme", document.theme_id or ""),
        ("account", document.account_id or ""),
        ("rating", "" if document.rating is None else f"{document.rating:g}"),
        ("language", document.language or ""),
        ("url", document.url or ""),
        *((f"attribute {one_line(name, 60)}", str(value)) for name, value in document.attributes.items()),
    ]


def _source(document: Document) -> str:
    kind, name = document.source.kind, document.source.name
    return f"{kind}/{name}" if name and name != kind else kind
