"""What a failed command says: one line on what went wrong, one on what to do next, and the exit code scripts rely on."""

import os
import secrets
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from api.cli.visible import one_line, visible
from runtime.errors import (
    Conflict,
    DeadlineExceeded,
    InvalidRequest,
    Misconfigured,
    NotFound,
    ServiceError,
    Unavailable,
)

DONE = 0
FAILED = 1
USAGE = 2
REFUSED = 3
REJECTED = 4
GATED = 5
INTERRUPTED = 130

_OPTIONS: Mapping[str, str] = {
    "theme_id": "theme",
    "theme_ids": "theme",
    "sources": "source",
    "account_id": "account",
    "account_ids": "account",
    "rating_min": "rating",
    "rating_max": "rating",
    "attributes": "attr",
    "before": "until",
    "occurred_from": "since",
    "occurred_to": "until",
    "match": "query",
    "engine_url": "engine",
    "file": "files",
    "set": "eval_set",
    "channel": "to",
    "target": "to",
    "receivers": "to",
    "window_s": "window",
    "cadence_s": "cadence",
    "cooldown_s": "cooldown",
    "consecutive_breaches": "breaches",
    "every_s": "every",
}
"""Fields that are spelt otherwise on the command line."""


_NEXT_STEPS: Mapping[str, str] = {
    "wisdom backup": "name another file, or remove that one",
    "wisdom eval run": "wisdom eval sets lists the sets, wisdom eval list the reports",
    "wisdom eval schedule": "wisdom eval sets lists the sets; wisdom eval save keeps one",
    "wisdom eval unschedule": "look for the name with wisdom eval schedules",
    "wisdom monitors save": "wisdom monitors show tells how it is now; --id with its id replaces it, another NAME saves a new one",
}
"""What to do where something was not found or is there already, and a list of ids does not help."""


@dataclass(frozen=True, slots=True)
class Typed:
    """What the user typed: the command, how it spells each parameter (``since`` as ``--since``, ``question`` as ``QUESTION``), and which options
    were given in place of a variable."""

    command: str
    spellings: Mapping[str, str]
    instead: Mapping[str, str] = field(default_factory=dict)

    def spelling(self, field: str) -> str:
        """The field as the user knows it; an unknown one stays as it is."""
        plain = field.rsplit(".", 1)[-1]
        return self.spellings.get(plain) or self.spellings.get(_OPTIONS.get(plain, ""), field)

    def named(self, message: str) -> str:
        """The message with options in place of the variables they were given for."""
        for variable, option in self.instead.items():
            message = message.replace(variable, option)
        return message


@dataclass(frozen=True, slots=True)
class Failure:
    """How a command ends that did not do what was asked."""

    message: str
    next_step: str
    exit_code: int


def failure_of(error: BaseException, typed: Typed) -> Failure:
    """What to say about this error. One that nobody planned is written to a file of its own and named by a correlation id."""
    if isinstance(error, InvalidRequest):
        return _unusable(error, typed)
    if isinstance(error, ServiceError):
        return Failure(typed.named(str(error)), _next_step(error, typed), _exit_code(error))
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return Failure(f"{place}{error.strerror.lower()}", "check the path, its rights and the free space, then run it again", FAILED)
    return _unplanned(error)


def say(failure: Failure, stream: TextIO) -> None:
    """Print a failure, as plain lines."""
    print(f"error: {one_line(failure.message)}\nnext step: {visible(failure.next_step)}", file=stream)


def reader_left() -> int:
    """Whoever read our output has seen enough (``| head``): nothing more is written, not even by the interpreter at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    return DONE


def _unusable(error: InvalidRequest, typed: Typed) -> Failure:
    named = f"{typed.spelling(error.field)}: {error.reason}" if error.field else error.reason
    return Failure(typed.named(named), f"correct it and run it again; {typed.command} --help lists what it accepts", USAGE)


def _next_step(error: ServiceError, typed: Typed) -> str:
    if isinstance(error, DeadlineExceeded):
        return "run it again; a larger WA_ENGINE_TIMEOUT_S or WA_ASK_TIMEOUT_S gives it more time"
    if isinstance(error, Unavailable):
        return "wisdom doctor shows whether the engine can be reached; then run it again"
    if isinstance(error, Misconfigured):
        return "change what the message names; wisdom doctor checks settings, model and engine"
    if typed.command in _NEXT_STEPS and isinstance(error, NotFound | Conflict):
        return _NEXT_STEPS[typed.command]
    if isinstance(error, NotFound):
        return (
            f"look for the id with {' '.join(typed.command.split()[:2])} list" if typed.command.count(" ") > 1 else "wisdom documents list"
        )
    if isinstance(error, Conflict):
        shown = f"{' '.join(typed.command.split()[:2])} show tells how it is now; then " if typed.command.count(" ") > 1 else ""
        return f"{shown}run it again"
    return f"{typed.command} --help"


def _exit_code(error: ServiceError) -> int:
    from api.errors import treatment_of

    return treatment_of(error).exit_code


def _unplanned(error: BaseException) -> Failure:
    identifier = secrets.token_hex(8)
    report = "".join(traceback.format_exception(error))
    kept = _kept(identifier, report)
    where = f"its details are in {kept}" if kept else "WA_LOG_LEVEL=DEBUG shows its details"
    if os.environ.get("WA_LOG_LEVEL", "").upper() == "DEBUG":
        where = f"{where}\n{report.rstrip()}"
    return Failure(
        f"something went wrong that should not have; correlation id {identifier}",
        f"run it again with WA_LOG_LEVEL=DEBUG to see the cause, and report it with that id; {where}",
        FAILED,
    )


def _kept(identifier: str, report: str) -> Path | None:
    import platformdirs

    folder = Path(platformdirs.user_log_dir("wisdomagent"))
    path = folder / f"error-{identifier}.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(report)
    except OSError:
        return None
    return path
