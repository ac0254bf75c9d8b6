"""Do both engines find the same? ``python -m benchmarks.parity [--data FOLDER] --engine URL``.

The same documents and vectors go to an embedded engine and to OpenSearch, whose indices are then merged. For each question the lexical legs and their
fusion (RRF, k 60) must be identical up to ties, and the vector leg of OpenSearch is held against the exact one.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from benchmarks.parity_corpora import CORPORA, ParityCorpus
from benchmarks.vectors import VectorShelf
from runtime.clock import SystemClock
from runtime.settings import read_settings
from runtime.tenancy import Tenant, tenant_named
from search.documents import EVERYTHING, DocumentWrite
from search.embedding.opening import open_embedder
from search.engines.embedded import open_embedded
from search.engines.opensearch import OpenSearchEngine, open_opensearch
from search.engines.opensearch_names import Names
from search.fusion import rrf
from search.identity import content_hash, group_key
from search.passages import split
from search.ports import Embedder, Engine
from search.ranking import LegHit, LegQuery

TIE = 1e-4
DEPTH = 100
SHOWN = 20

Leg = Sequence[LegHit]


@dataclass(frozen=True, slots=True)
class Compared:
    """One question on both engines. ``lexical_gap`` is the largest relative difference of a score, once scales are made equal."""

    lexical_same: bool
    fusion_same: bool
    recall: float
    vector_same: bool
    lexical_gap: float


@dataclass(frozen=True, slots=True)
class Parity:
    """Shares and means over the questions of one corpus."""

    questions: int
    lexical: float
    fusion: float
    recall: float
    vector: float
    gap: float


def compared(reference: Engine, other: Engine, tenant: Tenant, query: LegQuery) -> Compared:
    """One question put to both engines."""
    exact, found = reference.legs(tenant, query), other.legs(tenant, query)
    if exact.scope != found.scope or exact.lost or found.lost:
        raise AssertionError(f"scopes {exact.scope} and {found.scope}, lost {exact.lost} and {found.lost}")
    lexical_same = same_up_to_ties(exact.lexical, found.lexical)
    vector_same = same_up_to_ties(exact.vector, found.vector)
    lexical = exact.lexical if lexical_same else found.lexical
    vector = exact.vector if vector_same else found.vector
    return Compared(
        lexical_same=lexical_same,
        fusion_same=_fused(exact.lexical, exact.vector) == _fused(lexical, vector),
        recall=_recall(exact.vector, found.vector),
        vector_same=vector_same,
        lexical_gap=_gap(exact.lexical, found.lexical),
    )


def summed_up(results: Sequence[Compared]) -> Parity:
    """The figures of one corpus."""
    return Parity(
        questions=len(results),
        lexical=statistics.mean(each.lexical_same for each in results),
        fusion=statistics.mean(each.fusion_same for each in results),
        recall=statistics.mean(each.recall for each in results),
        vector=statistics.mean(each.vector_same for each in results),
        gap=max(each.lexical_gap for each in results),
    )


def same_up_to_ties(reference: Leg, other: Leg) -> bool:
    """The same passages in the same order, but that passages whose scores lie within 1e-4 of each other may stand in any order."""
    if len(reference) != len(other):
        return False
    scores = {hit.candidate.passage.passage_id: hit.score for hit in reference}
    last = reference[-1].score if reference else 0.0
    for expected, found in zip(reference, other, strict=True):
        if _name(expected) != _name(found) and not _tied(expected.score, scores.get(_name(found), last)):
            return False
    return True


def merge(engine: OpenSearchEngine, url: str, names: Names) -> None:
    """One segment in each month, so that nothing deleted is left in any count."""
    engine.refresh(names.tenant)
    httpx.post(f"{url}/{names.alias}/_forcemerge", params={"max_num_segments": 1}, timeout=900).raise_for_status()
    engine.refresh(names.tenant)


def load(tenant: Tenant, writes: Sequence[DocumentWrite], *engines: Engine) -> None:
    """Write the same documents to each engine."""
    for engine in engines:
        for start in range(0, len(writes), 1000):
            engine.write(tenant, writes[start : start + 1000])
        engine.refresh(tenant)


def main() -> None:
    """Print the table; exit code 1 when a corpus misses what is promised."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--engine", required=True, help="URL of an OpenSearch cluster")
    parser.add_argument("--vectors", type=Path, help="file that keeps vectors between runs")
    arguments = parser.parse_args()
    with open_embedder(read_settings({})) as embedder:
        shelf = VectorShelf(embedder, arguments.vectors)
        results = {name: _measured(corpus(arguments.data), shelf, embedder, arguments.engine) for name, corpus in CORPORA.items()}
    print(
        f"{'corpus':<12}{'questions':>10}{'lexical same':>14}{'fusion same':>13}{'vector recall@20':>18}{'vector same':>13}{'largest gap':>13}"
    )
    for name, (parity, _) in results.items():
        print(
            f"{name:<12}{parity.questions:>10}{parity.lexical:>14.4f}{parity.fusion:>13.4f}{parity.recall:>18.4f}{parity.vector:>13.4f}{parity.gap:>13.1e}"
        )
    for name, (_, described) in results.items():
        print(f"{name}: {described}")
    if any(min(parity.lexical, parity.fusion) < 0.99 or parity.recall < 0.98 for parity, _ in results.values()):
        sys.exit("below the promise: lexical and fusion .99, recall .98")


def _measured(corpus: ParityCorpus, shelf: VectorShelf, embedder: Embedder, url: str) -> tuple[Parity, str]:
    tenant = tenant_named("parity")
    cut = [(document, split(document)) for document in corpus.documents]
    shelf.add([passage.text for _, passages in cut for passage in passages] + list(corpus.questions))
    writes = [
        DocumentWrite(
            document, None, content_hash(document), group_key(document.text), passages, np.stack([shelf[each.text] for each in passages])
        )
        for document, passages in cut
    ]
    with _both(url, embedder) as (embedded, cluster, names):
        started = time.perf_counter()
        load(tenant, writes, embedded, cluster)
        merge(cluster, url, names)
        loaded = time.perf_counter() - started
        results = [
            compared(embedded, cluster, tenant, LegQuery(question, shelf[question], EVERYTHING, DEPTH)) for question in corpus.questions
        ]
        cluster.erase(tenant)
    passages = sum(len(passages) for _, passages in cut)
    return summed_up(results), f"{len(cut)} documents, {passages} passages, loaded and merged in {loaded:.0f} s"


@contextmanager
def _both(url: str, embedder: Embedder) -> Iterator[tuple[Engine, OpenSearchEngine, Names]]:
    clock = SystemClock()
    settings = read_settings({}, engine_url=url, index_prefix="waparity", engine_timeout_s=120.0)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        embedded = stack.enter_context(open_embedded(folder / "parity.db", model=embedder.model, dimension=embedder.dimension, clock=clock))
        cluster = stack.enter_context(open_opensearch(settings, model=embedder.model, dimension=embedder.dimension, clock=clock))
        cluster.erase(tenant_named("parity"))
        yield embedded, cluster, Names(settings.index_prefix, tenant_named("parity"))


def _fused(lexical: Leg, vector: Leg) -> list[str]:
    return [fused.candidate.passage.passage_id for fused in rrf(lexical, vector)[:SHOWN]]


def _recall(exact: Leg, found: Leg) -> float:
    wanted = {_name(hit) for hit in exact[:SHOWN]}
    return len(wanted & {_name(hit) for hit in found[:SHOWN]}) / len(wanted) if wanted else 1.0


def _gap(reference: Leg, other: Leg) -> float:
    if not reference or not other:
        return 0.0
    scale = reference[0].score / other[0].score
    scores = {_name(hit): hit.score * scale for hit in other}
    return max((abs(scores[_name(hit)] - hit.score) / hit.score for hit in reference if _name(hit) in scores), default=0.0)


def _name(hit: LegHit) -> str:
    return hit.candidate.passage.passage_id


def _tied(first: float, second: float) -> bool:
    return abs(first - second) <= TIE * max(abs(first), abs(second))


if __name__ == "__main__":
    main()
