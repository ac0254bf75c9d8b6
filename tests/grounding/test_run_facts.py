"""What boards count of a run: how it ended, in numbers and words of the program."""

import pytest

from runtime.errors import Unavailable
from search.ingest.erasure import delete_documents
from tests.grounding.breaking import FailingEngine
from tests.grounding.desk import ACME, NOW, Desk, record

DOCUMENTS = (
    record("R-1", "Standard delivery took nine days instead of three."),
    record("R-2", "Express delivery arrived the next morning."),
)


def kept(desk: Desk, run_id: str) -> dict[str, object]:
    entry = desk.service.state.get(ACME, "trace", run_id)
    assert entry is not None
    return dict(entry.facts)


def test_an_answer_keeps_its_grounding_and_no_reason(desk: Desk) -> None:
    desk.load(DOCUMENTS)
    outcome = desk.ask("How long did standard delivery take?")
    facts = kept(desk, outcome.run_id)
    assert facts == {
        "at": NOW,
        "outcome": "answered",
        "refused": False,
        "claims": len(outcome.trace.claims),
        "recalled": False,
        "seconds": outcome.seconds,
        "intent": outcome.trace.plan["intent"],
        "groundedness": outcome.grounding.groundedness,
        "citation_precision": outcome.grounding.citation_precision,
    }


def test_a_refusal_keeps_its_reason_and_no_grounding_where_nothing_was_drafted(desk: Desk) -> None:
    desk.load(DOCUMENTS)
    facts = kept(desk, desk.ask("Who is the fastest sprinter in the world?").run_id)
    assert (facts["outcome"], facts["refused"], facts["reason"]) == ("refused", True, "OFF_TOPIC")
    assert "groundedness" not in facts


def test_an_answer_that_was_given_again_says_so(desk: Desk) -> None:
    desk.load(DOCUMENTS)
    first, again = (desk.ask("How long did standard delivery take?", recall=True) for _ in range(2))
    assert [kept(desk, outcome.run_id)["recalled"] for outcome in (first, again)] == [False, True]


def test_a_run_that_failed_is_counted_as_failed(desk: Desk) -> None:
    desk.load(DOCUMENTS)
    failing = desk.answerer(engine=FailingEngine(desk.service.engine, calls=1))  # type: ignore[arg-type]
    with pytest.raises(Unavailable):
        failing.ask(ACME, "How long did standard delivery take?")
    (entry,) = desk.service.state.entries(ACME, "trace")[0]
    assert (entry.facts["outcome"], entry.facts["refused"], "reason" in entry.facts) == ("failed", False, False)


def test_what_was_lost_is_named_and_facts_survive_what_is_scrubbed_from_a_trace(desk: Desk) -> None:
    desk.load(DOCUMENTS)
    outcome = desk.ask("How long did standard delivery take?")
    desk.service.traces.save(ACME, outcome.trace, outcome.grounding, {"vector_leg": "away", "cache": "away"})
    before = kept(desk, outcome.run_id)
    assert before["degraded"] == ("cache", "vector_leg")
    delete_documents(desk.service.engine, desk.service.state, ACME, doc_ids=["R-1"])
    desk.service.traces.scrub(ACME, first=10)
    entry = desk.service.state.get(ACME, "trace", outcome.run_id)
    assert entry is not None
    assert "nine days" not in str(entry.body["claims"])
    assert dict(entry.facts) == before
