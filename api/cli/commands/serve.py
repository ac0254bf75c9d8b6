"""``wisdom serve`` and ``wisdom mcp``: the doors that stay open."""

from typing import Annotated

import typer

from api.cli.declaring import command
from api.cli.options import Common


def register(app: typer.Typer) -> None:
    """Add both commands."""
    _serve(app)
    _mcp(app)


def _serve(app: typer.Typer) -> None:
    @command(app, "serve", example="wisdom serve --port 8080")
    def serve(
        common: Common,
        host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address to bind to (default: WA_HOST).")] = None,
        port: Annotated[
            int | None, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 takes a free one (default: WA_PORT).")
        ] = None,
    ) -> None:
        """Serve GraphQL, MCP, REST and the console page until interrupted.

        In development mode, which is all there is without authentication, it binds to this machine only.
        """


def _mcp(app: typer.Typer) -> None: ...
