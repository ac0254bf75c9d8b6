"""``wisdom traces list|show``: how earlier answers came about."""

from typing import Annotated

import typer

from api.cli.declaring import command
from api.cli.options import Common
from api.cli.session import session


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="traces", help="List earlier runs of ask, or show one step by step.")
    _list(group)
    _show(group)


def _list(group: typer.Typer) -> None:
    @command(group, "traces list", example="wisdom traces list --refused")
    def list_traces(
        common: Common,
        refused: Annotated[bool | None, typer.Option("--refused/--answered", help="Only refused, or only answered runs.")] = None,
        first: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Runs on a page.")] = 50,
        after: Annotated[str | None, typer.Option(metavar="CURSOR", help="Go on after an earlier page.")] = None,
    ) -> None:
        """List runs of ask, newest first."""
        from api import operations, rendering
        from api.cli.views.runs import traces_view

        with session(common) as opened:
            found = operations.traces(opened.service, opened.tenant, refused=refused, first=first, after=after)
            opened.screen.show(lambda: traces_view(found.traces), lambda: rendering.trace_page(found))
            if found.cursor is not None:
                opened.screen.note(f"next page: --after {found.cursor}")


def _show(group: typer.Typer) -> None:
    @command(group, "traces show", example="wisdom traces show 01JABC…")
    def show_trace(run_id: Annotated[str, typer.Argument(metavar="RUN", help="The run id that ask printed.")], common: Common) -> None:
        """Show one run: claims or refusal, plan, every step with its gate, budget. Documents deleted since are marked."""
        from api import operations, rendering
        from api.cli.views.runs import trace_view

        with session(common) as opened:
            found = operations.trace(opened.service, opened.tenant, run_id)
            opened.screen.show(lambda: trace_view(found), lambda: rendering.trace(found))
