"""Traces are kept by run id; what was deleted since is marked, and its words are withheld."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from api import rendering
from grounding.answers import Citation, Claim, ClaimKind, Nearest, Proof, Refusal, RefusalReason, Step, Trace
from grounding.trace_json import trace_as_json, trace_from_json
from grounding.traces import WITHHELD, document_ids, without_words_of
from runtime.errors import NotFound
from runtime.tenancy import tenant_named
from search.documents import Filters
from search.ingest.erasure import delete_documents
from tests.grounding.desk import ACME, Desk, record

QUOTE = Citation("a", 2, 3, 9, "secret", 0.9)
OTHER = Citation("b", 1, 0, 5, "Secret", 0.8)
PROOF = Proof("theme", Filters(theme_ids=("x",)), "late", "UTC", 3, 9, ("a", "c"), "all.x", 7, "x", (("2026-01", 3),))
TRACE = Trace(
    run_id="r",
    question="what?",
    plan={"intent": "evidence"},
    steps=(
        Step("draft", 0.0, 1.5, "done", {"drafts": [{"text": "secret words", "cites": ["a"]}, {"text": "open words", "cites": ["b"]}]}),
        Step("relevance", 1.5, 0.5, "done", {"score": 0.4}),
    ),
    budget={"used": {"steps": 2}},
    created_at=datetime(2026, 11, 30, 12, tzinfo=UTC),
    outcome="answered",
    claims=(
        Claim("secret", ClaimKind.QUOTE, 0.9, (QUOTE,)),
        Claim("secret", ClaimKind.FINDING, 0.9, (QUOTE, OTHER), document_count=2),
        Claim("3 of 9 documents", ClaimKind.COUNT, 1.0, (QUOTE,), proof=replace(PROOF, against=PROOF)),
        Claim("open", ClaimKind.QUOTE, 0.7, (OTHER,), counter_evidence=(QUOTE,)),
    ),
    refusal=Refusal(
        RefusalReason.OFF_TOPIC, "no", "relevance", 0.1, 0.3, (Nearest("a", 0.1, "secret snippet"), Nearest("d", 0.1, "other"))
    ),
)


def test_a_trace_survives_the_journey() -> None:
    assert trace_from_json("r", json.loads(json.dumps(trace_as_json(TRACE)))) == TRACE


def test_every_document_it_speaks_of_is_known() -> None:
    assert set(document_ids(TRACE)) == {"a", "b", "c", "d"}


def test_words_of_deleted_documents_are_withheld_everywhere() -> None:
    found = without_words_of(TRACE, ("a",))
    shown = json.dumps(trace_as_json(replace(found, claims=(found.claims[0], *found.claims[2:]))), ensure_ascii=False)
    assert "secret" not in shown
    assert found.deleted_doc_ids == ("a",)
    assert found.claims[0].text == WITHHELD
    assert found.claims[2].text == "3 of 9 documents"
    assert found.steps[0].detail["drafts"] == [{"text": WITHHELD, "cites": ["a"]}, {"text": "open words", "cites": ["b"]}]
    assert "other" in shown


def test_a_finding_keeps_its_sentence_while_another_document_says_it() -> None:
    assert without_words_of(TRACE, ("a",)).claims[1].text == "secret"
    assert without_words_of(TRACE, ("a", "b")).claims[1].text == WITHHELD


def test_a_run_can_be_looked_up_and_forgets_what_was_deleted(desk: Desk) -> None:
    desk.load([record("X-1", "The loyalty card never arrived although I ordered it in June."), record("X-2", "Loyalty points vanished.")])
    outcome = desk.ask("Did a loyalty card fail to arrive?")
    kept = desk.service.traces.get(ACME, outcome.run_id)
    assert kept.claims == outcome.trace.claims
    assert kept.deleted_doc_ids == ()
    delete_documents(desk.service.engine, desk.service.state, ACME, doc_ids=["X-1"])
    after = desk.service.traces.get(ACME, outcome.run_id)
    assert after.deleted_doc_ids == ("X-1",)
    assert "ordered it in June" not in json.dumps(rendering.trace(after))
    assert "ordered it in June" not in json.dumps([rendering.trace(trace) for trace in desk.service.traces.list(ACME).traces])


def test_another_tenants_run_is_not_there(desk: Desk) -> None:
    desk.load([record("a", "The lift was out of order.")])
    outcome = desk.ask("What is wrong with the lift?")
    with pytest.raises(NotFound):
        desk.service.traces.get(tenant_named("birch"), outcome.run_id)


def test_refusals_and_answers_are_listed_apart_newest_first(desk: Desk) -> None:
    desk.load([record("a", "The lift was out of order.")])
    answered = desk.ask("What is wrong with the lift?").run_id
    refused = desk.ask("Who is the fastest sprinter in the world?").run_id
    traces = desk.service.traces
    assert [trace.run_id for trace in traces.list(ACME, refused=True).traces] == [refused]
    assert [trace.run_id for trace in traces.list(ACME, refused=False).traces] == [answered]
    first = traces.list(ACME, first=1)
    assert first.cursor is not None
    assert len(traces.list(ACME, first=1, after=first.cursor).traces) == 1
