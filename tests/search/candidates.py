"""Legs and candidates made by hand, for the pure parts of retrieval."""

from datetime import UTC, datetime

from search.documents import Passage, Source, passage_id
from search.ranking import Candidate, LegHit

DAY = datetime(2026, 11, 1, tzinfo=UTC)


def candidate(
    doc_id: str,
    text: str = "some text",
    *,
    number: int = 0,
    group: str = "",
    weight: float = 0.5,
    occurred_at: datetime = DAY,
    title: str | None = None,
) -> Candidate:
    """A candidate of a document of its own group unless ``group`` names one."""
    passage = Passage(passage_id(doc_id, number), doc_id, number, 0, len(text), text)
    return Candidate(passage, Source("chat", weight=weight), occurred_at, group or f"group of {doc_id}", 1, title=title)


def leg(*scored: tuple[str, float], text: str = "some text") -> tuple[LegHit, ...]:
    """A leg of one-passage documents, given best first."""
    return tuple(LegHit(candidate(doc_id, text), score, rank) for rank, (doc_id, score) in enumerate(scored, start=1))
