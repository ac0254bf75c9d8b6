"""Compare-and-set again after somebody else was quicker."""

from collections.abc import Callable
from typing import TypeVar

from runtime.errors import Conflict

ATTEMPTS = 50
Result = TypeVar("Result")


def repeated(attempt: Callable[[], Result]) -> Result:
    """``attempt`` reads, decides and writes; it is repeated as long as what it read is no longer there.

    Raises:
        Conflict: others were quicker every time.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except Conflict:
            continue
    return attempt()
