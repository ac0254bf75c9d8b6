"""The embedded engine by itself: ``python -m benchmarks.embedded_speed [--passages 100000]``.

Pairs of sample messages with random unit vectors, so no model is measured. Loading, and then a fresh process on the file: start, both legs, one
write and the read after it, peak memory.
"""

import argparse
import itertools
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from api.sample import sample_documents
from runtime.clock import SystemClock
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Document, DocumentWrite, Filters, Passage, Source, Vector, passage_id
from search.engines.embedded import EmbeddedEngine, open_embedded
from search.identity import content_hash, group_key
from search.ranking import BucketQuery, LegQuery

TENANT = Tenant("speed")
DIMENSION = 384
QUESTIONS = 100
_START = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    """Load in this process, then measure in a fresh one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--store", type=Path, default=None, help="measure on this file instead of loading one")
    arguments = parser.parse_args()
    if arguments.store is not None:
        _measure(arguments.store)
        return
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "speed.db"
        _load(store, arguments.passages)
        subprocess.run([sys.executable, "-m", "benchmarks.embedded_speed", "--store", str(store)], check=True)  # noqa: S603 (our own module)


def _load(store: Path, count: int) -> None:
    started = time.perf_counter()
    with _opened(store) as engine:
        writes = _writes(count)
        while chunk := list(itertools.islice(writes, 500)):
            engine.write(TENANT, chunk)
    seconds = time.perf_counter() - started
    print(f"load {count} passages: {seconds:.1f} s, {count / seconds:.0f} /s, file {store.stat().st_size / 1e6:.0f} MB")


def _measure(store: Path) -> None:
    idle_mb = _peak_mb()
    started = time.perf_counter()
    with _opened(store) as engine:
        corpus = engine.corpus(TENANT)
        print(f"start on a warm file: {time.perf_counter() - started:.2f} s for {corpus.passages} passages")
        print(f"memory after the start beyond an idle process: {_peak_mb() - idle_mb:.0f} MB")
        _queries(engine)
        _p50("write one document and search it", lambda q: (engine.write(TENANT, [_write(10**7 + hash(q) % 10**6, q)]), _legs(engine, q)))
    print(f"peak memory beyond an idle process: {_peak_mb() - idle_mb:.0f} MB")


def _queries(engine: EmbeddedEngine) -> None:
    narrow = Filters(account_ids=("a-007",))
    _p50("both legs", lambda q: _legs(engine, q))
    _p50("both legs, one account of 500", lambda q: _legs(engine, q, narrow))
    _p50("lexical leg", lambda q: engine.legs(TENANT, LegQuery(q, None, EVERYTHING)))
    _p50("themes of everything", lambda _: engine.aggregate(TENANT, BucketQuery("theme", EVERYTHING)))
    _p50("themes of a match", lambda _: engine.aggregate(TENANT, BucketQuery("theme", EVERYTHING, match="card payment")))
    _p50(
        "weeks of a phrase",
        lambda _: engine.aggregate(TENANT, BucketQuery("week", EVERYTHING, match='"my card"', time_zone="Europe/Paris")),
    )
    _p50("a page of documents", lambda _: engine.documents(TENANT, EVERYTHING))
    _p50("corpus", lambda _: engine.corpus(TENANT))


def _legs(engine: EmbeddedEngine, question: str, filters: Filters = EVERYTHING) -> object:
    return engine.legs(TENANT, LegQuery(question, _vector(np.random.default_rng(len(question))), filters))


def _p50(name: str, call: Callable[[str], object]) -> None:
    call("card")
    seconds = []
    for message in _texts()[:: 3000 // QUESTIONS]:
        started = time.perf_counter()
        call(message)
        seconds.append(time.perf_counter() - started)
    print(f"{name:<40} p50 {1000 * statistics.median(seconds):8.2f} ms   p95 {1000 * sorted(seconds)[int(len(seconds) * 0.95)]:8.2f} ms")


def _writes(count: int) -> Iterator[DocumentWrite]:
    rng = np.random.default_rng(7)
    texts = _texts()
    for number in range(count):
        one, other = rng.integers(0, len(texts), size=2)
        yield _write(number, f"{texts[one]} {texts[other]} (case {number})", rng)


def _write(number: int, text: str, rng: np.random.Generator | None = None) -> DocumentWrite:
    doc_id = f"s-{number:07d}"
    document = Document(
        doc_id,
        Source(("chat", "email", "app")[number % 3]),
        text,
        _START + timedelta(minutes=(number * 37) % (300 * 24 * 60)),
        theme_id=f"theme-{number % 77}",
        account_id=f"a-{number % 500:03d}",
        rating=float(number % 5 + 1),
        attributes={"plan": ("pro", "free")[number % 2]},
    )
    passage = Passage(passage_id(doc_id, 0), doc_id, 0, 0, len(text), text)
    vector = _vector(rng or np.random.default_rng(number))
    return DocumentWrite(document, None, content_hash(document), group_key(text), (passage,), vector[np.newaxis])


def _vector(rng: np.random.Generator) -> Vector:
    vector = rng.standard_normal(DIMENSION, dtype=np.float32)
    unit: Vector = vector / np.linalg.norm(vector)
    return unit


def _texts() -> list[str]:
    return [str(message["text"]) for message in sample_documents()][:3000]


def _opened(store: Path) -> AbstractContextManager[EmbeddedEngine]:
    return open_embedded(store, model="random", dimension=DIMENSION, clock=SystemClock())


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
