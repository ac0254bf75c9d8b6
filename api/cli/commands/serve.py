"""``wisdom serve`` and ``wisdom mcp``: the doors that stay open."""

import socket
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.declaring import command
from api.cli.options import Common
from api.cli.session import server_log_level, session, settings_of
from runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from runtime.settings import Settings


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

        In development mode (WA_AUTH=none) the tenant is whatever a request names, so it binds to this machine only.
        """
        settings = settings_of(common, **_given(host=host, port=port), **server_log_level())
        _check_free(settings)

        from api.app import serve as serve_until_stopped
        from api.cli.screen import screen
        from api.tenancy import check_binding, check_credentials

        check_binding(settings)
        check_credentials(settings)
        for line in _announcement(settings):
            screen(quiet=common.quiet).note(line)
        serve_until_stopped(settings)


def _mcp(app: typer.Typer) -> None:
    @command(app, "mcp", example="wisdom mcp --tenant acme")
    def mcp(common: Common) -> None:
        """Serve the MCP tools to one client on standard input and output, for one tenant.

        Configure it in an MCP client as the command `wisdom` with the argument `mcp`. Logs go to standard error.
        """
        with session(common) as opened:
            from api.mcp_stdio import run_stdio

            run_stdio(opened.service)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _check_free(settings: "Settings") -> None:
    """Find out before everything is loaded.

    Raises:
        InvalidRequest: somebody else listens on that port, or the address is none of this machine's.
    """
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((settings.host, settings.port))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidRequest(f"cannot listen on {settings.host}:{settings.port}: {reason}; choose another one", field="port") from error


def _announcement(settings: "Settings") -> list[str]:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    where = f"http://{host}:{settings.port}" if settings.port else f"a free port of {host} (see the log line below)"
    lines = [f"WisdomAgent on {where}: /graphql, /mcp, /docs, /health, /ready, /metrics; Ctrl-C stops it"]
    if settings.auth == "none":
        lines.append("development mode: the tenant is taken from x-tenant-id, and only this machine can connect")
    return lines
