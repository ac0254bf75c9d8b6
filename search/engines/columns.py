"""What filters and aggregations need of every document, in memory, one row per stored document version."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.documents import Filters
from search.engines.growing import GrowingArray
from search.engines.intervals import milliseconds

Mask = NDArray[np.bool_]


class Coding:
    """Text values as small integers; -1 for none."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self.values: list[str] = []

    def code(self, value: str | None) -> int:
        """The integer of a value, made on first sight."""
        if value is None:
            return -1
        code = self._codes.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        return code

    def known(self, values: Iterable[str]) -> list[int]:
        """The integers of those values that occur."""
        return [self._codes[value] for value in values if value in self._codes]


def group_number(group_key: str) -> int:
    """64 bits of a group key; equal keys have equal numbers, and unequal ones differ but for a chance of one in 10^9 at 100,000 groups."""
    return int.from_bytes(hashlib.blake2b(group_key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


@dataclass(frozen=True, slots=True)
class ColumnsView:
    """The columns at one moment; every array has one element per row, and ``live`` marks the rows that count."""

    live: Mask
    doc_nos: NDArray[np.int64]
    doc_ids: Sequence[str]
    occurred_ms: NDArray[np.int64]
    kinds: NDArray[np.int32]
    names: NDArray[np.int32]
    themes: NDArray[np.int32]
    accounts: NDArray[np.int32]
    ratings: NDArray[np.float64]
    groups: NDArray[np.int64]
    kind_coding: Coding
    name_coding: Coding
    theme_coding: Coding
    account_coding: Coding

    def passing(self, filters: Filters) -> Mask:
        """The live rows that pass every filter but doc ids and attributes, which need the store."""
        mask = self.live.copy()
        if filters.since is not None:
            mask &= self.occurred_ms >= milliseconds(filters.since)
        if filters.before is not None:
            mask &= self.occurred_ms < milliseconds(filters.before)
        if filters.sources is not None:
            of_kind = np.isin(self.kinds, self.kind_coding.known(filters.sources))
            mask &= of_kind | np.isin(self.names, self.name_coding.known(filters.sources))
        if filters.theme_ids is not None:
            mask &= np.isin(self.themes, self.theme_coding.known(filters.theme_ids))
        if filters.account_ids is not None:
            mask &= np.isin(self.accounts, self.account_coding.known(filters.account_ids))
        if filters.rating_min is not None:
            mask &= self.ratings >= filters.rating_min
        if filters.rating_max is not None:
            mask &= self.ratings <= filters.rating_max
        return mask

    def rows_of(self, doc_nos: Iterable[int]) -> NDArray[np.int64]:
        """The rows of these document numbers, unknown ones left out."""
        wanted = np.unique(np.fromiter(doc_nos, dtype=np.int64))
        places = np.searchsorted(self.doc_nos, wanted)
        known = places < len(self.doc_nos)
        places, wanted = places[known], wanted[known]
        found: NDArray[np.int64] = places[self.doc_nos[places] == wanted]
        return found


class Columns:
    """The growing columns of one tenant; rows arrive in ascending order of document number."""

    def __init__(self) -> None:
        self._doc_nos: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._doc_ids: list[str] = []
        self._occurred: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._kinds, self._names, self._themes, self._accounts = (GrowingArray(np.int32) for _ in range(4))
        self._codings = tuple(Coding() for _ in range(4))
        self._ratings: GrowingArray[np.float64] = GrowingArray(np.float64)
        self._groups: GrowingArray[np.int64] = GrowingArray(np.int64)

    def __len__(self) -> int:
        return len(self._doc_ids)

    def newest(self) -> int:
        """The highest document number so far; 0 for none."""
        return int(self._doc_nos.view()[-1]) if self._doc_ids else 0

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Append documents: number, id, instant, source kind and name, theme, account, rating, group key."""
        if not rows:
            return
        doc_nos, doc_ids, occurred, *coded, ratings, groups = zip(*rows, strict=True)
        self._doc_nos.extend(list(doc_nos))
        self._doc_ids.extend(doc_ids)
        self._occurred.extend(list(occurred))
        arrays = (self._kinds, self._names, self._themes, self._accounts)
        for array, coding, values in zip(arrays, self._codings, coded, strict=True):
            array.extend([coding.code(value) for value in values])
        self._ratings.extend([np.nan if rating is None else rating for rating in ratings])
        self._groups.extend([group_number(key) for key in groups])

    def view(self, live: Mask) -> ColumnsView:
        """The columns as they are now."""
        kind_coding, name_coding, theme_coding, account_coding = self._codings
        return ColumnsView(
            live,
            self._doc_nos.view(),
            self._doc_ids,
            self._occurred.view(),
            self._kinds.view(),
            self._names.view(),
            self._themes.view(),
            self._accounts.view(),
            self._ratings.view(),
            self._groups.view(),
            kind_coding,
            name_coding,
            theme_coding,
            account_coding,
        )
