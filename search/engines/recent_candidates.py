"""Candidates that were ranked lately. A stored passage never changes and its number is never given again, so none of them is ever out of date."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock

from search.ranking import Candidate

KEPT = 4_096
"""Candidates of all tenants together, about 3 KB each with a vector of 384 dimensions and a short text, 12 MB in all; the one longest unused makes room."""

_MAX_CHARS = 2_000


class RecentCandidates:
    """By passage number. Whoever asks has the numbers from the rows of a tenant, and gets nothing of another's; safe to share between threads."""

    def __init__(self, capacity: int = KEPT) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[int, Candidate] = OrderedDict()
        self._lock = Lock()

    def known(self, passage_nos: Iterable[int]) -> dict[int, Candidate]:
        """Those of ``passage_nos`` that are kept."""
        with self._lock:
            found = {number: self._kept[number] for number in passage_nos if number in self._kept}
            for number in found:
                self._kept.move_to_end(number)
        return found

    def keep(self, made: Mapping[int, Candidate]) -> None:
        """Remember them for a while, but for long texts."""
        short = {number: candidate for number, candidate in made.items() if len(candidate.passage.text) <= _MAX_CHARS}
        with self._lock:
            self._kept |= short
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
