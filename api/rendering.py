"""One serialiser per value: what the core returns, as the JSON every door sends. camelCase keys, finite numbers of at most six decimals."""

from collections.abc import Iterable, Mapping, Sequence

from api.casing import camel
from api.json_values import Json, moment, number, optional_moment, optional_number, plain
from grounding.answers import Answer, Citation, Claim, Grounding, Nearest, Outcome, Proof, Refusal, Step, Trace, Unanswered, Verdict
from grounding.traces import TracePage
from search.aggregation import AccountContext, NamedCount, Ratings, ThemeAggregate, ThemeCount, Trend, TrendPoint
from search.documents import Corpus, Document, DocumentPage, Filters, Source
from search.ingest.erasure import DeleteReport
from search.ingest.receipts import Receipt, ReceiptPage
from search.ingest.report import IngestReport, Rejection
from search.ranking import Feature, Hit, Retrieval
from worker.queues.dead_letters import DeadLetter

SNIPPET_CHARS = 280
"""Longest snippet of a hit."""


def ask_result(outcome: Outcome, documents: Iterable[Document] = ()) -> Json:
    """The whole of one ``ask``; ``documents`` are the cited and listed ones in full, as far as a door wants them."""
    return {
        "runId": outcome.run_id,
        "question": outcome.question,
        "answer": answer(outcome),
        "grounding": grounding(outcome.grounding),
        "hits": [hit(item) for item in outcome.hits],
        "documents": [document(item) for item in documents],
        "trace": trace(outcome.trace),
        "degraded": degraded(outcome.degraded),
        "seconds": number(outcome.seconds),
    }


def answer(outcome: Outcome) -> Json:
    """The answer, or the refusal in the same shape: ``refused`` tells which."""
    if outcome.answer is not None:
        return _answered(outcome.answer)
    assert outcome.refusal is not None
    return {
        "text": "I cannot answer that from the indexed documents.",
        "refused": True,
        "refusalReason": outcome.refusal.message,
        "refusal": refusal(outcome.refusal),
        "confidence": 0.0,
        "model": None,
        "citedDocuments": [],
        "claims": [],
        "unanswered": [],
    }


def _answered(value: Answer) -> Json:
    return {
        "text": value.text,
        "refused": False,
        "refusalReason": None,
        "refusal": None,
        "confidence": optional_number(value.confidence),
        "model": value.model,
        "citedDocuments": cited(value.claims),
        "claims": [claim(item) for item in value.claims],
        "unanswered": [unanswered(item) for item in value.unanswered],
    }


def unanswered(value: Unanswered) -> Json:
    """A part of the question that was refused beside the answered ones."""
    return {"question": value.question, "refusal": refusal(value.refusal)}


def cited(claims: Iterable[Claim]) -> list[str]:
    """The ids of all citations, each once, in the order of the claims."""
    return list(dict.fromkeys(item.doc_id for each in claims for item in each.citations))


def claim(value: Claim) -> Json:
    """One verified sentence with its citations."""
    return {
        "text": value.text,
        "kind": value.kind.value,
        "support": number(value.support),
        "citations": [citation(item) for item in value.citations],
        "counterEvidence": [citation(item) for item in value.counter_evidence],
        "documentCount": value.document_count,
        "proof": None if value.proof is None else proof(value.proof),
    }


def citation(value: Citation) -> Json:
    """A span of one version of a document."""
    return {
        "docId": value.doc_id,
        "version": value.version,
        "start": value.start,
        "end": value.end,
        "quote": value.quote,
        "support": number(value.support),
    }


def proof(value: Proof) -> Json:
    """The aggregation behind a number, complete enough to run it again."""
    return {
        "aggregation": value.aggregation,
        "filters": filters(value.filters),
        "match": value.match,
        "timeZone": value.time_zone,
        "bucket": value.bucket,
        "value": value.value,
        "denominator": value.denominator,
        "docIds": list(value.doc_ids),
        "cursor": value.cursor,
        "counts": [{"key": key, "count": count} for key, count in value.counts],
        "against": None if value.against is None else proof(value.against),
        "engineGeneration": value.generation,
    }


def filters(value: Filters) -> Json:
    """Filters as they were applied: ``since`` is inclusive, ``before`` exclusive."""
    return {
        "since": optional_moment(value.since),
        "before": optional_moment(value.before),
        "sources": _optional_list(value.sources),
        "themeIds": _optional_list(value.theme_ids),
        "accountIds": _optional_list(value.account_ids),
        "docIds": _optional_list(value.doc_ids),
        "ratingMin": optional_number(value.rating_min),
        "ratingMax": optional_number(value.rating_max),
        "attributes": [{"key": key, "value": plain(item)} for key, item in value.attributes] or None,
    }


def refusal(value: Refusal) -> Json:
    """Why there is no answer."""
    return {
        "reason": value.reason.value,
        "message": value.message,
        "gate": value.gate,
        "score": optional_number(value.score),
        "threshold": optional_number(value.threshold),
        "nearest": [nearest(item) for item in value.nearest],
        "hint": value.hint,
    }


def nearest(value: Nearest) -> Json:
    """A document that came closest."""
    return {"docId": value.doc_id, "score": number(value.score), "snippet": value.snippet}


def grounding(value: Grounding) -> Json:
    """The verifier's report."""
    return {
        "groundedness": number(value.groundedness),
        "citationPrecision": number(value.citation_precision),
        "coverage": number(value.coverage),
        "accepted": value.accepted,
        "failureReason": value.failure_reason,
        "verdicts": [verdict(item) for item in value.verdicts],
    }


def verdict(value: Verdict) -> Json:
    """What the verifier found about one drafted claim."""
    return {
        "supported": value.supported,
        "contradicted": value.contradicted,
        "score": number(value.score),
        "citations": [citation(item) for item in value.citations],
        "counterEvidence": [citation(item) for item in value.counter_evidence],
        "because": value.because or None,
        "reason": value.reason or None,
    }


def hit(value: Hit) -> Json:
    """One place in a ranking, with every number that put it there."""
    candidate, fused = value.candidate, value.fused
    return {
        "docId": candidate.passage.doc_id,
        "passageId": candidate.passage.passage_id,
        "rank": value.rank,
        "score": number(value.score),
        "lexicalScore": optional_number(fused.lexical_score),
        "lexicalRank": fused.lexical_rank,
        "vectorScore": optional_number(fused.vector_score),
        "vectorRank": fused.vector_rank,
        "fusedScore": number(fused.score),
        "features": [feature(item) for item in value.features],
        "snippet": snippet(candidate.passage.text),
        "groupSize": value.group_size,
        "groupDocIds": list(value.group_ids),
        "title": candidate.title,
        "source": candidate.source.kind,
        "themeId": candidate.theme_id,
        "accountId": candidate.account_id,
        "occurredAt": moment(candidate.occurred_at),
    }


def feature(value: Feature) -> Json:
    """A named reason for a place."""
    return {
        "name": value.name,
        "value": number(value.value),
        "weight": number(value.weight),
        "contribution": number(value.contribution),
    }


def search_result(value: Retrieval) -> Json:
    """A ranking."""
    return {
        "query": value.query,
        "fusion": value.fusion,
        "scope": value.scope,
        "hits": [hit(item) for item in value.hits],
        "degraded": degraded(value.degraded),
    }


def degraded(parts: Mapping[str, str]) -> list[Json]:
    """What was lost on the way, and what that changed."""
    return [{"part": part, "effect": effect} for part, effect in sorted(parts.items())]


def trace(value: Trace) -> Json:
    """Every step of one run."""
    return {
        "runId": value.run_id,
        "question": value.question,
        "outcome": value.outcome,
        "plan": plain(value.plan),
        "steps": [step(item) for item in value.steps],
        "budget": plain(value.budget),
        "createdAt": moment(value.created_at),
        "claims": [claim(item) for item in value.claims],
        "refusal": None if value.refusal is None else refusal(value.refusal),
        "deletedDocIds": list(value.deleted_doc_ids),
    }


def step(value: Step) -> Json:
    """One step of a run; times in milliseconds since the start of the run."""
    return {
        "name": value.name,
        "startedMs": number(value.started_ms),
        "ms": number(value.ms),
        "outcome": value.outcome,
        "detail": plain(value.detail),
    }


def document(value: Document) -> Json:
    """A stored document."""
    return {
        "docId": value.doc_id,
        "version": value.version,
        "source": source(value.source),
        "text": value.text,
        "occurredAt": moment(value.occurred_at),
        "title": value.title,
        "themeId": value.theme_id,
        "accountId": value.account_id,
        "rating": optional_number(value.rating),
        "language": value.language,
        "url": value.url,
        "attributes": plain(value.attributes),
    }


def source(value: Source) -> Json:
    """Where a document came from."""
    return {"kind": value.kind, "name": value.name, "weight": number(value.weight)}


def document_page(value: DocumentPage) -> Json:
    """Some documents, and the cursor of the next page."""
    return {"documents": [document(item) for item in value.documents], "total": value.total, "cursor": value.cursor}


def corpus(value: Corpus) -> Json:
    """A tenant's documents at a glance."""
    return {
        "documents": value.documents,
        "passages": value.passages,
        "groups": value.groups,
        "firstOccurredAt": optional_moment(value.first_occurred_at),
        "lastOccurredAt": optional_moment(value.last_occurred_at),
        "sources": [
            {"source": name, "documents": count} for name, count in sorted(value.sources.items(), key=lambda item: (-item[1], item[0]))
        ],
        "themes": value.themes,
        "withoutTheme": value.without_theme,
        "generation": value.generation,
        "model": value.model,
        "dimension": value.dimension,
    }


def trace_page(value: TracePage) -> Json:
    """Some runs, and the cursor of the next page."""
    return {"traces": [trace(item) for item in value.traces], "cursor": value.cursor}


def dead_letter(value: DeadLetter) -> Json:
    """Work that was given up."""
    return {
        "letterId": value.letter_id,
        "duty": value.work.duty,
        "key": list(value.work.key),
        "error": value.error,
        "attempts": value.attempts,
        "at": moment(value.at),
    }


def dead_letter_page(letters: Sequence[DeadLetter], cursor: str | None) -> Json:
    """Some of it, and the cursor of the next page."""
    return {"deadLetters": [dead_letter(each) for each in letters], "cursor": cursor}


def ingest_report(value: IngestReport) -> Json:
    """What became of a batch."""
    return {
        "batchId": value.batch_id,
        "received": value.received,
        "indexed": value.indexed,
        "unchanged": value.unchanged,
        "updated": value.updated,
        "duplicate": value.duplicate,
        "rejected": value.rejected,
        "saved": value.saved,
        "corpusSize": value.corpus_size,
        "rejections": [rejection(item) for item in value.rejections],
        "warnings": list(value.warnings),
        "seconds": number(value.seconds),
        "mapping": plain(value.mapping),
        "attributeFields": list(value.attribute_fields),
        "interrupted": value.interrupted,
        "masked": masked(value.masked),
    }


def masked(value: Mapping[str, int]) -> list[Json]:
    """How often each kind was masked, by name."""
    return [{"kind": kind.upper(), "count": count} for kind, count in sorted(value.items())]


def rejection(value: Rejection) -> Json:
    """Why one row was not taken."""
    return {
        "row": value.row,
        "docId": value.doc_id,
        "field": camel(value.field),
        "reason": value.reason,
        "file": value.file,
    }


def delete_report(value: DeleteReport) -> Json:
    """What was deleted."""
    return {
        "deleted": value.deleted,
        "docIds": list(value.doc_ids),
        "receipt": None if value.receipt is None else erasure_receipt(value.receipt),
    }


def erasure_receipt(value: Receipt) -> Json:
    """What an erasure removed, without naming anything."""
    return {
        "receiptId": value.receipt_id,
        "at": moment(value.at),
        "scope": value.scope.upper(),
        "by": value.by,
        "state": value.state.upper(),
        "removed": [{"what": camel(name), "count": count} for name, count in sorted(value.removed.items())],
        "left": [{"what": camel(name), "count": count} for name, count in sorted(value.left.items())],
        "accountHash": value.account_hash or None,
        "salt": value.salt or None,
        "completedAt": optional_moment(value.completed_at),
    }


def receipt_page(value: ReceiptPage) -> Json:
    """Some receipts, and the cursor of the next page."""
    return {"receipts": [erasure_receipt(item) for item in value.receipts], "cursor": value.cursor}


def theme_aggregate(value: ThemeAggregate) -> Json:
    """Exact counts by theme."""
    return {
        "query": value.query,
        "total": value.total,
        "scope": value.scope,
        "withoutTheme": value.without_theme,
        "themesTotal": value.themes_total,
        "themes": [theme_count(item) for item in value.themes],
        "engineGeneration": value.generation,
    }


def theme_count(value: ThemeCount) -> Json:
    """One theme of an aggregate."""
    return {
        "themeId": value.theme_id,
        "count": value.count,
        "share": number(value.share),
        "docIds": list(value.doc_ids),
        "cursor": value.cursor,
    }


def trend(value: Trend) -> Json:
    """Exact counts over time."""
    return {
        "query": value.query,
        "interval": value.interval,
        "timeZone": value.time_zone,
        "total": value.total,
        "scope": value.scope,
        "points": [trend_point(item) for item in value.points],
        "engineGeneration": value.generation,
    }


def trend_point(value: TrendPoint) -> Json:
    """One interval of a trend."""
    return {"key": value.key, "count": value.count, "docIds": list(value.doc_ids), "cursor": value.cursor}


def account_context(value: AccountContext) -> Json:
    """One account at a glance."""
    return {
        "accountId": value.account_id,
        "total": value.documents,
        "firstSeen": moment(value.first_seen),
        "lastSeen": moment(value.last_seen),
        "themes": [named_count(item) for item in value.themes],
        "withoutTheme": value.without_theme,
        "sources": [named_count(item) for item in value.sources],
        "ratings": ratings(value.ratings),
        "documents": [document(item) for item in value.recent],
        "cursor": value.cursor,
        "engineGeneration": value.generation,
    }


def named_count(value: NamedCount) -> Json:
    """A value, and the documents that have it."""
    return {"name": value.name, "count": value.count, "docIds": list(value.doc_ids)}


def ratings(value: Ratings) -> Json:
    """Ratings of an account."""
    return {
        "rated": value.rated,
        "lookedAt": value.looked_at,
        "mean": optional_number(value.mean),
        "counts": [{"rating": number(rating), "documents": count} for rating, count in value.counts],
    }


def snippet(text: str) -> str:
    """The beginning of a text on one line, cut between words when it is long."""
    line = " ".join(text[: SNIPPET_CHARS * 4].split())
    if len(line) <= SNIPPET_CHARS:
        return line
    cut = line.rfind(" ", SNIPPET_CHARS // 2, SNIPPET_CHARS)
    return line[: cut if cut > 0 else SNIPPET_CHARS] + "…"


def _optional_list(value: Sequence[str] | None) -> list[str] | None:
    return None if value is None else list(value)
