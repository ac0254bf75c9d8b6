"""What the verifier may look at: the retrieved passages, as far as the budget reads them, and the copies of what is drafted."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from grounding.addressing import gives_orders
from grounding.answerability import Judgement
from grounding.answers import Citation, Draft, Evidence
from grounding.asking import asks
from grounding.budget import Spending, tokens_in
from runtime.errors import BudgetExceeded
from runtime.tenancy import Tenant
from search.documents import Document, Filters
from search.identity import group_key
from search.passages import split
from search.ports import Engine
from search.ranking import Candidate, Hit, Retrieval

MAX_COPIES = 200
"""Copies of drafted texts that are fetched to be cited; the count of a finding is exact beyond."""


PASSAGES_COMPARED = 10
"""Passages, besides those cited, in which support and contradiction are looked for."""


def readable(retrieval: Retrieval, spending: Spending) -> tuple[Retrieval, int]:
    """The hits whose passages fit the tokens that are left, in order of rank, and how many did not.

    Raises:
        BudgetExceeded: not even the first one fits.
    """
    read: list[Hit] = []
    for hit in retrieval.hits:
        tokens = tokens_in(hit.candidate.passage.text)
        if tokens > spending.tokens_left():
            break
        spending.read(tokens)
        read.append(hit)
    if retrieval.hits and not read:
        spending.read(tokens_in(retrieval.hits[0].candidate.passage.text))
        raise BudgetExceeded("no evidence can be read", ceiling="tokens")
    return replace(retrieval, hits=tuple(read)), len(retrieval.hits) - len(read)


def telling_hits(hits: Sequence[Hit], wanted: int) -> tuple[Hit, ...]:
    """The first ``wanted`` hits; where most of them only ask what the question asks, the later ones that tell something as well."""
    first, later = hits[:wanted], hits[wanted:]
    asking = sum(asks(hit.candidate.passage.text) for hit in first)
    if 2 * asking <= len(first):
        return tuple(first)
    return (*first, *(hit for hit in later if not asks(hit.candidate.passage.text)))


def copies(engine: Engine, tenant: Tenant, drafts: Sequence[Draft], retrieval: Retrieval) -> tuple[Candidate, ...]:
    """Candidates for the documents that drafts cite and the retrieval holds only as copies of a hit."""
    held = {hit.candidate.passage.doc_id for hit in retrieval.hits}
    known = {doc_id for hit in retrieval.hits for doc_id in hit.group_ids}
    wanted = tuple(dict.fromkeys(doc_id for draft in drafts for doc_id in draft.cites if doc_id in known and doc_id not in held))[
        :MAX_COPIES
    ]
    if not wanted:
        return ()
    page = engine.documents(tenant, Filters(doc_ids=wanted), first=len(wanted))
    return tuple(candidate for document in page.documents for candidate in candidates_of(document))


def evidence_of(retrieval: Retrieval, drafts: Sequence[Draft], judgement: Judgement, copied: Iterable[Candidate]) -> Evidence:
    """The passages that drafts cite, those that answer best, whatever the drafts cite, and the copies: enough to find what else supports a draft or says
    the opposite. What is not about the question does neither.
    """
    cites = {doc_id for draft in drafts for doc_id in draft.cites}
    near = (sentence.passage_id for sentence in judgement.sentences if sentence.score >= judgement.threshold / 2)
    compared = set(list(dict.fromkeys(near))[:PASSAGES_COMPARED])
    kept = (
        hit.candidate for hit in retrieval.hits if hit.candidate.passage.doc_id in cites or hit.candidate.passage.passage_id in compared
    )
    return Evidence((*kept, *copied))


def without_orders(evidence: Evidence) -> Evidence:
    """The evidence for what a language model wrote: passages that give orders were not shown to it and bear out none of its words, not even by chance."""
    return Evidence(tuple(candidate for candidate in evidence.candidates if not gives_orders(candidate.passage.text)))


def reread(engine: Engine, tenant: Tenant, citations: Iterable[Citation]) -> dict[Citation, Citation]:
    """The citations that the store bears out at this moment, each as it stands now: the quote is at its place in the stored text.

    Documents that were deleted, and quotes that a newer version no longer holds there, are left out.
    """
    asked = tuple(dict.fromkeys(citations))
    documents = documents_named(engine, tenant, tuple(dict.fromkeys(citation.doc_id for citation in asked)))
    kept: dict[Citation, Citation] = {}
    for citation in asked:
        document = documents.get(citation.doc_id)
        if document is not None and document.text[citation.start : citation.end] == citation.quote:
            kept[citation] = replace(citation, version=document.version)
    return kept


def documents_named(engine: Engine, tenant: Tenant, doc_ids: Sequence[str]) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for start in range(0, len(doc_ids), 1000):
        asked = tuple(doc_ids[start : start + 1000])
        page = engine.documents(tenant, Filters(doc_ids=asked), first=len(asked))
        found |= {document.doc_id: document for document in page.documents}
    return found


def candidates_of(document: Document) -> tuple[Candidate, ...]:
    """One candidate for each passage of a stored document."""
    key = group_key(document.text)
    return tuple(
        Candidate(
            passage=passage,
            source=document.source,
            occurred_at=document.occurred_at,
            group_key=key,
            version=document.version,
            title=document.title,
            theme_id=document.theme_id,
            account_id=document.account_id,
            rating=document.rating,
            language=document.language,
            url=document.url,
            attributes=document.attributes,
        )
        for passage in split(document)
    )
