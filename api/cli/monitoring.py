"""A monitor as its options say it, as the object that is saved."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.durations import seconds_of
from api.cli.options import FILTERS, Narrowing
from runtime.errors import InvalidRequest

CONDITION = "Condition (exactly one, with what belongs to it)"
TIMING = "When it looks, and who is told"
MOST_BYTES = 1_000_000
"""Longer than any monitor may be."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Options that say when a monitor fires."""

    count_at_least: Annotated[
        int | None, typer.Option(metavar="N", help="Matching documents: so many or more.", rich_help_panel=CONDITION)
    ] = None
    count_at_most: Annotated[
        int | None, typer.Option(metavar="N", help="Matching documents: so many or fewer.", rich_help_panel=CONDITION)
    ] = None
    share_at_least: Annotated[float | None, typer.Option(metavar="RATIO", help="Their share: 0.2 is 20 %.", rich_help_panel=CONDITION)] = (
        None
    )
    share_at_most: Annotated[float | None, typer.Option(metavar="RATIO", help="Their share: that or less.", rich_help_panel=CONDITION)] = (
        None
    )
    change_at_least: Annotated[
        float | None, typer.Option(metavar="RATIO", help="Against the time before: 0.5 is half as many again.", rich_help_panel=CONDITION)
    ] = None
    groundedness_below: Annotated[
        float | None, typer.Option(metavar="RATIO", help="Groundedness of the answer: less than that.", rich_help_panel=CONDITION)
    ] = None
    refused: Annotated[
        bool | None, typer.Option("--refused", help="The documents do not answer the question.", rich_help_panel=CONDITION)
    ] = None
    direction: Annotated[str | None, typer.Option(metavar="up|down", help="Of a change (default: up).", rich_help_panel=CONDITION)] = None
    of: Annotated[
        str | None, typer.Option(metavar="count|share", help="What a change compares (default: count).", rich_help_panel=CONDITION)
    ] = None
    baseline_windows: Annotated[
        int | None,
        typer.Option(metavar="N", help="Windows a change is measured against (default: 1, the previous).", rich_help_panel=CONDITION),
    ] = None
    min_documents: Annotated[
        int | None, typer.Option(metavar="N", help="Fewer let a share or change conclude nothing (default: 20).", rich_help_panel=CONDITION)
    ] = None


@dataclass(frozen=True, slots=True)
class Timing:
    """Options about windows and receivers."""

    window: Annotated[str | None, typer.Option(metavar="24h", help="Time one look covers (default: 24h).", rich_help_panel=TIMING)] = None
    cadence: Annotated[str | None, typer.Option(metavar="10m", help="How often it looks (default: 10m).", rich_help_panel=TIMING)] = None
    cooldown: Annotated[
        str | None, typer.Option(metavar="6h", help="No digest follows another within this time (default: 6h).", rich_help_panel=TIMING)
    ] = None
    breaches: Annotated[
        int | None, typer.Option(metavar="N", help="Breaches in a row until it fires (default: 1).", rich_help_panel=TIMING)
    ] = None
    severity: Annotated[
        str | None, typer.Option(metavar="info|warning|critical", help="How much it matters (default: warning).", rich_help_panel=TIMING)
    ] = None
    to: Annotated[
        list[str] | None,
        typer.Option(metavar="CHANNEL=TARGET", help="webhook=URL, slack=URL, email=ADDRESS or stream; repeat.", rich_help_panel=TIMING),
    ] = None


@dataclass(frozen=True, slots=True)
class Selecting:
    """Filters without time, which is the window's."""

    source: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this source; repeat.", rich_help_panel=FILTERS)] = None
    theme: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this theme; repeat.", rich_help_panel=FILTERS)] = None
    account: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this account; repeat.", rich_help_panel=FILTERS)] = None
    rating: Annotated[str | None, typer.Option(metavar="LOW..HIGH", help="Only these ratings: 1..2.", rich_help_panel=FILTERS)] = None
    attr: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only this attribute; repeat.", rich_help_panel=FILTERS)] = (
        None
    )


def described(
    name: str | None,
    identifier: str | None,
    question: str | None,
    match: str | None,
    conditions: Conditions,
    timing: Timing,
    selecting: Selecting,
) -> dict[str, Any]:
    """The monitor these options describe; what is not given is left out.

    Raises:
        InvalidRequest: one of them cannot be used, or there is a question and not exactly one condition.
    """
    from worker.monitors.condition_json import NAMES

    if question is not None and sum(getattr(conditions, each) is not None for each in NAMES) != 1:
        options = ", ".join(f"--{each.replace('_', '-')}" for each in NAMES)
        raise InvalidRequest(f"the condition must be exactly one of {options}")
    body = {
        "name": name,
        "id": identifier,
        "question": question,
        "match": match,
        "condition": {each: getattr(conditions, each) for each in Conditions.__slots__},
        "filters": _filters(selecting),
        "window_s": None if timing.window is None else seconds_of(timing.window, "window"),
        "cadence_s": None if timing.cadence is None else seconds_of(timing.cadence, "cadence"),
        "cooldown_s": None if timing.cooldown is None else seconds_of(timing.cooldown, "cooldown"),
        "consecutive_breaches": timing.breaches,
        "severity": timing.severity,
        "receivers": None if timing.to is None else [_receiver(each) for each in timing.to],
    }
    return {member: value for member, value in body.items() if value is not None}


def read_from(path: Path) -> Any:
    """The JSON object in a file; ``-`` is standard input.

    Raises:
        InvalidRequest: it is no JSON, or longer than any monitor.
    """
    raw = sys.stdin.buffer.read(MOST_BYTES + 1) if str(path) == "-" else _beginning(path)
    if len(raw) > MOST_BYTES:
        raise InvalidRequest(f"is longer than {MOST_BYTES:,} bytes", field="from_file")
    try:
        return json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"is not JSON: {error}", field="from_file") from error


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def _filters(selecting: Selecting) -> dict[str, Any] | None:
    from api.cli.narrowing import narrowed
    from search.listing import filters_as_json

    narrowing = Narrowing(
        source=selecting.source, theme=selecting.theme, account=selecting.account, rating=selecting.rating, attr=selecting.attr
    )
    return filters_as_json(narrowed(narrowing, "UTC")) or None


def _receiver(text: str) -> dict[str, str]:
    channel, _, target = text.partition("=")
    return {"channel": channel.strip(), "target": target.strip()}
