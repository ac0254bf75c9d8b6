"""Find: embed the question, ask the engine for both legs at once, fuse, give each group of equal texts one place, rerank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from runtime.clock import Clock, Deadline, halfway
from runtime.errors import InvalidRequest, Misconfigured, Unavailable
from runtime.settings import Settings
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Filters, Vector
from search.fusion import leg_weights, rrf, weighted
from search.ingest.cleaning import cleaned, visible
from search.ports import Embedder, Engine
from search.query_shape import QueryShape, shape_of
from search.ranking import Fused, Hit, LegHit, LegQuery, Legs, Retrieval
from search.reranking import Ranked, rerank

Fusion = Literal["rrf", "weighted"]

SHALLOWEST, DEEPEST = 100, 1_000
RERANKED = 40
COSINE_FLOOR = 0.15
"""A passage that shares no word with the question and lies below this cosine is left out of the hits. With the built-in embedder that is where
unrelated texts lie, and fewer than 1 in 200 of the passages that answer a question; models that crowd all texts together are never below it."""

NEAREST = 3
EMBEDDED_CHARS = 8_000


class Retriever:
    """The way to find passages. Holds no state of its own; safe to share between threads."""

    def __init__(self, engine: Engine, embedder: Embedder, settings: Settings, clock: Clock) -> None:
        self._engine = engine
        self._embedder = embedder
        self._settings = settings
        self._clock = clock

    def retrieve(
        self,
        tenant: Tenant,
        query: str,
        filters: Filters = EVERYTHING,
        *,
        top_k: int = 10,
        fusion: Fusion | None = None,
        deadline: Deadline | None = None,
    ) -> Retrieval:
        """The best ``top_k`` places for a question (more than ``settings.max_top_k`` is clamped), each document at most once.

        A lost embedder or leg is named in ``degraded`` with what that changed; the embedder gets half of the time. Nothing found is a retrieval without hits.

        Raises:
            InvalidRequest: the query is empty or too long, ``top_k`` is below 1, or the fusion is unknown.
            Unavailable: the engine answered on neither leg.
        """
        question = self._question(tenant, query, filters, top_k, fusion)
        degraded: dict[str, str] = {}
        vector = self._vector(question.text, deadline, degraded)
        legs, candidates = self._candidates(question, vector, deadline, degraded)
        pool = candidates[: max(RERANKED, question.top_k)]
        weights = leg_weights(question.shape, legs.lexical, legs.vector)
        ranked = rerank(question.text, question.shape, pool, weights=weights, top_k=question.top_k)
        return Retrieval(
            query=question.text,
            filters=filters,
            hits=self._hits(question, ranked),
            scope=legs.scope,
            fusion=question.fusion,
            degraded=degraded,
            nearest=_one_per_document(legs.vector)[:NEAREST],
            vector=vector if len(question.text) <= EMBEDDED_CHARS else None,
        )

    def _question(self, tenant: Tenant, query: str, filters: Filters, top_k: int, fusion: Fusion | None) -> "Question":
        text = cleaned(query).text
        if not visible(text):
            raise InvalidRequest("is empty; ask in words", field="query")
        if len(query) > self._settings.max_question_chars:
            raise InvalidRequest(f"is longer than {self._settings.max_question_chars} characters; ask a shorter question", field="query")
        if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
            raise InvalidRequest("must be a whole number of at least 1", field="top_k")
        chosen = fusion or self._settings.fusion
        if chosen not in ("rrf", "weighted"):
            raise InvalidRequest("must be rrf or weighted", field="fusion")
        return Question(tenant, text, shape_of(text), filters, min(top_k, self._settings.max_top_k), chosen)

    def _vector(self, text: str, deadline: Deadline | None, degraded: dict[str, str]) -> Vector | None:
        try:
            vector: Vector = self._embedder.embed([text[:EMBEDDED_CHARS]], deadline=deadline and halfway(deadline))[0]
        except (Unavailable, Misconfigured) as error:  # a revoked key, too, costs only the vector leg
            degraded["vector_leg"] = f"the embedder did not answer ({error}); ranked by words alone, so paraphrases may be missing"
            return None
        return vector

    def _candidates(
        self, question: "Question", vector: Vector | None, deadline: Deadline | None, degraded: dict[str, str]
    ) -> tuple[Legs, list[Fused]]:
        """Legs deep enough to fill ``top_k`` places, and their fusion with one place per group and document, best first."""
        depth = min(DEEPEST, max(SHALLOWEST, self._settings.candidate_multiplier * question.top_k))
        while True:
            query = LegQuery(question.words, vector, question.filters, depth)
            legs = self._engine.legs(question.tenant, query, deadline=deadline)
            candidates = collapsed(worth_showing(self._fused(question, legs)))
            full = depth in (len(legs.lexical), len(legs.vector))
            if len(candidates) >= question.top_k or not full or depth == DEEPEST:
                break
            depth = min(DEEPEST, 4 * depth)
        degraded.update(_lost(legs, vector))
        return legs, candidates

    def _fused(self, question: "Question", legs: Legs) -> tuple[Fused, ...]:
        weights = leg_weights(question.shape, legs.lexical, legs.vector)
        if question.fusion == "rrf":
            return rrf(legs.lexical, legs.vector, self._settings.rrf_k, weights)
        return weighted(legs.lexical, legs.vector, weights)

    def _hits(self, question: "Question", ranked: Sequence[Ranked]) -> tuple[Hit, ...]:
        keys = list(dict.fromkeys(one.fused.candidate.group_key for one in ranked))
        groups = self._engine.group_members(question.tenant, keys, question.filters) if keys else {}
        hits = []
        for rank, one in enumerate(ranked, start=1):
            candidate = one.fused.candidate
            group = groups.get(candidate.group_key)
            size, ids = (group.count, group.doc_ids) if group else (1, (candidate.passage.doc_id,))
            hits.append(Hit(candidate, rank, one.score, one.fused, one.features, size, ids))
        return tuple(hits)


@dataclass(frozen=True, slots=True)
class Question:
    """A checked request. ``text`` is storable; ``words`` is what the lexical leg is asked for."""

    tenant: Tenant
    text: str
    shape: QueryShape
    filters: Filters
    top_k: int
    fusion: Fusion

    @property
    def words(self) -> str:
        """The text, with every other way to write its codes."""
        other = [spelling for code in self.shape.codes for spelling in code.spellings]
        return " ".join([*other, self.text]) if other else self.text


def worth_showing(fused: Sequence[Fused]) -> list[Fused]:
    """Without passages that share no word with the question and are far from it in meaning too."""
    return [one for one in fused if one.lexical_score is not None or (one.vector_score or 0.0) >= COSINE_FLOOR]


def collapsed(fused: Sequence[Fused]) -> list[Fused]:
    """The best passage of each group of equal texts, and at most one per document, in order."""
    groups: set[str] = set()
    documents: set[str] = set()
    kept = []
    for one in fused:
        candidate = one.candidate
        if candidate.group_key not in groups and candidate.passage.doc_id not in documents:
            kept.append(one)
        groups.add(candidate.group_key)
        documents.add(candidate.passage.doc_id)
    return kept


def _one_per_document(leg: Sequence[LegHit]) -> tuple[LegHit, ...]:
    best: dict[str, LegHit] = {}
    for hit in leg:
        best.setdefault(hit.candidate.passage.doc_id, hit)
    return tuple(best.values())


def _lost(legs: Legs, vector: Vector | None) -> Mapping[str, str]:
    changed = {
        "lexical": "ranked by meaning alone, so exact words and codes may be missing",
        "vector": "ranked by words alone, so paraphrases may be missing",
    }
    return {f"{leg}_leg": f"{reason}; {changed[leg]}" for leg, reason in legs.lost.items() if leg != "vector" or vector is not None}
