"""Pieces that several views are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

from api.cli.visible import one_line, visible

CONTEXT_CHARS = 80
"""How much of a document is shown on either side of a cited span."""


@dataclass(frozen=True, slots=True)
class Indented:
    """A paragraph whose lines all begin ``by`` cells in; ``first`` stands before the first of them."""

    text: Text
    by: int = 4
    first: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Wrapped to the width that is left."""
        lines = self.text.wrap(console, max(20, options.max_width - self.by))
        for number, line in enumerate(lines):
            lead = self.first.ljust(self.by) if number == 0 else " " * self.by
            line.rstrip()
            yield Text.assemble((lead, "bold"), line)


@dataclass(frozen=True, slots=True)
class ToPaste:
    """A line that is never wrapped or cut, so that a command in it can be copied."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """As it stands."""
        yield Segment(visible(self.text), console.get_style("dim"))
        yield Segment.line()


def heading(text: str) -> Text:
    """A line that begins a section."""
    return Text(text, style="bold")


def day(moment: datetime) -> str:
    """The day in UTC, as everywhere in stored documents."""
    return moment.astimezone(UTC).date().isoformat()


def minute(moment: datetime) -> str:
    """Day and time in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%MZ")


def ratio(value: float | None) -> str:
    """Two decimals, or a dash."""
    return "–" if value is None else f"{value:.2f}"


def precise(value: float | None) -> str:
    """Four decimals, or a dash; for scores that differ little."""
    return "–" if value is None else f"{value:.4f}"


def share(part: float) -> str:
    """A ratio as a percentage."""
    return f"{part:.1%}"


def counted(number: int, thing: str) -> str:
    """``1 document``, ``1,204 documents``."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def some_ids(ids: Sequence[str], total: int | None = None, limit: int = 5) -> str:
    """The first few ids, and how many more there are."""
    more = (len(ids) if total is None else total) - len(ids[:limit])
    listed = ", ".join(one_line(each, 60) for each in ids[:limit])
    return f"{listed} and {more:,} more" if more > 0 else listed


def span_in_context(text: str, start: int, end: int) -> Text:
    """The cited words, underlined, with what stands around them; ellipses where the text goes on."""
    before, after = _before(text, start), _after(text, end)
    shown = Text("“", style="dim")
    shown.append(before, style="dim")
    shown.append(one_line(text[start:end]), style="bold underline")
    shown.append(after, style="dim")
    return shown.append("”", style="dim")


def degradation(parts: Mapping[str, str]) -> Text:
    """What was lost on the way, and what that changed."""
    lines = [f"without {part}: {one_line(effect)}" for part, effect in sorted(parts.items())]
    return Text("\n".join(lines), style="yellow")


def _before(text: str, start: int) -> str:
    begin = max(0, start - CONTEXT_CHARS)
    piece = text[begin:start]
    if begin and " " in piece:
        piece = piece[piece.index(" ") + 1 :]
    lead = one_line(piece)
    return ("… " if begin else "") + lead + (" " if piece[-1:].isspace() and lead else "")


def _after(text: str, end: int) -> str:
    piece = text[end : end + CONTEXT_CHARS]
    cut = end + CONTEXT_CHARS < len(text)
    if cut and " " in piece:
        piece = piece[: piece.rindex(" ")]
    tail = one_line(piece)
    return (" " if piece[:1].isspace() and tail else "") + tail + (" …" if cut else "")
