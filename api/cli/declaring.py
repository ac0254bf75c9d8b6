"""How a function becomes a command: option groups are spread into single options, and every error becomes two lines and an exit code."""

import functools
import inspect
import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import fields, is_dataclass, replace
from typing import Annotated, Any, get_args, get_origin

import typer

from api.cli.failures import INTERRUPTED, Typed, failure_of, reader_left, say

Command = Callable[..., int | None]
"""What a command does; it returns an exit code, None for 0."""


invoked: ContextVar[str] = ContextVar("invoked", default="wisdom")
"""The command that runs, as it is typed."""

_VARIABLES = {"engine": "WA_ENGINE_URL", "tenant": "WA_DEFAULT_TENANT", "host": "WA_HOST", "port": "WA_PORT"}
"""Options that stand for a variable; an error names whichever the user gave."""


def command(
    app: typer.Typer,
    path: str,
    *,
    example: str,
    hidden: bool = False,
    help: str | None = None,  # noqa: A002 (the library's word)
) -> Callable[[Command], Command]:
    """Register a function as ``wisdom PATH``. ``example`` is shown below its help, one command a line."""

    def register(function: Command) -> Command:
        register_as = app.command(path.rsplit(" ", 1)[-1], help=help, epilog=_epilog(example), hidden=hidden)
        register_as(_guarded(function, f"wisdom {path}"))
        return function

    return register


def group_command(group: typer.Typer, path: str, *, example: str) -> Callable[[Command], Command]:
    """Register a function as ``wisdom PATH`` of a group that also has commands of its own. It is called before those, too: its ``context`` tells."""

    def register(function: Command) -> Command:
        group.callback(invoke_without_command=True, epilog=_epilog(example))(_guarded(function, f"wisdom {path}"))
        return function

    return register


def _epilog(example: str) -> str:
    return "\n\n".join(["Examples:" if "\n" in example else "Example:", *example.splitlines()])


def _guarded(function: Command, invocation: str) -> Callable[..., None]:
    groups, single = _taken_apart(function)
    typed = Typed(invocation, _spellings(single))

    def run(**values: Any) -> None:
        invoked.set(invocation)
        own = {name: value for name, value in values.items() if name not in _members(groups)}
        gathered = {name: group(**{f.name: values[f.name] for f in fields(group)}) for name, group in groups.items()}
        instead = {variable: typed.spellings[name] for name, variable in _VARIABLES.items() if values.get(name) is not None}
        code = _outcome(functools.partial(function, **own, **gathered), replace(typed, instead=instead))
        if code:
            raise typer.Exit(code)

    run.__doc__ = function.__doc__
    run.__name__ = function.__name__
    run.__signature__ = inspect.Signature(single)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in single}
    return run


def _outcome(call: Callable[[], int | None], typed: Typed) -> int:
    try:
        return call() or 0
    except (typer.Exit, typer.Abort, typer.TyperException):
        raise
    except BrokenPipeError:
        return reader_left()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (a door: whatever happened is said in two lines)
        failure = failure_of(error, typed)
        say(failure, sys.stderr)
        return failure.exit_code


def _taken_apart(function: Command) -> tuple[dict[str, Any], list[inspect.Parameter]]:
    """The groups by parameter name, and every single parameter: the command's own first, then those of each group."""
    groups: dict[str, Any] = {}
    own: list[inspect.Parameter] = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            groups[parameter.name] = parameter.annotation
        else:
            own.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    shared = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
        for group in groups.values()
        for f in fields(group)
    ]
    return groups, own + shared


def _members(groups: dict[str, Any]) -> set[str]:
    return {f.name for group in groups.values() for f in fields(group)}


def _spellings(parameters: list[inspect.Parameter]) -> dict[str, str]:
    """By parameter name, and by the option's own name where that differs."""
    spelt = {parameter.name: _spelling(parameter) for parameter in parameters}
    return spelt | {option.removeprefix("--").replace("-", "_"): option for option in spelt.values() if option.startswith("--")}


def _spelling(parameter: inspect.Parameter) -> str:
    """``--time-zone`` or ``QUESTION``."""
    declared = get_args(parameter.annotation)[1:] if get_origin(parameter.annotation) is Annotated else ()
    for part in declared:
        if isinstance(part, typer.models.ArgumentInfo):
            return str(part.metavar or parameter.name.upper()).removesuffix("...")
        if isinstance(part, typer.models.OptionInfo):
            names = [name for name in (part.default, *(part.param_decls or ())) if isinstance(name, str) and name.startswith("--")]
            return names[0].split("/")[0] if names else "--" + parameter.name.replace("_", "-")
    return parameter.name
