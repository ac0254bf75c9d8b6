"""API keys, as a list."""

from collections.abc import Sequence
from datetime import datetime

from rich.console import RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.text import minute
from api.cli.visible import one_line
from api.identity.keys import ApiKey


def keys_view(keys: Sequence[ApiKey], now: datetime) -> RenderableType:
    """What ``keys list`` prints, newest first."""
    if not keys:
        return Text("no keys yet")
    columns = (
        Column("key", style="cyan"),
        Column("for", flexible=True),
        Column("scopes"),
        Column("rate"),
        Column("made"),
        Column("ends"),
        Column("last used"),
    )
    return Grid(columns, tuple(_row(key, now) for key in keys), minimum=90)


def _row(key: ApiKey, now: datetime) -> tuple[str, ...]:
    ends = "revoked" if key.revoked_at else "never" if key.expires_at is None else minute(key.expires_at)
    ends = f"{ends} (ended)" if key.ended(now) and not key.revoked_at else ends
    return (
        key.key_id,
        one_line(key.name, 60),
        ",".join(key.scopes),
        key.rate_class,
        minute(key.created_at),
        ends,
        key.last_used or "never",
    )
