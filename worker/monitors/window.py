"""The ranges of time a monitor looks at: each ends on the grid of its cadence, so that every worker names them alike."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from runtime.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Window:
    """Documents that occurred from ``start`` up to, not including, ``end``."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        """How long it is."""
        return self.end - self.start

    def before(self, windows: int) -> "Window":
        """The stretch of that many windows that ends where this one starts."""
        return Window(self.start - windows * self.length, self.start)


def latest_window(now: datetime, window_s: int, cadence_s: int) -> Window:
    """The newest window that is over: it ends at ``floor(now / cadence)``, counted from 1970."""
    return window_ending(grid(now, cadence_s), window_s)


def window_starting(start: datetime, now: datetime, window_s: int, cadence_s: int) -> Window:
    """The window that starts there, its end moved back onto the grid.

    Raises:
        InvalidRequest: on ``window_start``, when the window is not over yet or the instant has no time zone.
    """
    if start.tzinfo is None:
        raise InvalidRequest("needs a time zone, such as 2026-11-20T08:00:00Z", field="window_start")
    if start > now:
        raise InvalidRequest("begins a window that is not over yet", field="window_start")
    try:
        window = window_ending(grid(start + timedelta(seconds=window_s), cadence_s), window_s)
    except (OverflowError, ValueError) as error:  # the grid lies before the year 1
        raise InvalidRequest("is before all windows", field="window_start") from error
    if window.end > now:
        raise InvalidRequest("begins a window that is not over yet", field="window_start")
    return window


def window_ending(end: datetime, window_s: int) -> Window:
    """The window that ends there."""
    return Window(end - timedelta(seconds=window_s), end)


def grid(moment: datetime, cadence_s: int) -> datetime:
    """The last instant of the cadence's grid that is not after ``moment``."""
    seconds = int(moment.timestamp() // 1)
    return datetime.fromtimestamp(seconds - seconds % cadence_s, UTC)
