"""``wisdom migrate``: a whole store into another one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.declaring import command
from api.cli.failures import FAILED
from api.cli.options import Common

if TYPE_CHECKING:
    from api.cli.screen import Screen
    from search.ingest.report import Progress
    from search.moving.copying import Told
    from search.moving.migration import Migration, MigrationReport

Tenants = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this tenant; repeat for several (default: all).")]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(
        app,
        "migrate",
        example="wisdom migrate --from sqlite:///wisdom.db --to https://wisdom@search.example:9200\n"
        "wisdom migrate --from http://127.0.0.1:9200 --to sqlite:///copy.db --tenant acme",
    )
    def migrate_store(
        source: Annotated[str, typer.Option("--from", metavar="URL", help="sqlite:///FILE or http(s)://user@host:9200; it is only read.")],
        target: Annotated[str, typer.Option("--to", metavar="URL", help="The same, of the store to fill; made when missing.")],
        tenant: Tenants = None,
        merge: Annotated[bool, typer.Option("--merge", help="Into a store that has something already; what is newer there stays.")] = False,
        from_prefix: Annotated[str | None, typer.Option(metavar="NAME", help="Index prefix of --from (default: WA_INDEX_PREFIX).")] = None,
        to_prefix: Annotated[str | None, typer.Option(metavar="NAME", help="Index prefix of --to (default: WA_INDEX_PREFIX).")] = None,
        from_password_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Password of the user of --from.")] = None,
        to_password_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Password of the user of --to.")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value instead of tables.")] = False,
        quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no notes on standard error.")] = False,
    ) -> int | None:
        """Copy documents, deletions and state of a store into another one, and compare both by count and hash.

        Run it again after an interruption, or to catch up with what was written meanwhile. Vectors are carried where WA_EMBEDDER made those
        of --from too, and embedded anew otherwise. The exit code is 1 when the stores are not the same.
        """
        from api import moving_operations as operations
        from api.cli.screen import screen
        from api.cli.session import settings_of
        from runtime.telemetry import configure_logging, correlated, correlation_id
        from runtime.tenancy import tenant_named

        settings = settings_of(Common(as_json=as_json, quiet=quiet))
        ends = (
            operations.settings_at(settings, source, from_prefix, from_password_file),
            operations.settings_at(settings, target, to_prefix, to_password_file),
        )
        chosen = None if tenant is None else tuple(tenant_named(name) for name in tenant)
        on = screen(as_json=as_json, quiet=quiet)
        configure_logging(settings)
        with correlated(correlation_id()), operations.open_migration(*ends, chosen, merge=merge) as migration:
            return _finished(_run(migration, on), on)


def _run(migration: "Migration", on: "Screen") -> "MigrationReport":
    from api import moving_operations as operations
    from api.cli.progress import progress_on

    if not migration.carries_vectors:
        on.note(f"vectors of {migration.source.model} are replaced by those of {migration.embedder.model}: every passage is embedded")
    shares: list[float] = []
    with progress_on(on, migration.clock, "documents", lambda: shares[-1] if shares else None) as told:
        return operations.migrate(migration, with_share(shares, told))


def with_share(shares: list[float], told: "Told") -> "Told":
    """Keeps how much is done as the last of ``shares``, for a bar to read."""

    def tell(progress: "Progress") -> None:
        if progress.remaining is not None:
            shares[:] = [progress.done / max(1.0, progress.done + progress.remaining * progress.rate)]
        told(progress)

    return tell


def _finished(report: "MigrationReport", on: "Screen") -> int | None:
    from api import moving_operations as operations
    from api.cli.views.migrate import migration_view

    on.show(lambda: migration_view(report), lambda: operations.rendered(report))
    for doc_id, reason in report.copied.refused[:20]:
        on.warn(f"{doc_id} was not taken: {reason}")
    return None if report.verified else FAILED
