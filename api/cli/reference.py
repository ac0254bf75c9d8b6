"""``docs/cli.md``, made from the commands themselves; a test compares."""

import inspect
from collections.abc import Iterator
from typing import Any

from api.cli.main import command_line
from api.cli.options import COMMON, FILTERS

_PANELS = {
    FILTERS: "Options of every command that looks at documents.",
    COMMON: "Options of every command that opens a store.",
}

_HEADER = """# Command line

`wisdom COMMAND --help` says the same on a terminal. Data goes to standard output, everything else to standard error; `--json` prints one
JSON value of the shapes that every door uses. In a pipe, tables are tab-separated and without colours.

Dates of `--since` and `--until` are local days of `--time-zone`, both inclusive; an instant such as `2026-03-01T09:30:00+01:00` is taken as
it stands. Values of one repeated filter are alternatives; different filters must all hold.

| exit code | means |
|---|---|
| 0 | done; a refusal is done, too |
| 1 | failed: the message says what to do next |
| 2 | wrong usage: an option, an argument or an input that cannot be used |
| 3 | the question was refused, with `--fail-on-refusal` |
| 4 | some rows were rejected, with `--strict` |
| 5 | a gate was not passed, with `eval run --gate` |
| 130 | interrupted |

Unplanned errors print a correlation id and the file that has the traceback; `WA_LOG_LEVEL=DEBUG` prints it.
"""


def reference() -> str:
    """The page, as Markdown."""
    commands = list(_commands(command_line(), "wisdom"))
    return "\n".join([_HEADER, *_shared(commands), *(line for path, command in commands for line in _section(command, path))])


def _commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            if command.invoke_without_command:
                yield f"{path} {name}", command
            yield from _commands(command, f"{path} {name}")
        elif not command.hidden:
            yield f"{path} {name}", command


def _shared(commands: list[tuple[str, Any]]) -> Iterator[str]:
    """The options that several commands share, once each."""
    params = [param for _, command in commands for param in command.params]
    for panel, about in _PANELS.items():
        seen = {param.name: param for param in params if _panel(param) == panel}
        yield f"## {panel}\n\n{about}\n\n| option | meaning |\n|---|---|"
        yield from (f"| {_names(param)} | {_meaning(param)} |" for param in seen.values())
        yield ""


def _section(command: Any, path: str) -> Iterator[str]:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    own = [param for param in command.params if _panel(param) not in _PANELS]
    shared = [panel for panel in _PANELS if any(_panel(param) == panel for param in command.params)]
    yield f"## {path}\n\n{inspect.cleandoc(command.help or '')}\n"
    yield "```\n" + " ".join([path, "[OPTIONS]", *(_argument(param) for param in arguments)]) + "\n```\n"
    if own:
        yield "| option | meaning |\n|---|---|"
        yield from (f"| {_spelling(param)} | {_meaning(param)} |" for param in own)
        yield ""
    if shared:
        yield f"Also: {' and '.join(f'[{panel.lower()}](#{_anchor(panel)})' for panel in shared)}.\n"
    examples = [line for line in (command.epilog or "").split("\n\n")[1:] if line]
    yield "```\n" + "\n".join(examples) + "\n```\n"


def _panel(param: Any) -> str:
    return getattr(param, "rich_help_panel", None) or ""


def _anchor(panel: str) -> str:
    return panel.lower().replace(" ", "-")


def _spelling(param: Any) -> str:
    return _names(param) if param.param_type_name == "option" else f"`{_argument(param)}`"


def _argument(param: Any) -> str:
    name = str(param.metavar or param.name.upper())
    return name if param.required or name.startswith("[") else f"[{name}]"


def _names(param: Any) -> str:
    names = " / ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    return f"{names} `{param.metavar}`".replace("|", "\\|") if param.metavar else names


def _meaning(param: Any) -> str:
    default = param.default
    shown = isinstance(default, str | int) and not isinstance(default, bool)
    value = getattr(default, "value", default)
    return str(param.help or "").replace("|", "\\|") + (f" Default: `{value}`." if shown else "")
