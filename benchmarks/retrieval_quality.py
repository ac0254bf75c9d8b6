"""How good is what is found? ``python -m benchmarks.retrieval_quality [--data FOLDER] [--engine URL]``.

The ablation: each leg alone, plain fusions, fusions weighted by what the question looks like, and the whole pipeline as a user gets it, with either
fusion. Intervals are 95 % bootstraps over questions; the last lines compare the pipeline with the better leg, question by question. Weights and
constants of ``search/fusion.py`` and ``search/reranking.py`` were chosen on these files (and watched on SQuAD questions), so the figures are of
development, not of unseen text.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.judged_corpora import CORPORA, CUT, JudgedCorpus, JudgedQuestion
from benchmarks.vectors import VectorShelf
from runtime.clock import SystemClock
from runtime.settings import Settings, read_settings
from runtime.tenancy import Tenant, tenant_named
from search.documents import EVERYTHING, Document, DocumentWrite
from search.embedding.opening import open_embedder
from search.engines.opening import open_engine
from search.fusion import leg_weights, rrf, weighted
from search.identity import content_hash, group_key
from search.passages import split
from search.ports import Embedder, Engine
from search.query_shape import shape_of
from search.ranking import Fused, LegHit, LegQuery, Legs
from search.retrieval import Retriever

DEPTH = 100
BOOTSTRAPS = 1_000
PROMISED = {"cranfield": 0.48, "banking77": 0.85}
PIPELINE, SINGLE_LEGS = "full pipeline", ("BM25", "k-NN")

Floats = NDArray[np.float64]
Ranking = list[str]


@dataclass(frozen=True, slots=True)
class Found:
    """Everything one question brought back, before and after the pipeline."""

    question: JudgedQuestion
    legs: Legs
    full: Ranking
    full_weighted: Ranking


def _of_leg(leg: Sequence[LegHit]) -> Ranking:
    return [hit.candidate.passage.doc_id for hit in leg]


def _of_fused(fused: Sequence[Fused]) -> Ranking:
    return [one.candidate.passage.doc_id for one in fused]


def _shaped(found: Found, *, ranks: bool) -> Ranking:
    weights = leg_weights(shape_of(found.question.text), found.legs.lexical, found.legs.vector)
    both = found.legs.lexical, found.legs.vector
    return _of_fused(rrf(*both, weights=weights) if ranks else weighted(*both, weights=weights))


SYSTEMS: Mapping[str, Callable[[Found], Ranking]] = {
    "BM25": lambda found: _of_leg(found.legs.lexical),
    "k-NN": lambda found: _of_leg(found.legs.vector),
    "RRF, plain": lambda found: _of_fused(rrf(found.legs.lexical, found.legs.vector)),
    "weighted, even": lambda found: _of_fused(weighted(found.legs.lexical, found.legs.vector)),
    "RRF, legs by shape": lambda found: _shaped(found, ranks=True),
    "weighted, legs by shape": lambda found: _shaped(found, ranks=False),
    "full pipeline, weighted": lambda found: found.full_weighted,
    PIPELINE: lambda found: found.full,
}


def main() -> None:
    """Print the tables; exit code 1 when the pipeline misses what is promised."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--engine", default="", help="URL of an OpenSearch cluster; the embedded engine without it")
    parser.add_argument("--vectors", type=Path, help="file that keeps vectors between runs")
    parser.add_argument("--only", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    arguments = parser.parse_args()
    failures = []
    with open_embedder(read_settings({})) as embedder:
        shelf = VectorShelf(embedder, arguments.vectors)
        for name in arguments.only:
            corpus = CORPORA[name](arguments.data)
            with _loaded(corpus, shelf, embedder, arguments.engine) as (engine, settings, tenant):
                found = [_found(engine, embedder, settings, tenant, question) for question in corpus.questions]
                described = engine.describe()
            scores = _scores(corpus, found)
            print(
                f"\n{corpus.name} on {described['engine']} {described['version']}: {len(corpus.documents)} documents, {len(found)} questions"
            )
            print("\n".join(_table(corpus, scores)), flush=True)
            failures += _missed(corpus, scores)
    if failures:
        sys.exit("below the promise: " + "; ".join(failures))


@contextmanager
def _loaded(corpus: JudgedCorpus, shelf: VectorShelf, embedder: Embedder, url: str) -> Iterator[tuple[Engine, Settings, Tenant]]:
    tenant = tenant_named(corpus.name)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        settings = read_settings({}, engine_url=url or f"sqlite:///{folder}/quality.db", index_prefix="waquality", engine_timeout_s=120.0)
        engine = stack.enter_context(open_engine(settings, embedder, SystemClock())).engine
        engine.erase(tenant)
        _load(engine, tenant, corpus.documents, shelf)
        yield engine, settings, tenant
        engine.erase(tenant)


def _load(engine: Engine, tenant: Tenant, documents: Sequence[Document], shelf: VectorShelf) -> None:
    cut = [(document, split(document)) for document in documents]
    shelf.add(passage.text for _, passages in cut for passage in passages)
    writes = [
        DocumentWrite(
            document, None, content_hash(document), group_key(document.text), passages, np.stack([shelf[each.text] for each in passages])
        )
        for document, passages in cut
    ]
    for start in range(0, len(writes), 500):
        engine.write(tenant, writes[start : start + 500])
    engine.refresh(tenant)


def _found(engine: Engine, embedder: Embedder, settings: Settings, tenant: Tenant, question: JudgedQuestion) -> Found:
    """One place more than is scored, for the document that Cranfield takes out."""
    retriever = Retriever(engine, embedder, settings, SystemClock())
    legs = engine.legs(tenant, LegQuery(question.text, embedder.embed([question.text])[0], EVERYTHING, DEPTH))
    rankings = [
        [hit.candidate.passage.doc_id for hit in retriever.retrieve(tenant, question.text, top_k=CUT + 1, fusion=fusion).hits]
        for fusion in (None, "weighted")
    ]
    return Found(question, legs, *rankings)


def _scores(corpus: JudgedCorpus, found: Sequence[Found]) -> dict[str, Floats]:
    return {name: np.array([corpus.score(ranking(one), one.question) for one in found]) for name, ranking in SYSTEMS.items()}


def _table(corpus: JudgedCorpus, scores: Mapping[str, Floats]) -> Iterator[str]:
    yield f"{'':<26}{corpus.measure_name:>8}   95 % interval"
    for name, values in scores.items():
        low, high = _interval(values)
        yield f"{name:<26}{values.mean():>8.4f}   {low:.4f} .. {high:.4f}"
    best = max(SINGLE_LEGS, key=lambda leg: scores[leg].mean())
    for other in (best, "RRF, plain"):
        difference = scores[PIPELINE] - scores[other]
        low, high = _interval(difference)
        yield f"{PIPELINE} against {other}: {difference.mean():+.4f}, {low:+.4f} .. {high:+.4f}"


def _interval(values: Floats) -> tuple[float, float]:
    generator = np.random.default_rng(0)
    means = [values[generator.integers(0, len(values), len(values))].mean() for _ in range(BOOTSTRAPS)]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _missed(corpus: JudgedCorpus, scores: Mapping[str, Floats]) -> list[str]:
    reached, promised = float(scores[PIPELINE].mean()), PROMISED[corpus.name]
    missed = [f"{corpus.name} {reached:.4f}, promised {promised:.2f}"] if reached < promised else []
    beaten = [leg for leg in SINGLE_LEGS if scores[leg].mean() >= reached]
    return missed + [f"{corpus.name}: {leg} alone is no worse" for leg in beaten]


if __name__ == "__main__":
    main()
