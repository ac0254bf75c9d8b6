"""``wisdom stats``: what was counted from events."""

from typing import Annotated

import typer

from api.cli.declaring import command
from api.cli.options import Common
from api.cli.session import session


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "stats", example="wisdom stats\nwisdom stats --rebuild --json")
    def stats(
        common: Common,
        rebuild: Annotated[bool, typer.Option("--rebuild", help="Count again from the first event on; the result is the same.")] = False,
        questions: Annotated[int, typer.Option(metavar="N", min=0, max=100, help="Unanswered questions to show.")] = 20,
    ) -> None:
        """Documents by day, theme and source; questions answered and refused; what was asked and not answered; digests; evaluations."""
        from api import insight_rendering, operations
        from api.cli.views.insights import insights_view

        with session(common) as opened:
            found = operations.insights(opened.service, opened.tenant, rebuild=rebuild, questions=questions)
            if found.waiting:
                opened.screen.note(f"{found.waiting:,} events are not counted yet; is a worker running?")
            if found.failed:
                opened.screen.note(f"{found.failed:,} events could not be counted; see wisdom worker dead-letters list")
            opened.screen.show(lambda: insights_view(found), lambda: insight_rendering.insights(found))
