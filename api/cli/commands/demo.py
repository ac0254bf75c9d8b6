"""``wisdom demo``: the whole product on a sample corpus, in one command."""

from pathlib import Path
from typing import Annotated

import typer

from api.cli.declaring import command
from api.cli.options import Common


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "demo", example="wisdom demo\nwisdom demo --keep ./demo.db")
    def demo(
        tenant: Annotated[
            str | None, typer.Option(metavar="NAME", help="Whose documents they become (default: WA_DEFAULT_TENANT).")
        ] = None,
        keep: Annotated[Path | None, typer.Option(metavar="FILE", help="Store to use (default: demo.db in the user data folder).")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")] = False,
        quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no notes on standard error.")] = False,
    ) -> None:
        """Ingest a sample of real customer messages and show a cited answer, a refusal, a count and a monitor that fires.

        Needs no server, key or network. The store it fills is kept, so that the commands it prints at its end can be tried; delete the file to
        be rid of it.
        """
        from api.cli.demonstration import demonstrate

        demonstrate(Common(tenant=tenant, as_json=as_json, quiet=quiet), keep)
