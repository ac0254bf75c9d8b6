"""``wisdom digests …``: what monitors published."""

from typing import Annotated

import typer

from api.cli.calling import calling
from api.cli.commands.deliveries import add_deliveries
from api.cli.declaring import command
from api.cli.options import Common
from api.cli.session import session


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="digests", help="List what monitors published, or show one digest.")
    _list(group)
    _show(group)
    add_deliveries(group)


def _list(group: typer.Typer) -> None:
    @command(group, "digests list", example="wisdom digests list --monitor crash-volume")
    def list_digests(
        common: Common,
        monitor: Annotated[str | None, typer.Option(metavar="ID", help="Only digests of this monitor.")] = None,
        first: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Digests on a page.")] = 50,
        after: Annotated[str | None, typer.Option(metavar="CURSOR", help="Go on after an earlier page.")] = None,
    ) -> None:
        """List digests, newest first."""
        from api import monitor_operations, monitor_rendering
        from api.cli.views.monitors import digests_view

        with session(common) as opened:
            found = monitor_operations.digests(opened.service, opened.tenant, monitor_id=monitor, first=first, after=after)
            opened.screen.show(lambda: digests_view(found.digests), lambda: monitor_rendering.digest_page(found))
            if found.cursor is not None:
                opened.screen.note(f"next page: --after {found.cursor}")


def _show(group: typer.Typer) -> None:
    @command(group, "digests show", example="wisdom digests show dig_3b9a1470727112035c8a6bbf")
    def show_digest(digest_id: Annotated[str, typer.Argument(metavar="ID", help="A digest id.")], common: Common) -> None:
        """Show one digest: why it fired, the documents that caused it, and the verified answer. Documents deleted since are marked."""
        from api import monitor_operations, monitor_rendering, operations
        from api.cli.views.monitors import digest_view

        with session(common) as opened:
            found = monitor_operations.digest(opened.service, opened.tenant, digest_id)
            cited = operations.documents_of(opened.service, opened.tenant, monitor_operations.cited_ids(found))
            documents = {document.doc_id: document for document in cited}
            opened.screen.show(lambda: digest_view(found, documents, calling(common)), lambda: monitor_rendering.digest(found))
