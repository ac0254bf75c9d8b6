"""Deliveries: which digest did not arrive where, and why."""

from collections import Counter
from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.text import minute
from api.cli.visible import one_line
from worker.deliveries.receivers import masked
from worker.deliveries.record import Delivery


def deliveries_view(deliveries: Sequence[Delivery], none: str = "everything was delivered or is still being tried") -> RenderableType:
    """What ``digests undelivered`` and ``digests redeliver`` print."""
    if not deliveries:
        return Text(none)
    columns = (
        Column("digest", style="cyan"),
        Column("monitor"),
        Column("state"),
        Column("attempts", right=True),
        Column("since"),
        Column("receiver"),
        Column("why", flexible=True),
    )
    return Grid(columns, tuple(map(_row, deliveries)), minimum=110)


def tally(deliveries: Sequence[Delivery]) -> str:
    """``2 deliveries: 1 delivered, 1 pending``."""
    states = Counter(item.state for item in deliveries)
    told = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    number = len(deliveries)
    return f"{number} {'delivery' if number == 1 else 'deliveries'}: {told}"


def _row(delivery: Delivery) -> tuple[str, ...]:
    return (
        delivery.digest_id,
        one_line(delivery.monitor_id, 64),
        delivery.state,
        str(delivery.attempts),
        minute(delivery.queued_at),
        one_line(f"{delivery.receiver.channel} {masked(delivery.receiver)}", 80),
        one_line(delivery.last_error or "–", 120),
    )
