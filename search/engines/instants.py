"""Instants as whole milliseconds since 1970, which is how both engines keep them."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def to_ms(instant: datetime) -> int:
    """Milliseconds since 1970, rounded down."""
    return (instant - _EPOCH) // _MILLISECOND


def to_ms_up(instant: datetime) -> int:
    """Milliseconds since 1970, rounded up: the first stored instant that is not before ``instant``."""
    return -((_EPOCH - instant) // _MILLISECOND)


def from_ms(milliseconds: int) -> datetime:
    """The instant, in UTC."""
    return _EPOCH + timedelta(milliseconds=milliseconds)
