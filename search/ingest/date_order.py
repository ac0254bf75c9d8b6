"""Day first or month first: decided for a whole column by its telling rows, never guessed for one row."""

import re
from dataclasses import dataclass
from typing import Literal

DateOrder = Literal["dmy", "mdy"]

_NUMERIC = re.compile(r"\s*([0-9]{1,2})([/-])([0-9]{1,2})\2([0-9]{4})(?![0-9])")
LAST_MONTH = 12


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """What a column says about itself. ``order`` is None while nothing settles it; ``doubt`` then says why, for the user."""

    order: DateOrder | None = None
    doubt: str = "the day could be the month; write YYYY-MM-DD, or say which comes first with --date-order dmy or --date-order mdy"


UNSETTLED = ColumnOrder()


def order_shown(value: object) -> DateOrder | Literal["either"] | None:
    """The order this one value proves: ``17/04/2026`` is ``dmy``, ``04/17/2026`` is ``mdy``, ``03/04/2026`` either.

    None for everything that is not such a date, or means the same either way (``04/04/2026``).
    """
    found = _NUMERIC.match(value) if isinstance(value, str) else None
    if found is None:
        return None
    first, second = int(found[1]), int(found[3])
    if first == second or first == 0 or second == 0 or min(first, second) > LAST_MONTH:
        return None
    if first > LAST_MONTH:
        return "dmy"
    return "mdy" if second > LAST_MONTH else "either"


@dataclass(slots=True)
class OrderEvidence:
    """Collects what the rows of one column show."""

    day_first_row: int | None = None
    month_first_row: int | None = None
    ambiguous: int = 0

    def look_at(self, number: int, value: object) -> None:
        """Take row ``number`` into account."""
        shown = order_shown(value)
        if shown == "dmy" and self.day_first_row is None:
            self.day_first_row = number
        elif shown == "mdy" and self.month_first_row is None:
            self.month_first_row = number
        elif shown == "either":
            self.ambiguous += 1

    @property
    def matters(self) -> bool:
        """True when there is a date among them whose day and month could be confused."""
        return self.ambiguous > 0 or self.day_first_row is not None or self.month_first_row is not None

    def settled(self) -> ColumnOrder:
        """The order of the column as far as it was looked at."""
        if self.day_first_row is not None and self.month_first_row is not None:
            return ColumnOrder(
                None,
                f"row {self.day_first_row} puts the day first and row {self.month_first_row} the month, so this date could be either; "
                "write YYYY-MM-DD, or split the file and use --date-order dmy or --date-order mdy",
            )
        if self.day_first_row is not None:
            return ColumnOrder("dmy")
        return ColumnOrder("mdy") if self.month_first_row is not None else UNSETTLED
