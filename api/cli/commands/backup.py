"""``wisdom backup`` and ``wisdom restore``: the store file as a copy, and back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.declaring import command
from api.cli.failures import FAILED
from api.cli.options import Common
from api.cli.screen import Screen
from runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from search.moving.backup import Backup

File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    _backup(app)
    _restore(app)


def _backup(app: typer.Typer) -> None:
    @command(app, "backup", example="wisdom backup /backups/wisdom-2026-03-01.db")
    def back_up(file: File, common: Common) -> None:
        """Copy the store file while it is in use, with its checksum beside the copy. An existing file is never overwritten.

        Every tenant is in it. A store in OpenSearch is backed up with its own snapshots; docs/operations.md has the steps.
        """
        from api.cli.views.backup import backup_view, rendered
        from search.moving.backup import backed_up

        done = backed_up(_store(common), file)
        on = _screen(common)
        on.show(lambda: backup_view(done, "in"), lambda: rendered(done))


def _restore(app: typer.Typer) -> None:
    @command(app, "restore", example="wisdom restore /backups/wisdom-2026-03-01.db --yes")
    def restore(
        file: File,
        common: Common,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a store is overwritten.")] = False,
    ) -> int | None:
        """Put a backup in the place of the store file, after it was checked. Stop servers and workers first.

        It asks before a store is overwritten, unless --yes is given.
        """
        from api.cli.views.backup import backup_view, rendered
        from search.moving.backup import inspected, restored

        store, on = _store(common), _screen(common)
        found = inspected(file)
        if not found.checked:
            on.warn(f"there is no {file}.sha256 to hold it against; its pages are sound")
        if store.exists() and not yes and not _confirmed(store, found):
            on.warn("nothing was restored")
            return FAILED
        done = restored(file, store, overwrite=store.exists())
        on.show(lambda: backup_view(done, "restored from"), lambda: rendered(done))
        return None


def _confirmed(store: Path, backup: "Backup") -> bool:
    what = f"{store} would be overwritten by a backup of {backup.documents:,} documents"
    if not typer.get_text_stream("stdin").isatty():
        raise InvalidRequest(f"{what}; there is no terminal to ask on, so add --yes")
    return typer.confirm(f"{what}. This cannot be undone. Go on?", err=True)


def _store(common: Common) -> Path:
    from api.cli.session import settings_of
    from search.engines.opening import sqlite_path
    from search.moving.opening import is_file

    settings = settings_of(common)
    if not is_file(settings):
        raise InvalidRequest("OpenSearch has snapshots of its own: docs/operations.md, Backup and restore, has the steps", field="engine")
    return sqlite_path(settings.engine_url).absolute()


def _screen(common: Common) -> Screen:
    from api.cli.screen import screen

    return screen(as_json=common.as_json, quiet=common.quiet)
