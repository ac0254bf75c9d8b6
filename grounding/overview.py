"""Evidence for questions that name no topic: every document bears on them, so the newest are read."""

from collections.abc import Collection

from grounding.addressing import gives_orders
from grounding.answerability import Judgement, SentenceScore
from grounding.evidence import candidates_of
from grounding.sentences import sentences
from runtime.tenancy import Tenant
from search.documents import Filters
from search.ports import Engine
from search.ranking import Candidate, Fused, Hit, Retrieval

_PAGE = 1000


def newest_hits(engine: Engine, tenant: Tenant, filters: Filters, limit: int, *, beside: Collection[Hit] = ()) -> tuple[Hit, ...]:
    """The newest documents as hits, one for each text not among ``beside``; a long document with its first passage. No leg ranked them: score 0."""
    taken = {hit.candidate.group_key for hit in beside}
    found: dict[str, Candidate] = {}
    for document in engine.documents(tenant, filters, first=min(_PAGE, 4 * limit)).documents:
        candidate = candidates_of(document)[0]
        if len(found) < limit and candidate.group_key not in taken:
            found.setdefault(candidate.group_key, candidate)
    groups = engine.group_members(tenant, list(found), filters) if found else {}
    hits = []
    for rank, (key, candidate) in enumerate(found.items(), len(beside) + 1):
        group = groups.get(key)
        size, ids = (group.count, group.doc_ids) if group else (1, (candidate.passage.doc_id,))
        hits.append(Hit(candidate, rank, 0.0, _unranked(candidate), (), size, ids))
    return tuple(hits)


def every_sentence(retrieval: Retrieval) -> Judgement:
    """Every sentence of the evidence as an answer, in order of rank: where no topic is asked for there is nothing to be beside it. Passages that give
    orders count only where there are no others."""
    passages = [hit.candidate.passage for hit in retrieval.hits]
    harmless = [passage for passage in passages if not gives_orders(passage.text)]
    listed = tuple(
        SentenceScore(passage.doc_id, passage.passage_id, passage.start + span.start, passage.start + span.end, span.of(passage.text), 1.0)
        for passage in harmless or passages
        for span in sentences(passage.text)
    )
    return Judgement(1.0 if listed else 0.0, 0.0, "", (), listed)


def _unranked(candidate: Candidate) -> Fused:
    return Fused(candidate, 0.0, None, None, 0.0, None, None, 0.0)
