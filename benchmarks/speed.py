"""Speed and memory of both engines at a given size: ``python -m benchmarks.speed --passages 100000 [--engine URL]``.

The corpus is synthetic (see ``benchmarks.synthetic``). Questions are asked after as many others, as of a service that has run
for a while. Ratios compare with a peer or a limit measured in the same run.
"""

import argparse
import itertools
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.judged_corpora import banking77
from benchmarks.synthetic import messages, synthetic_writes
from grounding.evaluation.sets import shipped_set
from runtime.settings import Settings, read_settings
from runtime.tenancy import Tenant
from search.documents import DocumentWrite
from search.ingest.rows import rows_of
from worker.opening import Service, open_service

TENANT = Tenant("speed")
QUESTIONS = 60


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the report: a value, its unit, and the limit it is held to."""

    name: str
    value: float
    unit: str
    limit: str

    def line(self) -> str:
        """A row of the printed table."""
        return f"{self.name:<58} {self.value:>10.3f} {self.unit:<6} {self.limit}"


def main() -> None:
    """Run what the arguments ask for and print a table; ``--json`` adds one JSON line a measure."""
    arguments = _arguments()
    run = {"load": _load_and_ask, "restart": _restart, "ingest": _ingest, "real": _real, "opensearch": _opensearch}[arguments.part]
    for measure in run(arguments):
        print(measure.line() if not arguments.json else json.dumps(asdict(measure)), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["load", "restart", "real", "ingest", "opensearch"])
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--engine", default="", help="URL of an OpenSearch cluster, for the part of that name")
    parser.add_argument("--store", type=Path, default=None, help="store file to keep between load and restart")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the public data sets, for the part real")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _settings(path: Path) -> Settings:
    return read_settings({}, engine_url=f"sqlite:///{path.resolve()}", max_question_chars=20_000)


def _load_and_ask(arguments: argparse.Namespace) -> Iterable[Measure]:
    with tempfile.TemporaryDirectory() as folder, open_service(_settings(arguments.store or Path(folder) / "speed.db")) as service:
        service.embedder.embed(["warm"])
        model_mb = _peak_mb()
        seconds = _fill(service, arguments.passages)
        yield Measure(f"embedded: load {arguments.passages} passages with given vectors", arguments.passages / seconds, "/s", "")
        yield from _questions(service, arguments.passages)
        yield Measure("embedded: peak memory beyond the model (loading process)", _peak_mb() - model_mb, "MB", "")


def _restart(arguments: argparse.Namespace) -> Iterable[Measure]:
    """A fresh process on a warm file: the start and the memory a user sees."""
    settings = _settings(arguments.store)
    started = time.perf_counter()
    with open_service(settings) as service:
        service.embedder.embed(["warm"])
        model_mb = _peak_mb()
        opened = time.perf_counter()
        service.engine.corpus(TENANT)
        service.retriever.retrieve(TENANT, "why was my card declined")
        yield Measure("embedded: start from a warm file, first search included", time.perf_counter() - started, "s", "<= 5")
        yield Measure("embedded: of which the store", time.perf_counter() - opened, "s", "")
        yield from _questions(service, arguments.passages)
        yield Measure("embedded: peak memory beyond the model", _peak_mb() - model_mb, "MB", "<= 450")


def _questions(service: Service, passages: int) -> Iterable[Measure]:
    sample = [str(message["text"]) for message in messages(3000)]
    questions = sample[:: len(sample) // QUESTIONS]
    for other in sample[len(sample) // QUESTIONS // 2 :: len(sample) // QUESTIONS]:
        service.answerer.ask(TENANT, other)
    search_limit, ask_limit = ("<= 15", "<= 40") if passages > 20_000 else ("", "<= 15")
    yield Measure(
        f"embedded: search p50 at {passages}", _p50(lambda q: service.retriever.retrieve(TENANT, q), questions), "ms", search_limit
    )
    yield Measure(f"embedded: ask p50 at {passages}", _p50(lambda q: service.answerer.ask(TENANT, q), questions), "ms", ask_limit)


def _real(arguments: argparse.Namespace) -> Iterable[Measure]:
    """Customer messages as they are (BANKING77), and two kinds of questions about them: other customers' messages, and the cases of the sample set.
    Every other question warms up; the rest is measured."""
    corpus = banking77(arguments.data)
    with tempfile.TemporaryDirectory() as folder, open_service(_settings(Path(folder) / "speed.db")) as service:
        given = [
            {"docId": each.doc_id, "text": each.text, "source": "chat", "occurredAt": "2026-05-01T00:00:00Z"}
            for each in corpus.documents[: arguments.passages]
        ]
        service.ingester.ingest(TENANT, rows_of(given))
        asked = {
            "messages": [question.text for question in corpus.questions[:: len(corpus.questions) // 180]],
            "the sample set": [case.question for case in shipped_set("banking").cases],
        }
        for kind, questions in asked.items():
            yield from _asked(service, kind, questions, arguments.passages)


def _asked(service: Service, kind: str, questions: list[str], passages: int) -> Iterable[Measure]:
    for question in questions[::2]:
        service.answerer.ask(TENANT, question)
    answered, seconds = [], []
    for question in questions[1::2]:
        started = time.perf_counter()
        outcome = service.answerer.ask(TENANT, question)
        seconds.append(time.perf_counter() - started)
        if outcome.answer:
            answered.append(seconds[-1])
    yield Measure(f"embedded: ask p50 at {passages} real messages, {kind}", 1000 * statistics.median(seconds), "ms", "<= 15")
    told = f"embedded: of which the {len(answered)} of {len(seconds)} that were answered"
    yield Measure(told, 1000 * statistics.median(answered), "ms", "")


def _ingest(arguments: argparse.Namespace) -> Iterable[Measure]:
    """The whole ingest against the embedder alone, on the same texts, alternating twice."""
    from search.ingest.rows import Row

    texts = [f"{message['text']} {number}" for number, message in enumerate(messages(arguments.passages))]
    rows = [Row(number + 1, {"text": text, "source": "speed", "occurred_at": "2026-05-01T00:00:00Z"}) for number, text in enumerate(texts)]
    alone, whole = [], []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder, open_service(_settings(Path(folder) / "ingest.db")) as service:
            service.embedder.embed(["warm"])
            alone.append(_seconds(lambda service=service: service.embedder.embed(texts)))  # type: ignore[misc]
            whole.append(_seconds(lambda service=service: service.ingester.ingest(TENANT, rows)))  # type: ignore[misc]
    yield Measure("the embedder alone", len(texts) / min(alone), "/s", "")
    yield Measure("ingest", len(texts) / min(whole), "/s", "")
    yield Measure("ingest: ratio to the embedder alone", min(alone) / min(whole), "x", ">= 0.9")


def _opensearch(arguments: argparse.Namespace) -> Iterable[Measure]:
    from benchmarks.opensearch_peer import bulk_ratio, search_ratio

    settings = read_settings({}, engine_url=arguments.engine, index_prefix="waspeed", engine_timeout_s=120.0)
    with open_service(settings) as service:
        writes = list(synthetic_writes(service.embedder, arguments.passages))
        yield Measure(
            f"opensearch: bulk load at {arguments.passages}, ratio to the bare bulk", bulk_ratio(service, TENANT, writes), "x", ">= 0.9"
        )
        yield Measure("opensearch: search p50, ratio to the bare _msearch", search_ratio(service, TENANT), "x", "<= 1.3")
        service.engine.erase(TENANT)


def _fill(service: Service, count: int) -> float:
    started = time.perf_counter()
    for chunk in _chunks(synthetic_writes(service.embedder, count), 500):
        service.engine.write(TENANT, chunk)
    service.engine.refresh(TENANT)
    return time.perf_counter() - started


def _chunks(writes: Iterable[DocumentWrite], size: int) -> Iterable[list[DocumentWrite]]:
    iterator = iter(writes)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk


def _p50(call: Callable[[str], object], questions: list[str]) -> float:
    call(questions[0])
    return 1000 * statistics.median(_seconds(lambda question=question: call(question)) for question in questions)  # type: ignore[misc]


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_fresh_process(*arguments: str) -> list[Measure]:
    """Run a part in a process of its own, so that peak memory is that part's."""
    command = [sys.executable, "-m", "benchmarks.speed", *arguments, "--json"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 (our own module)
    return [Measure(**json.loads(line)) for line in output.splitlines()]


if __name__ == "__main__":
    main()
