"""Short ways to evidence, rankings and verdicts for tests."""

from datetime import UTC, datetime

from grounding.answers import ClaimKind, Draft, Evidence
from search.documents import EVERYTHING, Passage, Source, passage_id
from search.ranking import Candidate, Fused, Hit, Retrieval

WHEN = datetime(2026, 11, 12, 9, 30, tzinfo=UTC)


def candidate(doc_id: str, text: str, *, start: int = 0, number: int = 0) -> Candidate:
    """One passage of a document, as retrieved."""
    passage = Passage(passage_id(doc_id, number), doc_id, number, start, start + len(text), text)
    return Candidate(passage, Source("support_ticket"), WHEN, group_key=doc_id, version=3)


def evidence(**texts: str) -> Evidence:
    """Evidence of one-passage documents; ``R_1`` is the id ``R-1``."""
    return Evidence(tuple(candidate(name.replace("_", "-"), text) for name, text in texts.items()))


def draft(text: str, *cites: str, kind: ClaimKind = ClaimKind.FINDING) -> Draft:
    """A sentence somebody proposes."""
    return Draft(text, kind, cites)


def retrieval(question: str, **texts: str) -> Retrieval:
    """A ranking in the order given, without scores of the vector leg."""
    found = evidence(**texts).candidates
    hits = tuple(
        Hit(one, rank, 1.0 / rank, Fused(one, 1.0 / rank, None, None, 0.0, None, None, 0.0), ()) for rank, one in enumerate(found, start=1)
    )
    return Retrieval(question, EVERYTHING, hits, len(found), "rrf")
