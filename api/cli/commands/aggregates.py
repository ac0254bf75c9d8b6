"""``wisdom themes``, ``wisdom trend``, ``wisdom account``: exact counts, each with the documents behind it."""

from enum import StrEnum
from typing import Annotated

import typer

from api.cli.declaring import command
from api.cli.options import Common, Narrowing
from api.cli.session import session

Words = Annotated[str | None, typer.Argument(metavar="QUERY", help="Only documents that hold all these words.")]


class Interval(StrEnum):
    """Length of a bucket of a trend."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


def register(app: typer.Typer) -> None:
    """Add the three commands."""
    _themes(app)
    _trend(app)
    _account(app)


def _themes(app: typer.Typer) -> None:
    @command(app, "themes", example="wisdom themes\nwisdom themes refund --since 2026-01-01 --until 2026-03-31 --limit 5")
    def themes(
        narrowing: Narrowing,
        common: Common,
        query: Words = None,
        limit: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Themes to show, the most frequent first.")] = 20,
    ) -> None:
        """Count matching documents by theme: a bar, the share of all matching documents and document ids per theme."""
        from api import operations, rendering
        from api.cli.narrowing import narrowed
        from api.cli.views.aggregates import themes_counted, themes_view

        with session(common) as opened:
            service = opened.service
            found = operations.by_theme(service, opened.tenant, query, narrowed(narrowing, service.settings.time_zone), limit)
            opened.screen.note(themes_counted(found))
            opened.screen.show(lambda: themes_view(found), lambda: rendering.theme_aggregate(found))


def _trend(app: typer.Typer) -> None:
    @command(app, "trend", example="wisdom trend refund --interval week --time-zone Europe/Paris")
    def trend(
        narrowing: Narrowing,
        common: Common,
        query: Words = None,
        interval: Annotated[
            Interval, typer.Option(metavar="day|week|month", help="Length of a bucket; weeks begin on Monday.")
        ] = Interval.WEEK,
    ) -> None:
        """Count matching documents per local day, week or month; empty intervals are shown too."""
        from api import operations, rendering
        from api.cli.narrowing import narrowed, zone_of
        from api.cli.views.aggregates import trend_counted, trend_view

        with session(common) as opened:
            service, zone = opened.service, opened.service.settings.time_zone
            found = operations.trend(service, opened.tenant, query, narrowed(narrowing, zone), interval.value, zone_of(narrowing, zone))
            opened.screen.note(trend_counted(found))
            opened.screen.show(lambda: trend_view(found), lambda: rendering.trend(found))


def _account(app: typer.Typer) -> None:
    @command(app, "account", example="wisdom account a-77 --first 5")
    def account(
        account_id: Annotated[str, typer.Argument(metavar="ID", help="An account id.")],
        common: Common,
        first: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Newest documents to show.")] = 20,
    ) -> None:
        """One account at a glance: its themes, sources, ratings and newest documents."""
        from api import operations, rendering
        from api.cli.views.aggregates import account_view
        from runtime.errors import NotFound

        with session(common) as opened:
            found = operations.account_context(opened.service, opened.tenant, account_id, first)
            if found is None:
                raise NotFound(f"no document of account {account_id!r}")
            opened.screen.show(lambda: account_view(found), lambda: rendering.account_context(found))
