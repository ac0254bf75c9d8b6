"""What says the same becomes one finding; what differs in a fact does not, however alike it looks."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from grounding.findings import Voice, findings, near_copies, same
from search.documents import Passage, Source
from search.embedding.minilm import MiniLM
from search.identity import group_key
from search.ranking import Candidate

DAY = datetime(2026, 11, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM(threads=1)


def voice(embedder: MiniLM, doc_id: str, text: str, *, score: float = 0.5, day: int = 0, copies: int = 1) -> Voice:
    passage = Passage(f"{doc_id}#000000", doc_id, 0, 0, len(text), text)
    candidate = Candidate(passage, Source("ticket"), DAY + timedelta(days=day), group_key(text), 1)
    ids = tuple(doc_id if number == 0 else f"{doc_id}.{number}" for number in range(copies))
    return Voice(text, candidate, score, ids, copies, embedder.embed([text])[0])


SAME = [
    ("App crashes when I open the camera.", "app crashes when i open the camera"),
    ("App crashes when I open the camera.", "App crashes when opening the camera."),
    ("My refund has not arrived yet.", "My refund still has not arrived."),
    ("I was charged twice for the same order.", "I have been charged twice for one and the same order."),
]
DIFFERENT = [
    ("Login works after the update.", "Login does not work after the update."),
    ("The refund took 12 days.", "The refund took 21 days."),
    ("The app crashes on Android.", "The app crashes on the iPhone."),
    ("Code SAVE20 was rejected.", "Code SAVE25 was rejected."),
    ("Delivery was late.", "Delivery was early."),
    ("Battery drains overnight.", "App crashes when I open the camera."),
    ("The transfer was charged on 3 September.", "The transfer was charged on 9 March."),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_these_say_the_same(embedder: MiniLM, first: str, second: str) -> None:
    assert same(voice(embedder, "a", first), voice(embedder, "b", second))


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_these_do_not(embedder: MiniLM, first: str, second: str) -> None:
    assert not same(voice(embedder, "a", first), voice(embedder, "b", second))


def test_near_copies_share_most_runs_of_letters() -> None:
    assert near_copies("Order 1001 came late today", "Order 1001 came late, today!")
    assert not near_copies("Order came late", "Nothing to report")


def test_a_finding_counts_every_copy_and_keeps_every_id(embedder: MiniLM) -> None:
    group = findings(
        [
            voice(embedder, "a", "App crashes when I open the camera.", copies=3),
            voice(embedder, "b", "App crashes when opening the camera.", copies=2),
            voice(embedder, "c", "Battery drains overnight."),
        ]
    )
    assert [finding.documents for finding in group] == [5, 1]
    assert set(group[0].doc_ids) == {"a", "a.1", "a.2", "b", "b.1"}


def test_two_sentences_of_one_document_count_once(embedder: MiniLM) -> None:
    first = voice(embedder, "a", "App crashes when I open the camera.")
    passage = first.candidate.passage
    again = Voice(
        "App crashes when opening the camera.", first.candidate, 0.4, ("a",), 1, embedder.embed(["App crashes when opening the camera."])[0]
    )
    (only,) = findings([first, again])
    assert (only.documents, only.doc_ids, passage.doc_id) == (1, ("a",), "a")


def test_the_sentence_that_claims_least_stands_for_the_group(embedder: MiniLM) -> None:
    (only,) = findings(
        [
            voice(embedder, "a", "The app always crashes when I open the camera.", score=0.9),
            voice(embedder, "b", "The app crashes when I open the camera."),
        ]
    )
    assert only.text == "The app crashes when I open the camera."


def test_findings_come_by_documents_then_recency_then_id(embedder: MiniLM) -> None:
    ordered = findings(
        [
            voice(embedder, "old", "Parking is expensive.", day=0),
            voice(embedder, "new", "The pool is lovely.", day=3),
            voice(embedder, "b", "Breakfast was cold.", day=1),
            voice(embedder, "a", "The lift was out of order.", day=1),
            voice(embedder, "many", "Wifi keeps dropping.", copies=2),
        ]
    )
    assert [finding.voices[0].candidate.passage.doc_id for finding in ordered] == ["many", "new", "a", "b", "old"]


def test_the_order_of_arrival_does_not_matter(embedder: MiniLM) -> None:
    texts = [
        "App crashes when I open the camera.",
        "App crashes when opening the camera.",
        "Battery drains overnight.",
        "Battery is empty by morning.",
    ]
    voices = [voice(embedder, f"d{number}", text) for number, text in enumerate(texts)]
    rng = np.random.default_rng(7)
    expected = findings(voices)
    for _ in range(5):
        assert findings([voices[index] for index in rng.permutation(len(voices))]) == expected
