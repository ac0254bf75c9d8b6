"""The endpoints of an embedding model and of a language model behind a proxy that breaks what passes: what somebody who asks is told."""

import hashlib
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from grounding.answers import Answer, Outcome
from grounding.evaluation.cases import Case, Expected
from runtime.clock import Deadline
from runtime.errors import Unavailable
from runtime.settings import read_settings
from search.documents import EVERYTHING
from search.ingest.rows import rows_of
from search.ranking import Retrieval
from tests.faults.enduring import QUICK, Dependency, LeapingClock, endures, piles_nothing_up, time_limit_s
from tests.faults.proxy import HTTP_FAULTS, Fault, Proxy, proxied
from tests.grounding.desk import ACME, record
from tests.grounding.language_models.conftest import QUESTION, REPORTS
from tests.grounding.language_models.misbehaving_server import as_draft, model_server, says
from worker.opening import Service, open_service

DIMENSION = 8
WRITTEN = as_draft(("The app crashes each time a receipt is scanned.", ["E1"]))


@contextmanager
def vector_server() -> Iterator[str]:
    """Serves vectors that depend on nothing but the text."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
            body = json.dumps({"data": [{"index": at, "embedding": _vector(text)} for at, text in enumerate(texts)]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _vector(text: str) -> list[float]:
    return [1.0, *(byte / 255 for byte in hashlib.sha256(text.encode()).digest()[: DIMENSION - 1])]


@contextmanager
def opened(folder: Path, clock: LeapingClock, **chosen: Any) -> Iterator[Service]:
    settings = read_settings({}, engine_url=f"sqlite:///{folder / 'store.db'}", embedder_threads=1, **(QUICK | chosen))
    with open_service(settings, clock) as service:
        assert service.ingester.ingest(ACME, rows_of(REPORTS)).indexed == len(REPORTS)
        yield service


@pytest.fixture
def clock() -> LeapingClock:
    return LeapingClock()


@pytest.fixture
def proxy(request: pytest.FixtureRequest) -> Iterator[Proxy]:
    with model_server(says(WRITTEN)) as model, vector_server() as vectors:
        url = model.url if "model" in request.node.name else vectors
        with proxied("127.0.0.1", urlsplit(url).port or 0) as opened:
            yield opened


@pytest.fixture
def embedding(tmp_path: Path, proxy: Proxy, clock: LeapingClock, fault: Fault) -> Iterator[Dependency]:
    """Searches by meaning."""
    given = {"embedder": "openai:small", "embedder_url": f"http://localhost:{proxy.port}/v1", "embedder_dimension": DIMENSION}
    with opened(tmp_path, clock, **given) as service:

        def search() -> Retrieval:
            return service.retriever.retrieve(ACME, QUESTION, EVERYTHING, top_k=5, deadline=Deadline.after(2 * time_limit_s(fault), clock))

        def told(found: object) -> bool:
            assert isinstance(found, Retrieval)
            assert found.hits
            return "the embedder did not answer" in found.degraded.get("vector_leg", "")

        yield Dependency("embedder", search, clock, service.metrics, ("embedder",), told=told)


@pytest.fixture
def asking(tmp_path: Path, proxy: Proxy, clock: LeapingClock, fault: Fault) -> Iterator[Dependency]:
    """Asks a question nobody asked before."""
    given = {"embedder": "openai:small", "embedder_url": f"http://localhost:{proxy.port}/v1", "embedder_dimension": DIMENSION}
    numbers = count(1)
    with opened(tmp_path, clock, ask_timeout_s=3 * time_limit_s(fault), **given) as service:

        def told(found: object) -> bool:
            assert isinstance(found, Outcome)
            assert found.answer is not None, found.refusal
            _is_word_for_word(found.answer)
            lost = "vector_leg" in found.degraded
            assert ("embedder" in found.degraded) == lost
            return lost

        ask = lambda: service.answerer.ask(ACME, f"What do reviewers say about crashes{'!' * next(numbers)}")  # noqa: E731
        yield Dependency("embedder", ask, clock, service.metrics, ("embedder",), told=told)


def _is_word_for_word(answer: Answer) -> None:
    texts = {row["doc_id"]: row["text"] for row in REPORTS}
    for claim in answer.claims:
        assert claim.citations
        assert all(texts[cited.doc_id][cited.start : cited.end] == cited.quote for cited in claim.citations)
        assert claim.text.strip(".") in {cited.quote.strip(".") for cited in claim.citations}


@pytest.fixture
def writing(tmp_path: Path, proxy: Proxy, clock: LeapingClock, fault: Fault) -> Iterator[Dependency]:
    """Asks, with a language model that drafts."""
    given = {
        "llm_base_url": f"http://localhost:{proxy.port}/v1",
        "llm_model": "small",
        "llm_roles": "draft",
        "llm_timeout_s": time_limit_s(fault),
    }
    with opened(tmp_path, clock, **given) as service:

        def told(found: object) -> bool:
            assert isinstance(found, Outcome)
            assert found.answer is not None
            missed = "llm" in found.degraded
            assert (found.answer.model == "extractive") == missed
            return missed

        def counted() -> None:
            names = {sample.labels["outcome"] for each in service.metrics.registry.collect() for sample in each.samples
                     if sample.name == "wa_llm_calls_total"}  # fmt: skip
            assert "circuit_open" in names
            assert len(names) >= 3

        ask = lambda: service.answerer.ask(ACME, QUESTION)  # noqa: E731
        yield Dependency("llm_primary", ask, clock, service.metrics, ("llm",), told=told, counted=counted)


@pytest.mark.parametrize("fault", HTTP_FAULTS)
def test_without_vectors_a_search_goes_by_words_and_says_so(fault: Fault, embedding: Dependency, proxy: Proxy) -> None:
    endures(embedding, proxy, fault)


@pytest.mark.parametrize("fault", HTTP_FAULTS)
def test_without_vectors_questions_are_answered_word_for_word_and_the_answer_says_so(
    fault: Fault, asking: Dependency, proxy: Proxy
) -> None:
    endures(asking, proxy, fault)


@pytest.mark.parametrize("fault", HTTP_FAULTS)
def test_without_a_language_model_sentences_are_quoted_and_the_answer_says_so(fault: Fault, writing: Dependency, proxy: Proxy) -> None:
    endures(writing, proxy, fault)


def _asked(service: Service) -> object:
    try:
        return service.answerer.ask(ACME, QUESTION)
    except Unavailable as error:
        return error


@pytest.mark.parametrize("fault", ["half_open", "throttled"])
def test_a_question_ends_with_its_own_time_and_not_with_that_of_every_call(fault: Fault, tmp_path: Path, proxy: Proxy) -> None:
    """Each call alone may take thirty seconds, and several steps of a run call."""
    given = {"embedder": "openai:small", "embedder_url": f"http://localhost:{proxy.port}/v1", "embedder_dimension": DIMENSION}
    clock = LeapingClock()
    with opened(tmp_path, clock, ask_timeout_s=1.5, **given | {"breaker_failures": 100}) as service:
        proxy.fail(fault)
        with ThreadPoolExecutor(1) as pool:
            outcome = pool.submit(_asked, service).result(20)
        if isinstance(outcome, Outcome):
            assert (outcome.refusal and outcome.refusal.reason.value == "BUDGET_EXCEEDED") or "embedder" in outcome.degraded
        else:
            assert isinstance(outcome, Unavailable)
            assert outcome.dependency == "embedder"
        proxy.heal()


@pytest.mark.parametrize("fault", ["reset", "throttled"])
def test_failed_searches_by_meaning_pile_nothing_up(fault: Fault, embedding: Dependency, proxy: Proxy) -> None:
    piles_nothing_up(embedding, proxy, fault)


@pytest.mark.parametrize("fault", ["reset", "throttled"])
def test_failed_drafts_of_a_language_model_pile_nothing_up(fault: Fault, writing: Dependency, proxy: Proxy) -> None:
    piles_nothing_up(writing, proxy, fault)


@pytest.fixture
def vectorless(tmp_path: Path, proxy: Proxy, clock: LeapingClock) -> Iterator[Service]:
    """A service whose embedder went away once its documents were stored."""
    given = {"embedder": "openai:small", "embedder_url": f"http://localhost:{proxy.port}/v1", "embedder_dimension": DIMENSION}
    with opened(tmp_path, clock, **given) as service:
        themed = [{**row, "doc_id": f"t-{row['doc_id']}", "theme_id": "crashes_of_the_app"} for row in REPORTS[:2]]
        assert service.ingester.ingest(ACME, rows_of(themed)).indexed == len(themed)
        proxy.fail("refused")
        yield service
        proxy.heal()


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many documents are there?", 7),
        ('How many say "receipt"?', 5),
        ("How many mention the parcel?", 1),
        ("How many are about crashes of the app?", 2),
    ],
)
def test_without_vectors_what_needs_none_is_counted_exactly(question: str, value: int, vectorless: Service) -> None:
    outcome = vectorless.answerer.ask(ACME, question)
    assert outcome.answer is not None, outcome.refusal
    assert outcome.answer.claims[0].proof is not None
    assert outcome.answer.claims[0].proof.value == value
    assert not outcome.degraded


def test_without_vectors_a_number_that_depends_on_what_is_meant_is_an_error_and_not_another_number(vectorless: Service) -> None:
    with pytest.raises(Unavailable) as caught:
        vectorless.answerer.ask(ACME, "How many customers had trouble with photographs?")
    assert caught.value.dependency == "embedder"


def test_without_vectors_a_refusal_says_what_could_not_be_weighed(vectorless: Service) -> None:
    for question, lost in (
        ("How fast does the help desk reply?", {"vector_leg"}),
        ("Which courier damaged the parcel?", {"vector_leg", "embedder"}),
    ):
        outcome = vectorless.answerer.ask(ACME, question)
        assert outcome.refusal is not None
        assert outcome.refusal.hint.startswith("Ask again later")
        assert outcome.degraded.keys() == lost


def test_without_vectors_nothing_is_stored_and_the_error_names_the_embedder(vectorless: Service) -> None:
    with pytest.raises(Unavailable) as caught:
        vectorless.ingester.ingest(ACME, rows_of([record("new", "Something nobody said before.")]))
    assert caught.value.dependency == "embedder"
    assert vectorless.engine.document(ACME, "new") is None


def test_an_evaluation_without_vectors_measures_nothing(vectorless: Service) -> None:
    case = Case("c", "What do reviewers say about crashes?", Expected(answered=True))
    assert vectorless.evaluations.runner.run(ACME, [case])[0].ended == "error"
