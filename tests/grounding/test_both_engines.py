"""The same documents and questions give the same claims, citations and refusals on both engines."""

from pathlib import Path

import pytest

from grounding.answers import Outcome
from tests.grounding.desk import Desk, open_desk, record

DOCUMENTS = (
    record("R-1", "Standard delivery took nine days instead of three.", account_id="north", theme_id="late_delivery"),
    record("R-2", "The courier app shows the wrong delivery window.", account_id="north", theme_id="app"),
    record("R-3", "Express delivery arrived the next morning, very happy.", account_id="south"),
    record("R-4", "Nobody told me that delivery was moved to Friday.", theme_id="late_delivery"),
    record("Z-1", "App crashes when I open the camera.", day="2026-10-02"),
    record("Z-2", "app crashes when i open the camera!", day="2026-10-03"),
    record("Z-3", "App crashes when opening the camera.", day="2026-10-04"),
    record("V-1", "The new checkout is faster than the old one."),
    record("V-3", "New checkout is slower than before, I gave up."),
)
QUESTIONS = (
    "How long did standard delivery take?",
    "What do customers complain about?",
    "What do customers say about crashes?",
    "Is the new checkout faster than the old one?",
    "How many messages are about late delivery?",
    "How many messages mention the camera?",
    "What does account north say?",
    "How much does express delivery cost?",
    "Who is the fastest sprinter in the world?",
    "hello there",
)


@pytest.mark.live("opensearch")
def test_both_engines_answer_alike(tmp_path: Path, opensearch_url: str, opensearch_prefix: str) -> None:
    (tmp_path / "embedded").mkdir()
    with (
        open_desk(tmp_path / "embedded") as here,
        open_desk(tmp_path, engine_url=opensearch_url, index_prefix=opensearch_prefix) as there,
    ):
        for desk in (here, there):
            desk.load(DOCUMENTS)
        for question in QUESTIONS:
            assert told(here, question) == told(there, question)


def told(desk: Desk, question: str) -> object:
    """What an outcome says, without what an engine may number in its own way."""
    outcome: Outcome = desk.ask(question)
    claims = outcome.answer.claims if outcome.answer else ()
    said = [(claim.text, claim.kind, claim.document_count, claim.citations, claim.counter_evidence) for claim in claims]
    counted = [(claim.proof.value, claim.proof.denominator, claim.proof.doc_ids) for claim in claims if claim.proof]
    return said, counted, outcome.refusal and (outcome.refusal.reason, outcome.refusal.message)
