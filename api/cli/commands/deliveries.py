"""``wisdom digests undelivered|redeliver``: digests that did not arrive."""

from typing import Annotated

import typer

from api.cli.declaring import command
from api.cli.failures import FAILED
from api.cli.options import Common
from api.cli.session import session


def add_deliveries(group: typer.Typer) -> None:
    """Add them to ``wisdom digests``."""
    _undelivered(group)
    _redeliver(group)


def _undelivered(group: typer.Typer) -> None:
    @command(group, "digests undelivered", example="wisdom digests undelivered")
    def undelivered(
        common: Common,
        first: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Deliveries on a page.")] = 50,
        after: Annotated[str | None, typer.Option(metavar="CURSOR", help="Go on after an earlier page.")] = None,
    ) -> None:
        """List deliveries that were given up, with the reason. Addresses of receivers are masked."""
        from api import delivery_operations, monitor_rendering
        from api.cli.views.deliveries import deliveries_view

        with session(common) as opened:
            found = delivery_operations.deliveries(opened.service, opened.tenant, state="undelivered", first=first, after=after)
            opened.screen.show(lambda: deliveries_view(found.deliveries), lambda: monitor_rendering.delivery_page(found))
            if found.cursor is not None:
                opened.screen.note(f"next page: --after {found.cursor}")


def _redeliver(group: typer.Typer) -> None:
    @command(group, "digests redeliver", example="wisdom digests redeliver dig_3b9a1470727112035c8a6bbf")
    def redeliver(digest_id: Annotated[str, typer.Argument(metavar="ID", help="A digest id.")], common: Common) -> int | None:
        """Send a digest now, from this process, to every receiver it was given up for, under the same idempotency key. What fails again is tried
        by the worker later. Exit code 1 when one did not arrive."""
        from api import delivery_operations, monitor_rendering
        from api.cli.views.deliveries import deliveries_view

        with session(common) as opened:
            delivery_operations.requeue(opened.service, opened.tenant, digest_id)
            sent = delivery_operations.deliver_now(opened.service, opened.tenant, digest_id)
            opened.screen.show(lambda: deliveries_view(sent, "nothing to send"), lambda: monitor_rendering.deliveries(sent))
        return FAILED if any(item.state != "delivered" for item in sent) else None
