"""What of a document may be quoted for a claim: its sentences and pairs of neighbours, with offsets in the document."""

import functools
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from grounding.addressing import speaks_to_the_machine
from grounding.answers import Evidence
from grounding.reading import Reading, read
from grounding.sentences import Span, sentences
from search.documents import Passage
from search.ranking import Candidate


@dataclass(frozen=True, slots=True)
class Window:
    """One sentence of a passage, or two neighbours. ``start`` and ``end`` are offsets in the document; ``sentences`` are its parts."""

    text: str
    start: int
    end: int
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """A document as far as it was retrieved. One that gives orders to its reader bears out only what quotes it whole."""

    doc_id: str
    version: int
    occurred_at: datetime
    passages: tuple[Passage, ...]
    windows: tuple[Window, ...]
    gives_orders: bool

    def read(self, window: Window) -> Reading:
        """The window's reading, with dates in the year of the document."""
        return read(window.text, self.occurred_at)


def witnesses(evidence: Evidence) -> tuple[Witness, ...]:
    """One per document of the evidence, in the order of their first candidates."""
    grouped: dict[str, list[Candidate]] = {}
    for candidate in evidence.candidates:
        grouped.setdefault(candidate.passage.doc_id, []).append(candidate)
    return tuple(_witness(candidates) for candidates in grouped.values())


def _witness(candidates: Sequence[Candidate]) -> Witness:
    first = candidates[0]
    passages = {candidate.passage.passage_id: candidate.passage for candidate in candidates}
    ordered = tuple(sorted(passages.values(), key=lambda passage: passage.start))
    windows = tuple(itertools.chain.from_iterable(windows_of(passage) for passage in ordered))
    orders = any(speaks_to_the_machine(sentence) for window in windows for sentence in window.sentences)
    return Witness(first.passage.doc_id, first.version, first.occurred_at, ordered, windows, orders)


@functools.lru_cache(maxsize=2_048)
def windows_of(passage: Passage) -> tuple[Window, ...]:
    """Every sentence of the passage, then every pair of neighbours; kept for the passages that were looked at last."""
    spans = sentences(passage.text)
    singles = [_window(passage, (span,)) for span in spans]
    pairs = [_window(passage, pair) for pair in itertools.pairwise(spans)]
    return (*singles, *pairs)


def _window(passage: Passage, spans: Iterable[Span]) -> Window:
    parts = tuple(spans)
    start, end = parts[0].start, parts[-1].end
    return Window(
        text=passage.text[start:end],
        start=passage.start + start,
        end=passage.start + end,
        sentences=tuple(part.of(passage.text) for part in parts),
    )
