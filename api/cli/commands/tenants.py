"""``wisdom tenants list|place``: where tenants are in a cluster."""

from typing import Annotated, Literal

import typer

from api.cli.declaring import command
from api.cli.options import Common

Engine = Annotated[str | None, typer.Option("--engine", metavar="URL", help="http(s)://host:9200 (default: WA_ENGINE_URL).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress and no notes on standard error.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="tenants", help="Where tenants are in OpenSearch: in indices of their own, or in the shared pool.")
    _list(group)
    _place(group)


def _list(group: typer.Typer) -> None:
    @command(group, "tenants list", example="wisdom tenants list --engine http://127.0.0.1:9200")
    def list_tenants(engine: Engine = None, as_json: AsJson = False, quiet: Quiet = False) -> None:
        """List every tenant with its placement, documents and shards. A move that was interrupted is called unfinished."""
        from api import tenant_operations as operations
        from api.cli.screen import screen
        from api.cli.session import settings_of
        from api.cli.views.tenants import homes_view
        from runtime.telemetry import configure_logging

        settings = settings_of(Common(engine=engine, as_json=as_json, quiet=quiet))
        configure_logging(settings)
        with operations.open_tenants(settings) as tenants:
            homes = operations.homes(tenants)
        screen(as_json=as_json, quiet=quiet).show(
            lambda: homes_view(homes), lambda: {"tenants": [operations.rendered_home(home) for home in homes]}
        )


def _place(group: typer.Typer) -> None:
    @command(group, "tenants place", example="wisdom tenants place acme --in pool\nwisdom tenants place acme --in own")
    def place_tenant(
        name: Annotated[str, typer.Argument(metavar="NAME", help="The tenant to move.")],
        where: Annotated[Literal["own", "pool"], typer.Option("--in", help="Month indices of its own, or those of the pool.")],
        engine: Engine = None,
        as_json: AsJson = False,
        quiet: Quiet = False,
    ) -> None:
        """Move a tenant while it is served: searches find everything, writes wait for some seconds at most.

        Interrupted, it can be run again, in either direction. Where the tenant is there already, it removes what an interrupted move left.
        """
        from api import tenant_operations as operations
        from api.cli.screen import screen
        from api.cli.session import settings_of
        from api.cli.views.tenants import moved_view
        from runtime.telemetry import configure_logging, correlated, correlation_id
        from runtime.tenancy import tenant_named

        settings = settings_of(Common(engine=engine, as_json=as_json, quiet=quiet))
        configure_logging(settings)
        on = screen(as_json=as_json, quiet=quiet)
        with correlated(correlation_id()), operations.open_tenants(settings) as tenants:
            moved = operations.place(
                tenants, tenant_named(name), where, lambda copied, total: on.note(f"{copied:,} of {total:,} records copied")
            )
        on.show(lambda: moved_view(moved), lambda: operations.rendered_move(moved))
