"""The same documents and questions on both engines, after a merge: the same answer, as ``docs/how-it-works.md`` defines it."""

import random
import uuid
from collections.abc import Iterator
from datetime import datetime
from functools import cache

import numpy as np
import pytest

from api.sample import sample_documents
from benchmarks.parity import compared, load, merge, same_up_to_ties, summed_up
from runtime.clock import SystemClock
from runtime.tenancy import tenant_named
from search.analysis import tokens
from search.documents import EVERYTHING, Document, DocumentWrite, Filters, Source, Vector
from search.engines.embedded import open_embedded
from search.engines.opensearch import OpenSearchEngine, open_opensearch
from search.engines.opensearch_names import Names
from search.identity import content_hash, group_key
from search.passages import split
from search.ports import Engine
from search.ranking import BucketQuery, LegHit, LegQuery
from tests.search.engines.scripted import settings_of
from tests.servers import remove_prefix

live = pytest.mark.live("opensearch")

DIMENSION = 64
MODEL = "random-projection"
TENANT = tenant_named("parity")
QUESTIONS = 300


@cache
def direction(term: str) -> Vector:
    """A random direction for each term."""
    return np.random.default_rng(list(term.encode())).normal(size=DIMENSION).astype(np.float32)


def vector(text: str) -> Vector:
    """The sum of the directions of a text's terms, of unit length: texts that share terms are near each other."""
    total = np.sum([direction(term) for term in tokens(text)] or [direction("")], axis=0)
    return (total / np.linalg.norm(total)).astype(np.float32)


def as_write(row: dict[str, object]) -> DocumentWrite:
    document = Document(
        str(row["doc_id"]), Source(str(row["source"])), str(row["text"]), datetime.fromisoformat(str(row["occurred_at"])),
        theme_id=str(row["theme_id"]), account_id=str(row["account_id"]),
    )  # fmt: skip
    passages = split(document)
    vectors = np.stack([vector(passage.text) for passage in passages])
    return DocumentWrite(document, None, content_hash(document), group_key(document.text), passages, vectors)


@pytest.fixture(scope="module")
def writes() -> list[DocumentWrite]:
    return [as_write(row) for row in sample_documents()]


@pytest.fixture(scope="module")
def questions(writes: list[DocumentWrite]) -> list[str]:
    """Halves of two messages each, so that no question is a document."""
    choose = random.Random(7)
    texts = [write.document.text.split() for write in writes]
    pairs = [(choose.choice(texts), choose.choice(texts)) for _ in range(QUESTIONS)]
    return [" ".join([*first[: len(first) // 2], *second[len(second) // 2 :]]) for first, second in pairs]


@pytest.fixture(scope="module")
def engines(
    opensearch_url: str, writes: list[DocumentWrite], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Engine, OpenSearchEngine]]:
    """Both engines with the sample, merged. Nothing is deleted: OpenSearch keeps what is for a while, and counts it in BM25's statistics."""
    settings = settings_of(opensearch_url, "t" + uuid.uuid4().hex[:12])
    file = tmp_path_factory.mktemp("parity") / "store.db"
    clock = SystemClock()
    with (
        open_embedded(file, model=MODEL, dimension=DIMENSION, clock=clock) as embedded,
        open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=clock) as cluster,
    ):
        load(TENANT, writes, embedded, cluster)
        merge(cluster, opensearch_url, Names(settings.index_prefix, TENANT))
        yield embedded, cluster
    remove_prefix(opensearch_url, settings.index_prefix)


@live
def test_both_engines_rank_the_sample_alike(engines: tuple[Engine, OpenSearchEngine], questions: list[str]) -> None:
    parity = summed_up([compared(*engines, TENANT, LegQuery(question, vector(question), EVERYTHING)) for question in questions])
    assert parity.lexical >= 0.99
    assert parity.fusion >= 0.99
    assert parity.recall >= 0.98
    assert parity.gap < 1e-4


@live
def test_both_engines_rank_alike_under_filters(
    engines: tuple[Engine, OpenSearchEngine], writes: list[DocumentWrite], questions: list[str]
) -> None:
    filters = [
        Filters(theme_ids=tuple({write.document.theme_id for write in writes[start : start + 5] if write.document.theme_id}))
        for start in range(0, 50, 5)
    ]
    results = [
        compared(*engines, TENANT, LegQuery(question, vector(question), filters[number % len(filters)]))
        for number, question in enumerate(questions[:100])
    ]
    parity = summed_up(results)
    assert (parity.lexical, parity.fusion, parity.recall) == (1.0, 1.0, 1.0)


@live
def test_both_engines_count_the_sample_alike(engines: tuple[Engine, OpenSearchEngine]) -> None:
    embedded, cluster = engines
    for match in (None, "card", '"my card"', "top up failed", '"out of"'):
        for by in ("theme", "source", "account", "day", "week", "month"):
            query = BucketQuery(by, EVERYTHING, match=match, time_zone="America/New_York", ids_per_bucket=5)
            ours, theirs = embedded.aggregate(TENANT, query), cluster.aggregate(TENANT, query)
            assert (ours.buckets, ours.total, ours.scope, ours.without) == (theirs.buckets, theirs.total, theirs.scope, theirs.without)
        assert embedded.documents(TENANT, EVERYTHING, match=match, first=100) == cluster.documents(
            TENANT, EVERYTHING, match=match, first=100
        )


@live
def test_both_engines_describe_the_corpus_alike(engines: tuple[Engine, OpenSearchEngine]) -> None:
    ours, theirs = (engine.corpus(TENANT) for engine in engines)
    assert ours.generation != 0
    for name in (
        "documents",
        "passages",
        "groups",
        "first_occurred_at",
        "last_occurred_at",
        "sources",
        "themes",
        "without_theme",
        "model",
        "dimension",
    ):
        assert getattr(ours, name) == getattr(theirs, name)


def leg(*hits: tuple[str, float]) -> list[LegHit]:
    from search.engines.opensearch_records import candidate_of

    source = {"number": 0, "start": 0, "end": 1, "text": "x", "source_kind": "k", "source_name": "", "source_weight": 0.5, "occurred_at": 0}
    made = [candidate_of(source | {"doc_id": name, "group_key": "g", "version": 1}) for name, _ in hits]
    return [LegHit(candidate, score, rank) for rank, (candidate, (_, score)) in enumerate(zip(made, hits, strict=True), start=1)]


def test_passages_with_nearly_equal_scores_may_change_places_and_no_others() -> None:
    assert same_up_to_ties(leg(("a", 2.0), ("b", 1.0)), leg(("a", 4.4), ("b", 2.2)))
    assert same_up_to_ties(leg(("a", 1.0), ("b", 1.00001)), leg(("b", 1.0), ("a", 1.0)))
    assert not same_up_to_ties(leg(("a", 2.0), ("b", 1.0)), leg(("b", 2.0), ("a", 1.0)))
    assert not same_up_to_ties(leg(("a", 2.0)), leg(("a", 2.0), ("b", 1.0)))


def test_a_passage_tied_with_the_last_place_may_be_another_one() -> None:
    assert same_up_to_ties(leg(("a", 2.0), ("b", 1.0)), leg(("a", 2.0), ("c", 1.0)))
    assert not same_up_to_ties(leg(("a", 2.0), ("b", 1.0)), leg(("c", 2.0), ("b", 1.0)))
