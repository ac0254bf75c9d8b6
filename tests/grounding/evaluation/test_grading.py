from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from grounding.answers import Answer, Citation, Claim, ClaimKind, Grounding, Outcome, Proof, Refusal, RefusalReason, Step, Trace, Verdict
from grounding.evaluation.cases import Expected
from grounding.evaluation.grading import failed, grade
from grounding.evaluation.results import CaseResult
from grounding.evaluation.texts import holds
from runtime.errors import Unavailable
from search.documents import EVERYTHING
from tests.grounding.evaluation.graded import ANSWER, case
from tests.grounding.witness import retrieval

NOW = datetime(2026, 11, 30, tzinfo=UTC)
TEXTS = {"a": "My card was stolen at the hotel.", "b": "It's £1 extra."}
OFF_TOPIC = Refusal(RefusalReason.OFF_TOPIC, "not discussed", "relevance")


def quote(doc_id: str, words: str) -> Citation:
    start = TEXTS[doc_id].index(words)
    return Citation(doc_id, 1, start, start + len(words), words, 1.0)


def claim(text: str, *citations: Citation, proof: Proof | None = None) -> Claim:
    return Claim(text, ClaimKind.COUNT if proof else ClaimKind.QUOTE, 0.9, citations, proof=proof)


def proof(value: int, **fields: Any) -> Proof:
    plain = Proof("documents", EVERYTHING, None, "UTC", value, 100, ("a",), None, 1)
    return replace(plain, **fields)


def outcome(*claims: Claim, refusal: Refusal | None = None, **fields: Any) -> Outcome:
    answer = Answer("\n".join(each.text for each in claims), claims, "extractive") if claims else None
    verdicts = tuple(Verdict(supported=True, contradicted=False, score=1.0, citations=each.citations) for each in claims)
    trace = Trace("run-1", "q?", {}, (), {"used": {"tokens": 12}}, NOW, "answered")
    plain = Outcome("run-1", "q?", answer, refusal, Grounding(0.75, 1.0, 1.0, True, None, verdicts), (), trace, {}, 0.25)
    return replace(plain, **fields)


def graded(expected: Expected, *claims: Claim, refusal: Refusal | None = None) -> CaseResult:
    return grade(case("c-1", "q?", expected), outcome(*claims, refusal=refusal), TEXTS)


def checks(result: CaseResult) -> list[str]:
    return [problem.check for problem in result.problems]


STOLEN = claim("My card was stolen at the hotel.", quote("a", "My card was stolen at the hotel."))


def test_an_answer_with_everything_expected_is_exact() -> None:
    found = graded(Expected(answered=True, documents=("a", "z"), facts=("hotel", "STOLEN"), absent=("bank",)), STOLEN)
    assert (found.exact, found.invented, found.ended, found.citations) == (True, False, "answered", ("a",))
    assert (found.groundedness, found.supports, found.seconds, found.tokens, found.run_id) == (0.75, (0.9,), 0.25, 12, "run-1")


def test_missing_facts_and_documents_are_named_and_invent_nothing() -> None:
    found = graded(Expected(answered=True, documents=("z",), facts=("airport", "hotel")), STOLEN)
    assert [problem.message for problem in found.problems] == ["does not say “airport”", "cites none of the documents that answer this"]
    assert not found.invented


def test_a_forbidden_text_is_invented() -> None:
    found = graded(Expected(answered=True, absent=("hotel",)), STOLEN)
    assert (checks(found), found.invented) == (["absent"], True)


def test_answering_what_nothing_answers_is_invented_and_refusing_it_is_exact() -> None:
    expected = Expected(answered=False, reasons=frozenset({RefusalReason.NOT_ANSWERED, RefusalReason.OFF_TOPIC}))
    answered = graded(expected, STOLEN)
    assert (checks(answered), answered.invented) == (["outcome"], True)
    assert graded(expected, refusal=OFF_TOPIC).exact
    assert graded(Expected(answered=False), refusal=OFF_TOPIC).exact


def test_a_refusal_for_another_reason_or_of_an_answerable_question_is_named() -> None:
    other = graded(Expected(answered=False, reasons=frozenset({RefusalReason.TOO_FEW})), refusal=OFF_TOPIC)
    assert [problem.message for problem in other.problems] == ["refused as OFF_TOPIC instead of TOO_FEW"]
    over = graded(ANSWER, refusal=OFF_TOPIC)
    assert (checks(over), over.ended, over.reason) == (["outcome"], "refused", "OFF_TOPIC")


def test_the_first_proven_number_is_the_count() -> None:
    expected = Expected(answered=True, count=3)
    assert graded(expected, claim("3 of 100", proof=proof(3)), claim("7 of 100", proof=proof(7))).exact
    off = graded(expected, claim("4 of 100", proof=proof(4)))
    assert (checks(off), off.count, off.invented) == (["count"], 4, True)
    unproven = graded(expected, STOLEN)
    assert (checks(unproven), unproven.invented) == (["count"], False)


def test_every_bucket_of_a_series_must_agree_and_one_that_is_not_there_is_zero() -> None:
    expected = Expected(answered=True, series={"2026-06": 2, "2026-07": 0})
    assert graded(expected, claim("rising", proof=proof(2, counts=(("2026-06", 2),)))).exact
    off = graded(expected, claim("rising", proof=proof(2, counts=(("2026-06", 1), ("2026-07", 1)))))
    assert [problem.message for problem in off.problems] == ["counts 1 in 2026-06 instead of 2", "counts 1 in 2026-07 instead of 0"]
    assert checks(graded(expected, claim("3", proof=proof(3)))) == ["series"]


def test_documents_behind_a_count_are_those_counted() -> None:
    assert graded(Expected(answered=True, documents=("a",), count=3), claim("3 of 100", proof=proof(3))).exact


def test_a_quote_that_does_not_stand_in_its_document_is_invented() -> None:
    moved = replace(quote("a", "hotel"), start=0, end=5)
    gone = Citation("deleted", 1, 0, 3, "abc", 1.0)
    found = graded(ANSWER, claim("x", moved), claim("y", gone))
    assert (checks(found), found.invented) == (["quote", "quote"], True)


def test_a_sentence_without_citation_or_proof_is_invented() -> None:
    assert checks(graded(ANSWER, claim("Trust me."))) == ["uncited"]


def test_counter_evidence_is_compared_too() -> None:
    contested = replace(STOLEN, counter_evidence=(replace(quote("b", "extra"), quote="other"),))
    assert checks(graded(ANSWER, contested)) == ["quote"]


def test_an_error_keeps_its_kind_and_not_its_words() -> None:
    found = failed(case("c-1", "q?"), Unavailable("secret text"), 1.5)
    assert (found.ended, found.seconds, found.exact) == ("error", 1.5, False)
    assert found.problems[0].message == "the run ended with Unavailable"


def test_the_ranking_is_that_of_ask_with_copies_behind_the_first() -> None:
    hits = retrieval("q", A="one", B="two").hits
    hits = (replace(hits[0], group_ids=("A", "A2"), group_size=2), hits[1])
    found = grade(case("c-1", "q?"), replace(outcome(STOLEN), hits=hits), TEXTS)
    assert found.ranking == ("A", "A2", "B")


def test_tokens_and_cost_of_language_models_are_read_off_the_trace() -> None:
    steps = (
        Step("draft", 0, 1, "done", {"calls": [{"input_tokens": 100, "output_tokens": 20, "cost": 0.5}, {"cost": 0.25}]}),
        Step("judge", 1, 1, "done", {"input_tokens": 7, "cost": float("nan"), "output_tokens": True}),
    )
    found = outcome(STOLEN)
    found = replace(found, trace=replace(found.trace, steps=steps))
    result = grade(case("c-1", "q?"), found, TEXTS)
    assert (result.tokens, result.cost) == (12 + 127, 0.75)


@pytest.mark.parametrize(
    ("text", "phrase", "held"),
    [
        ("It's £1 extra.", "it 's", True),
        ("It's £1 extra.", "1", True),
        ("It costs 1,074 in all", "1074", True),
        ("a party", "art", False),
        ("The CARD works", "card works", True),
        ("don't go", "do n't go", True),
        ("ﬁne", "fine", True),
        ("Café", "cafe\u0301", True),
        ("a or b", "x|b", True),
        ("a or b", "x|y", False),
        ("what?!", "?!", True),
        ("what", "?!", False),
        ("naïve", "", False),
    ],
)
def test_a_phrase_is_found_whatever_its_spacing_capitals_and_forms(text: str, phrase: str, held: bool) -> None:
    assert holds(text, phrase) is held
