"""Options that several commands share, as groups: a command takes the group as one parameter, the user sees its options one by one."""

from dataclasses import dataclass
from typing import Annotated

import typer

FILTERS = "Filters"
COMMON = "Common options"


@dataclass(frozen=True, slots=True)
class Common:
    """Options of every command that touches a store."""

    tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose documents (default: WA_DEFAULT_TENANT).", rich_help_panel=COMMON)
    ] = None
    engine: Annotated[
        str | None,
        typer.Option(metavar="URL", help="sqlite:///FILE or http(s)://host:9200 (default: WA_ENGINE_URL).", rich_help_panel=COMMON),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value instead of tables.", rich_help_panel=COMMON)] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no notes on standard error.", rich_help_panel=COMMON)] = False


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Options that select documents; see :func:`api.cli.narrowing.filters_of`."""

    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="First day, local to --time-zone: 2026-03-01.", rich_help_panel=FILTERS)
    ] = None
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Last day, inclusive: 2026-03-31.", rich_help_panel=FILTERS)] = None
    source: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this source; repeat for several.", rich_help_panel=FILTERS)
    ] = None
    theme: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this theme; repeat for several.", rich_help_panel=FILTERS)] = (
        None
    )
    account: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this account; repeat for several.", rich_help_panel=FILTERS)
    ] = None
    rating: Annotated[
        str | None, typer.Option(metavar="LOW..HIGH", help="Only these ratings: 1..2, 4.. or 3.", rich_help_panel=FILTERS)
    ] = None
    attr: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only this attribute; repeat for several.", rich_help_panel=FILTERS)
    ] = None
    time_zone: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Zone of local days: Europe/Paris (default: WA_TIME_ZONE).", rich_help_panel=FILTERS)
    ] = None
