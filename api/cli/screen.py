"""Where output goes: data to standard output, everything else to standard error, and neither trusts what it prints."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from api.cli.visible import json_safe, visible

_UNWRAPPED = 100_000
"""Width of a pipe: whoever reads it wraps for themselves."""


class CarefulConsole(Console):
    """A console that shows control characters instead of sending them, whatever view forgot to, and whose reader may leave (``| head``)."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """See :class:`rich.console.Console`."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """The caller hears of it as ``BrokenPipeError``."""
        raise  # noqa: PLE0704 (rich calls this inside its own ``except BrokenPipeError``)


@dataclass(frozen=True, slots=True)
class Screen:
    """Both streams, and how the user wants them."""

    out: Console
    err: Console
    as_json: bool = False
    quiet: bool = False

    def show(self, picture: Callable[[], RenderableType], value: Callable[[], object]) -> None:
        """Print the result: ``value`` as one JSON value with ``--json``, the picture otherwise. Only the wanted one is made."""
        if self.as_json:
            self.out.file.write(self._encoded(value(), indent=2 if self.out.is_terminal else None) + "\n")
            self.out.file.flush()
        else:
            self.out.print(picture(), crop=False)

    def line(self, value: object) -> None:
        """Print one JSON value on a line of its own."""
        self.out.file.write(self._encoded(value, indent=None) + "\n")

    def say(self, text: str) -> None:
        """Text of ours on standard output, never wrapped, so that it can be copied."""
        self.out.print(Text(text), soft_wrap=True)

    def note(self, text: str) -> None:
        """One line beside the data; not with ``--quiet``."""
        if not self.quiet:
            self.err.print(Text(visible(text)), soft_wrap=True)

    def warn(self, text: str) -> None:
        """One line beside the data that ``--quiet`` does not hide."""
        self.err.print(Text(f"warning: {visible(text)}", style="yellow"), soft_wrap=True)

    def _encoded(self, value: object, *, indent: int | None) -> str:
        unicode = (self.out.encoding or "utf-8").lower().startswith("utf")
        return json_safe(json.dumps(value, ensure_ascii=not unicode, allow_nan=False, indent=indent))


def console(stream: IO[str]) -> Console:
    """A console on a stream, without markup, guesses of syntax or emoji codes; unwrapped and uncoloured when it is no terminal."""
    width = None if stream.isatty() else _UNWRAPPED
    return CarefulConsole(file=stream, markup=False, highlight=False, emoji=False, width=width)


def screen(*, as_json: bool = False, quiet: bool = False) -> Screen:
    """The screen of this process."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    return Screen(console(sys.stdout), console(sys.stderr), as_json, quiet)
