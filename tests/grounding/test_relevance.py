from collections.abc import Iterator

import pytest

from grounding.relevance import Relevance, relevance
from runtime.settings import read_settings
from search.embedding.minilm import MiniLM
from tests.grounding.witness import retrieval

DELIVERY = {
    "R_1": "Standard delivery took nine days instead of three.",
    "R_2": "The courier app shows the wrong delivery window.",
    "R_3": "Express delivery arrived the next morning, very happy.",
    "R_4": "Nobody told me that delivery was moved to Friday.",
    "R_5": "Delivery box was soaked by rain.",
}
SUBSCRIPTION = {
    "O_1": "Could not find where to stop my subscription, in the end I rang support to end it.",
    "O_2": "Subscription renewed without notice.",
    "O_3": "The yearly plan is cheaper than I thought.",
}
CODES = {"K_1": "Checkout rejects SAVE20 and says the code is expired.", "K_2": "SAVE25 was accepted without trouble."}
SPANISH = {"ES_1": "El pedido llegó roto y nadie contesta al teléfono.", "ES_2": "La aplicación es rápida y clara."}
FLOOR = read_settings({}).min_evidence_relevance


@pytest.fixture(scope="module")
def embedder() -> Iterator[MiniLM]:
    opened = MiniLM(threads=1)
    yield opened
    opened.close()


def judged(embedder: MiniLM, question: str, texts: dict[str, str]) -> Relevance:
    return relevance(question, retrieval(question, **texts), embedder)


@pytest.mark.parametrize(
    "question",
    [
        "Who is the fastest sprinter in the world?",
        "How do I improve my golf swing?",
        "What is the capital of France?",
        "recommend a recipe for lentil soup",
        "Which planet has the most moons?",
        "what is the meaning of life",
    ],
)
def test_a_question_about_something_else_is_under_the_floor(embedder: MiniLM, question: str) -> None:
    assert judged(embedder, question, DELIVERY).score < FLOOR


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("How long did standard delivery take?", DELIVERY),
        ("How much does express delivery cost?", DELIVERY),
        ("Was the box wet?", DELIVERY),
        ("Is it hard to cancel?", SUBSCRIPTION),
        ("What happens with code SAVE20?", CODES),
        ("what happens with save20", CODES),
        ("¿Llegó algún pedido roto?", SPANISH),
        ("What problems do reviewers report?", DELIVERY),
    ],
)
def test_a_question_about_the_records_passes(embedder: MiniLM, question: str, texts: dict[str, str]) -> None:
    assert judged(embedder, question, texts).score >= FLOOR


def test_a_code_no_record_holds_is_a_veto_and_is_named(embedder: MiniLM) -> None:
    found = judged(embedder, "What happens with code SAVE30?", CODES)
    assert (found.score, found.missing_code) == (0.0, "SAVE30")


def test_nothing_retrieved_is_not_relevant(embedder: MiniLM) -> None:
    assert judged(embedder, "How long did delivery take?", {}).score == 0.0


def test_greetings_are_about_nothing(embedder: MiniLM) -> None:
    assert judged(embedder, "hello there", DELIVERY).score < FLOOR
    assert judged(embedder, "???", DELIVERY).score < FLOOR


def test_the_passages_about_the_question_come_first(embedder: MiniLM) -> None:
    assert judged(embedder, "Was the delivery box soaked?", DELIVERY).passage_ids[0] == "R-5#000000"
