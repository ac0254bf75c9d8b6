"""The command ``wisdom``: assembles the commands and turns every ending into an exit code."""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from api.cli.commands import (
    aggregates,
    ask,
    backup,
    demo,
    digests,
    doctor,
    documents,
    evaluations,
    ingest,
    jobs,
    keys,
    migrate,
    monitors,
    reembed,
    retention,
    search,
    serve,
    stats,
    tenants,
    traces,
    version,
    worker,
)
from api.cli.failures import DONE, INTERRUPTED, Failure, Typed, failure_of, reader_left, say

_VALUE = re.compile(r"^Invalid value for '([^']+)': ")

app = typer.Typer(
    name="wisdom",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"wisdom {version.product_version()}\n")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")]


@app.callback()
def wisdom(show_version: Version = False) -> None:
    """Ask questions of many short texts; every claim cites the exact words that support it, or you get a refusal that says why.

    Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused (with
    --fail-on-refusal), 4 some rows rejected (with --strict), 5 a gate was not passed (eval run --gate), 130
    interrupted.
    """


for _module in (
    demo,
    ingest,
    jobs,
    ask,
    search,
    aggregates,
    documents,
    traces,
    monitors,
    digests,
    stats,
    evaluations,
    serve,
    keys,
    retention,
    tenants,
    migrate,
    reembed,
    backup,
    worker,
    doctor,
    version,
):
    _module.register(app)


def command_line() -> Any:
    """The command object of the library, for running and for documentation."""
    return typer.main.get_command(app)


def run() -> NoReturn:
    """The entry point: never a traceback, always an exit code of the contract."""
    _open_closed_streams()
    sys.exit(ending(sys.argv[1:]))


def ending(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        code = command_line().main(list(arguments), prog_name="wisdom", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except typer.TyperException as error:
        return _usage(error)
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        return reader_left()
    except Exception as error:  # noqa: BLE001 (the last door: output that cannot be written, or a defect of the parser)
        failure = failure_of(error, Typed("wisdom", {}))
        say(failure, sys.stderr)
        reader_left()
        return failure.exit_code


def _open_closed_streams() -> None:
    """A process may be started without standard streams (``>&-``); then nothing is read, and what is written goes nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 (open as long as the process)


def _usage(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "wisdom"
    message = error.format_message().rstrip(".").replace("Value error, ", "")
    if message:  # without one the library has shown the help instead
        say(Failure(_VALUE.sub(r"\1: ", message), f"{command} --help shows what it accepts", error.exit_code), sys.stderr)
    return error.exit_code


if __name__ == "__main__":
    run()
