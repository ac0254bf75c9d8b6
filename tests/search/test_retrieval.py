"""Finding passages, end to end: the built-in embedder over an embedded store."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runtime.clock import Deadline, SettableClock, SystemClock
from runtime.errors import DeadlineExceeded, InvalidRequest, Unavailable
from runtime.settings import Settings, read_settings
from runtime.tenancy import Tenant, tenant_named
from search.documents import EVERYTHING, Document, DocumentWrite, Filters, Source, Vectors
from search.embedding.minilm import MiniLM
from search.engines.embedded import open_embedded
from search.identity import content_hash, group_key
from search.passages import split
from search.ports import Embedder, Engine
from search.ranking import LegQuery, Legs, Retrieval
from search.retrieval import COSINE_FLOOR, Retriever

ACME, OTHER = tenant_named("acme"), tenant_named("other")
DAY = datetime(2026, 11, 1, tzinfo=UTC)

TEXTS = {
    "save": "The code SAVE20 was refused at checkout.",
    "save-words": "I tried to save 20 euros with the discount code but checkout refused it.",
    "save-other": "My discount code WELCOME10 was refused at checkout, please help.",
    "err": "After the update I get ERR-4012 every time.",
    "err-other": "After the update I get ERR-4013 every time.",
    "version": "It crashes since v2.3.1 was installed.",
    "version-other": "It crashes since v2.3.10 was installed.",
    "card-1": "Why was my card payment declined?",
    "card-2": "My card was refused at the shop yesterday.",
    "late-1": "The parcel arrived three weeks late.",
    "late-2": "the parcel arrived three weeks late",
    "late-3": "The parcel arrived three weeks late!",
    "battery": "The battery drains fast and does not work well in the cold.",
    "chinese": "我的卡付款被拒绝了，请帮忙。",
    "arabic": "تم رفض الدفع بالبطاقة في المتجر",
    "emoji": "So happy 😀😀",
}


@dataclass(frozen=True, slots=True)
class Shelf:
    """An engine with documents, and the parts of a retriever."""

    engine: Engine
    embedder: Embedder
    settings: Settings

    def load(self, texts: Mapping[str, str], tenant: Tenant = ACME, **fields: object) -> None:
        documents = [replace(Document(doc_id, Source("chat"), text, DAY), **fields) for doc_id, text in texts.items()]  # type: ignore[arg-type]
        passages = [split(document) for document in documents]
        vectors = [self.embedder.embed([passage.text for passage in cut]) for cut in passages]
        writes = [
            DocumentWrite(document, None, content_hash(document), group_key(document.text), cut, rows)
            for document, cut, rows in zip(documents, passages, vectors, strict=True)
        ]
        for start in range(0, len(writes), 500):
            self.engine.write(tenant, writes[start : start + 500])
        self.engine.refresh(tenant)

    def retriever(self, *, engine: Engine | None = None, embedder: Embedder | None = None) -> Retriever:
        return Retriever(engine or self.engine, embedder or self.embedder, self.settings, SettableClock(DAY))

    def find(self, query: str, filters: Filters = EVERYTHING, **options: object) -> Retrieval:
        return self.retriever().retrieve(ACME, query, filters, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def minilm() -> Iterator[MiniLM]:
    embedder = MiniLM(threads=1)
    yield embedder
    embedder.close()


@contextmanager
def shelf_in(folder: Path, embedder: MiniLM, **settings: object) -> Iterator[Shelf]:
    with open_embedded(folder / "store.db", model=embedder.model, dimension=embedder.dimension, clock=SystemClock()) as engine:
        yield Shelf(engine, embedder, read_settings({}, **settings))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, minilm: MiniLM) -> Iterator[Shelf]:
    with shelf_in(tmp_path_factory.mktemp("shelf"), minilm) as filled:
        filled.load(TEXTS)
        yield filled


def ids(found: Retrieval) -> list[str]:
    return [hit.candidate.passage.doc_id for hit in found.hits]


@pytest.mark.parametrize("fusion", ["rrf", "weighted"])
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("SAVE20", "save"),
        ("does save20 work", "save"),
        ("ERR-4012", "err"),
        ("what is ERR 4012", "err"),
        ("err_4012", "err"),
        ("crash in v2.3.1", "version"),
        ("crash in 2.3.10", "version-other"),
        ('"drains fast"', "battery"),
    ],
)
def test_exact_codes_and_phrases_come_first(shelf: Shelf, query: str, first: str, fusion: str) -> None:
    assert ids(shelf.find(query, fusion=fusion))[0] == first


def test_a_paraphrase_without_shared_words_is_found(shelf: Shelf) -> None:
    assert set(ids(shelf.find("credit transaction got rejected", top_k=2))) == {"card-1", "card-2"}


def test_equal_texts_take_one_place_and_are_all_named(shelf: Shelf) -> None:
    found = shelf.find("parcel came late")
    first = found.hits[0]
    assert first.group_size == 3
    assert first.group_ids == ("late-1", "late-2", "late-3")
    assert len([doc_id for doc_id in ids(found) if doc_id.startswith("late")]) == 1


def test_group_sizes_respect_the_filters(shelf: Shelf) -> None:
    found = shelf.find("parcel came late", Filters(doc_ids=("late-2", "late-3", "card-1")))
    assert (found.hits[0].group_size, found.hits[0].group_ids, found.scope) == (2, ("late-2", "late-3"), 3)


def test_no_document_comes_twice_even_with_many_matching_passages(tmp_path: Path, minilm: MiniLM) -> None:
    with shelf_in(tmp_path, minilm) as shelf:
        shelf.load(
            {
                "long": " ".join(f"The parcel number {n} arrived late and the box was wet." for n in range(200)),
                "short": "The parcel arrived late.",
            }
        )
        assert sorted(ids(shelf.find("parcel arrived late"))) == ["long", "short"]


def test_more_is_asked_for_when_groups_use_up_the_first_hundred(tmp_path: Path, minilm: MiniLM) -> None:
    with shelf_in(tmp_path, minilm) as shelf:
        shelf.load(
            {f"same-{n:03d}": "The parcel arrived late." for n in range(150)}
            | {f"other-{n}": f"The letter number {n} came early." for n in range(5)}
        )
        found = shelf.find("parcel arrived late", top_k=5)
        assert len(found.hits) == 5
        assert found.hits[0].group_size == 150
        assert len(found.hits[0].group_ids) == 100


def test_every_score_of_a_hit_is_explained(shelf: Shelf) -> None:
    for fusion in ("rrf", "weighted"):
        for rank, hit in enumerate(shelf.find("card payment declined", fusion=fusion).hits, start=1):
            assert hit.rank == rank
            assert hit.score == pytest.approx(sum(feature.contribution for feature in hit.features), abs=1e-9)
            assert hit.fused.score == pytest.approx(hit.fused.lexical_contribution + hit.fused.vector_contribution)
            assert hit.fused.lexical_rank or hit.fused.vector_rank


def test_the_same_question_gives_the_same_bytes(shelf: Shelf) -> None:
    assert repr(shelf.find("card payment declined")) == repr(shelf.find("card payment declined"))


def test_nonsense_has_no_hits_but_the_nearest_are_kept_for_display(shelf: Shelf) -> None:
    found = shelf.find("quantum chromodynamics of gluon plasma")
    assert found.hits == ()
    assert len(found.nearest) == 3
    assert found.nearest[0].score < COSINE_FLOOR
    assert found.scope == len(TEXTS)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("我的卡付款", "chinese"),
        ("رفض الدفع بالبطاقة", "arabic"),
        ("😀", "emoji"),
        ("why is the", None),
        ("?!", None),
        ("card " * 2_000, "card-2"),
    ],
)
def test_any_script_stop_words_and_very_long_questions_behave(shelf: Shelf, query: str, expected: str | None) -> None:
    found = shelf.find(query)
    assert found.degraded == {}
    assert expected is None or expected in ids(found)[:3]


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\x00", "\u200b"])
def test_an_empty_question_is_named(shelf: Shelf, query: str) -> None:
    with pytest.raises(InvalidRequest, match="query: is empty"):
        shelf.find(query)


def test_a_question_longer_than_the_setting_is_an_error(shelf: Shelf) -> None:
    with pytest.raises(InvalidRequest, match="query: is longer than 20000 characters"):
        shelf.find("why " * 6_000)


def test_half_characters_and_control_characters_do_no_harm(shelf: Shelf) -> None:
    assert "card-1" in ids(shelf.find("card \ud800 payment \x00 declined"))


@pytest.mark.parametrize("top_k", [0, -1, True, 2.5])
def test_top_k_must_be_a_positive_whole_number(shelf: Shelf, top_k: object) -> None:
    with pytest.raises(InvalidRequest, match="top_k"):
        shelf.find("card", top_k=top_k)


def test_a_large_top_k_is_clamped_and_a_small_one_is_kept(shelf: Shelf) -> None:
    assert len(shelf.find("card", top_k=10**9).hits) <= shelf.settings.max_top_k
    assert len(shelf.find("the parcel or the card", top_k=1).hits) == 1


def test_an_unknown_fusion_is_named(shelf: Shelf) -> None:
    with pytest.raises(InvalidRequest, match="fusion: must be rrf or weighted"):
        shelf.find("card", fusion="borda")


def test_filters_that_match_nothing_give_an_empty_retrieval(shelf: Shelf) -> None:
    found = shelf.find("card payment declined", Filters(since=DAY + timedelta(days=1)))
    assert (found.hits, found.scope, found.nearest) == ((), 0, ())


def test_another_tenant_sees_nothing(shelf: Shelf) -> None:
    assert shelf.retriever().retrieve(OTHER, "card payment declined").hits == ()


class LostEmbedder:
    """An embedder whose endpoint is down."""

    model, dimension = "lost", 384

    def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> Vectors:  # noqa: ARG002
        raise Unavailable("connection refused", dependency="embedder")


def test_a_lost_embedder_degrades_to_words_and_says_so(shelf: Shelf) -> None:
    found = shelf.retriever(embedder=LostEmbedder()).retrieve(ACME, "card payment declined")
    assert ids(found)[0] == "card-1"
    assert found.degraded == {
        "vector_leg": "the embedder did not answer (connection refused); ranked by words alone, so paraphrases may be missing"
    }
    assert all(hit.fused.vector_rank is None for hit in found.hits)


class OneLegged:
    """An engine that loses a leg, in front of a real one."""

    def __init__(self, engine: Engine, lost: str) -> None:
        self._engine, self._lost = engine, lost

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def legs(self, tenant: Tenant, query: LegQuery, *, deadline: Deadline | None = None) -> Legs:
        legs = self._engine.legs(tenant, query, deadline=deadline)
        return replace(legs, **{self._lost: ()}, lost={self._lost: "search_phase_execution_exception"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lost", "changed"), [("lexical", "exact words and codes may be missing"), ("vector", "paraphrases may be missing")]
)
def test_a_lost_leg_is_named_and_the_other_still_answers(shelf: Shelf, lost: str, changed: str) -> None:
    found = shelf.retriever(engine=OneLegged(shelf.engine, lost)).retrieve(ACME, "card payment declined")  # type: ignore[arg-type]
    assert ids(found)[0] == "card-1"
    assert list(found.degraded) == [f"{lost}_leg"]
    assert changed in found.degraded[f"{lost}_leg"]


def test_a_passed_deadline_is_an_error_and_not_a_degraded_answer(shelf: Shelf) -> None:
    clock = SettableClock(DAY)
    deadline = Deadline.after(1.0, clock)
    clock.elapsed_s = 2.0
    with pytest.raises(DeadlineExceeded):
        shelf.find("a question never asked before", deadline=deadline)
