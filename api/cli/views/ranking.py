"""Ranked passages with every score, and what each feature added."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.text import Indented, counted, day, degradation, precise
from api.cli.visible import one_line
from search.ranking import Hit, LegName, Retrieval

SNIPPET_CHARS = 160


def retrieval_view(retrieval: Retrieval) -> RenderableType:
    """What ``search`` prints."""
    parts: list[RenderableType] = [ranking(retrieval.hits)] if retrieval.hits else [Text("no document matches")]
    if retrieval.degraded:
        parts.append(degradation(retrieval.degraded))
    return Group(*parts)


def searched(retrieval: Retrieval) -> str:
    """The line beside the ranking: how much was looked at, and how."""
    return f"{counted(len(retrieval.hits), 'hit')} of {counted(retrieval.scope, 'document')} searched, fusion {retrieval.fusion}"


def ranking(hits: Sequence[Hit]) -> Grid:
    """One row per hit: final score, both legs with their ranks, the fused score, and the passage."""
    columns = (
        Column("#", right=True),
        Column("document", style="cyan", flexible=True),
        Column("date"),
        Column("score", right=True),
        Column("lexical", right=True),
        Column("vector", right=True),
        Column("fused", right=True),
        Column("same", right=True),
        Column("passage", flexible=True),
    )
    return Grid(columns, tuple(_row(hit) for hit in hits), minimum=100, narrow=tuple(_lines(hit) for hit in hits))


def contributions(hits: Sequence[Hit]) -> Grid:
    """One row per hit: what each named feature added to its score."""
    names = tuple(dict.fromkeys(feature.name for hit in hits for feature in hit.features))
    columns = (
        Column("#", right=True),
        Column("document", style="cyan", flexible=True),
        *(Column(one_line(name, 24), right=True) for name in names),
        Column("sum", right=True),
    )
    rows = []
    for hit in hits:
        added = {feature.name: feature.contribution for feature in hit.features}
        rows.append((str(hit.rank), _document(hit), *(precise(added.get(name)) for name in names), precise(hit.score)))
    return Grid(columns, tuple(rows))


def _lines(hit: Hit) -> RenderableType:
    """A hit where a table does not fit."""
    about = Text.assemble((_document(hit), "cyan"), f" · {day(hit.candidate.occurred_at)} · score {precise(hit.score)}")
    legs = f"lexical {_leg(hit, 'lexical')} · vector {_leg(hit, 'vector')} · fused {precise(hit.fused.score)}"
    same = f" · {counted(hit.group_size, 'document')} say the same" if hit.group_size > 1 else ""
    return Group(
        Indented(about, first=f"{hit.rank}."),
        Indented(Text(legs + same, style="dim")),
        Indented(Text(one_line(hit.candidate.passage.text, SNIPPET_CHARS))),
        Text(""),
    )


def _row(hit: Hit) -> tuple[str, ...]:
    return (
        str(hit.rank),
        _document(hit),
        day(hit.candidate.occurred_at),
        precise(hit.score),
        _leg(hit, "lexical"),
        _leg(hit, "vector"),
        precise(hit.fused.score),
        str(hit.group_size),
        one_line(hit.candidate.passage.text, SNIPPET_CHARS),
    )


def _document(hit: Hit) -> str:
    return one_line(hit.candidate.passage.doc_id, 60)


def _leg(hit: Hit, leg: LegName) -> str:
    fused = hit.fused
    score, rank = (fused.lexical_score, fused.lexical_rank) if leg == "lexical" else (fused.vector_score, fused.vector_rank)
    return "–" if score is None else f"{score:.3f} (#{rank})"
