"""Arrays that grow at the end while earlier views of them stay as they were."""

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=np.generic)


class GrowingArray(Generic[Kind]):
    """One column. A view taken before an ``extend`` keeps its length and values."""

    def __init__(self, kind: type[Kind]) -> None:
        self._values: NDArray[Kind] = np.empty(64, dtype=kind)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def extend(self, values: "NDArray[Kind] | list[Any]") -> None:
        """Append values; amortised constant time each."""
        needed = self._length + len(values)
        if needed > len(self._values):
            grown = np.empty(max(needed, len(self._values) * 3 // 2), dtype=self._values.dtype)
            grown[: self._length] = self._values[: self._length]
            self._values = grown
        self._values[self._length : needed] = values
        self._length = needed

    def view(self) -> NDArray[Kind]:
        """What is there now, without a copy; not to be written to."""
        return self._values[: self._length]
