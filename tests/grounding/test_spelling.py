"""Questions as people type them: slips of the finger, and the small words of other languages."""

import pytest

from grounding.question_kinds import read_question
from grounding.spelling import respelled
from tests.grounding.desk import Desk, cited, record

TEXTS = (
    "Battery drain is terrible, my phone is empty by noon.",
    "Sync stopped working, a webhook arrives twice.",
    "The toner tone is fine, Smith said later.",
)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("what about the batery drain?", "what about the battery drain?"),
        ("is the battrey bad?", "is the battery bad?"),
        ("problems with synk", "problems with sync"),
        ("when does the webhhok arrive", "when does the webhhok arrive"),
        ("do webhoks arrive", "do webhoks arrive"),
        ("what about the battery?", "what about the battery?"),
        ("who is Smyth", "who is Smyth"),
        ("the laser", "the laser"),
        ("is ERR_4012 bad", "is ERR_4012 bad"),
    ],
)
def test_only_a_slip_of_the_finger_is_spelled_as_the_texts_do(question: str, meant: str) -> None:
    assert respelled(question, TEXTS) == meant


def test_what_two_words_may_be_meant_by_stays_as_it_is() -> None:
    assert respelled("the wibgit", ("a widgit here", "a wibgits there", "one wigbit")) == "the wibgit"


def test_a_misspelled_question_is_answered_and_the_trace_says_what_was_meant(desk: Desk) -> None:
    desk.load([record(f"d{at}", text) for at, text in enumerate(TEXTS)])
    outcome = desk.ask("what about the batery drain?")
    assert cited(outcome) == {"d0"}
    (step,) = [step for step in outcome.trace.steps if step.name == "spelling"]
    assert dict(step.detail) == {"written": "what about the batery drain?", "meant": "what about the battery drain?"}


def test_small_words_of_another_language_are_no_topic() -> None:
    assert [meaning.word.lower for meaning in read_question("¿Por qué no puedo iniciar sesión?").topic] == ["iniciar", "sesión"]
    assert [meaning.word.lower for meaning in read_question("Wo ist mein Paket und wann kommt es?").topic] == ["paket", "kommt"]
