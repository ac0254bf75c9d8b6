"""What is kept of passages that were ranked: no more than said, and nothing that was replaced or deleted is found by it."""

from datetime import UTC, datetime

from search.engines.recent_candidates import RecentCandidates
from tests.search.candidates import candidate

DAY = datetime(2026, 5, 1, tzinfo=UTC)


def test_the_one_longest_unused_makes_room() -> None:
    recent = RecentCandidates(capacity=2)
    recent.keep({1: candidate("a"), 2: candidate("b")})
    recent.known([1])
    recent.keep({3: candidate("c")})
    assert {number: one.passage.doc_id for number, one in recent.known([1, 2, 3]).items()} == {1: "a", 3: "c"}


def test_long_texts_are_not_kept() -> None:
    recent = RecentCandidates()
    recent.keep({1: candidate("a", "long " * 1_000)})
    assert recent.known([1]) == {}
