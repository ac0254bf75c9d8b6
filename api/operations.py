"""What every door offers, once: each function calls the core for one tenant and counts what happened. No rule lives here."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from grounding.answers import Outcome, Trace
from grounding.budget import Budget
from grounding.traces import TracePage
from runtime.clock import Deadline
from runtime.errors import InvalidRequest, NotFound, Unavailable
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant
from search import aggregation, listing
from search.documents import EVERYTHING, Corpus, Document, DocumentPage, Filters
from search.ingest.erasure import DeleteReport, delete_documents
from search.ingest.parsing import Defaults, blamed
from search.ingest.receipts import Receipt, ReceiptPage
from search.ingest.report import IngestReport
from search.ingest.rows import Problem, Row, RowSource
from search.ranking import Retrieval
from search.retrieval import Fusion
from worker.events.insights import Insights
from worker.opening import Service
from worker.queues.dead_letters import DeadLetter

MAX_DOCUMENTS = 1000
"""Most documents shown in full beside an answer."""


def ask(
    service: Service,
    tenant: Tenant,
    question: str,
    *,
    top_k: int,
    filters: Filters = EVERYTHING,
    budget: Budget | None = None,
    time_zone: str | None = None,
) -> Outcome:
    """One run of ``ask``, counted; it may be given what another one worked out a moment ago."""
    try:
        outcome = service.answerer.ask(tenant, question, filters=filters, top_k=top_k, budget=budget, time_zone=time_zone, recall=True)
    except Exception:
        service.metrics.count("wa_questions_total", outcome="error")
        raise
    _count_outcome(service.metrics, outcome)
    return outcome


def documents_of(service: Service, tenant: Tenant, doc_ids: Iterable[str]) -> tuple[Document, ...]:
    """These documents in full, in this order; ids the tenant does not have (any more) are left out."""
    wanted = tuple(dict.fromkeys(doc_ids))[:MAX_DOCUMENTS]
    if not wanted:
        return ()
    page = service.engine.documents(tenant, Filters(doc_ids=wanted), first=len(wanted))
    found = {document.doc_id: document for document in page.documents}
    return tuple(found[doc_id] for doc_id in wanted if doc_id in found)


def shown_ids(outcome: Outcome) -> tuple[str, ...]:
    """The ids of the documents behind an answer: cited ones in the order of the claims, then those of the hits."""
    claims = outcome.answer.claims if outcome.answer else ()
    cited = (citation.doc_id for claim in claims for citation in (*claim.citations, *claim.counter_evidence))
    return tuple(dict.fromkeys((*cited, *(hit.candidate.passage.doc_id for hit in outcome.hits))))


def search(
    service: Service,
    tenant: Tenant,
    query: str,
    *,
    top_k: int,
    filters: Filters = EVERYTHING,
    fusion: Fusion | None = None,
    deadline: Deadline | None = None,
) -> Retrieval:
    """A ranking, counted."""
    found = service.retriever.retrieve(tenant, query, filters, top_k=top_k, fusion=fusion, deadline=deadline)
    service.metrics.count("wa_searches_total", fusion=found.fusion)
    service.metrics.observe("wa_search_hits", len(found.hits))
    _count_lost(service.metrics, found.degraded)
    return found


def document(service: Service, tenant: Tenant, doc_id: str) -> Document:
    """One document.

    Raises:
        NotFound: the tenant has none of that id.
    """
    found = service.engine.document(tenant, doc_id)
    if found is None:
        raise NotFound("no such document")
    return found


def documents(service: Service, tenant: Tenant, filters: Filters, *, match: str | None, first: int, after: str | None) -> DocumentPage:
    """A page of documents."""
    return listing.page(service.engine, tenant, filters, match=match, first=first, after=after)


def by_theme(service: Service, tenant: Tenant, query: str | None, filters: Filters, limit: int) -> aggregation.ThemeAggregate:
    """Counts by theme."""
    return aggregation.by_theme(service.counts, tenant, query, filters, limit)


def trend(service: Service, tenant: Tenant, query: str | None, filters: Filters, interval: str, time_zone: str) -> aggregation.Trend:
    """Counts over time."""
    return aggregation.trend(service.counts, tenant, query, filters, interval, time_zone)


def account_context(service: Service, tenant: Tenant, account_id: str, first: int) -> aggregation.AccountContext | None:
    """One account."""
    return aggregation.account_context(service.counts, tenant, account_id, first)


def corpus(service: Service, tenant: Tenant) -> Corpus:
    """The tenant's documents at a glance."""
    return service.engine.corpus(tenant)


def trace(service: Service, tenant: Tenant, run_id: str) -> Trace:
    """One stored run.

    Raises:
        NotFound: the tenant has none of that id.
    """
    return service.traces.get(tenant, run_id)


def traces(service: Service, tenant: Tenant, *, refused: bool | None, first: int, after: str | None) -> TracePage:
    """A page of stored runs."""
    return service.traces.list(tenant, refused=refused, first=first, after=after)


def dead_letters(service: Service, tenant: Tenant, *, first: int, after: str | None) -> tuple[tuple[DeadLetter, ...], str | None]:
    """A page of the work that was given up."""
    return service.dead_letters.list(tenant, first=first, after=after)


def retry_dead_letter(service: Service, tenant: Tenant, letter_id: str) -> bool:
    """Have the work of a dead letter done again: at once where a worker can be told (True), when it is next looked for otherwise.

    Raises:
        NotFound: no such letter waits.
    """
    return service.queue.nudge(service.dead_letters.retry(tenant, letter_id))


def drop_dead_letter(service: Service, tenant: Tenant, letter_id: str) -> DeadLetter:
    """Never do the work of a dead letter.

    Raises:
        NotFound: no such letter waits.
    """
    return service.dead_letters.drop(tenant, letter_id)


def index(service: Service, tenant: Tenant, documents: Sequence[Any], batch_id: str | None, mask: str = "") -> IngestReport:
    """Store documents, counted. What is no object is rejected like any other bad document.

    Raises:
        InvalidRequest: on ``documents``, when there are more than one batch may hold.
    """
    limit = service.settings.max_batch_documents
    if len(documents) > limit:
        raise InvalidRequest(f"holds {len(documents)} documents; one call may hold {limit}, so send several", field="documents")
    rows, defaults = RowSource(row_of(number, item) for number, item in enumerate(documents, 1)), Defaults.of(service.settings, mask=mask)
    report = service.ingester.ingest(tenant, rows, batch_id=batch_id, defaults=defaults)
    for outcome in ("indexed", "unchanged", "updated", "duplicate", "rejected"):
        service.metrics.count("wa_documents_total", getattr(report, outcome), outcome=outcome)
    _count_rejected(service.metrics, report)
    return report


def row_of(number: int, item: Any) -> Row:
    """A row of what a door was given as a document."""
    return Row(number, item) if isinstance(item, Mapping) else Row(number, problem=Problem("row", "must be an object"))


def delete(
    service: Service,
    tenant: Tenant,
    *,
    doc_ids: Sequence[str] | None = None,
    account_id: str | None = None,
    confirm: bool = False,
    by: str = "",
) -> DeleteReport:
    """Delete by id, by account, or everything; the last two only when confirmed, and what was kept of them goes at once. ``by`` is who asked.

    Raises:
        InvalidRequest: on ``confirm``; on ``doc_ids``, when ids and an account are given together.
    """
    if doc_ids is None and not confirm:
        what = "every document of the account" if account_id is not None else "every document of the tenant"
        raise InvalidRequest(f"must be true to delete {what}", field="confirm")
    everything = doc_ids is None and account_id is None
    report = delete_documents(service.engine, service.state, tenant, doc_ids=doc_ids, account_id=account_id, everything=everything, by=by)
    report = _with_receipt(service, tenant, report, account_id)
    if everything:
        with suppress(Unavailable):
            service.events.bus.forget(tenant)
    service.metrics.count("wa_documents_deleted_total", report.deleted)
    return report


def _with_receipt(service: Service, tenant: Tenant, report: DeleteReport, account_id: str | None) -> DeleteReport:
    """The receipt with what caches and everything that is kept gave up. Single documents are left to the worker: they are deleted often."""
    receipt = report.receipt
    assert receipt is not None
    with suppress(Unavailable):  # what is left of it ends by itself, and is asked for by nobody now that the generation is another
        forgotten = service.caching.cache.forget(tenant)
        receipt = service.receipts.add(tenant, receipt.receipt_id, {"cache_entries": forgotten}) if forgotten else receipt
    if account_id is not None:
        receipt = service.scrubbing.at_once(tenant, receipt, account_id)
    return replace(report, receipt=receipt)


def receipts(service: Service, tenant: Tenant, *, first: int, after: str | None) -> ReceiptPage:
    """A page of the receipts of erasures, newest first."""
    return service.receipts.list(tenant, first=first, after=after)


def receipt(service: Service, tenant: Tenant, receipt_id: str) -> Receipt:
    """One receipt.

    Raises:
        NotFound: the tenant has none of that id.
    """
    return service.receipts.get(tenant, receipt_id)


def insights(service: Service, tenant: Tenant, *, rebuild: bool = False, questions: int = 20) -> Insights:
    """What was counted from the tenant's events; with ``rebuild``, counted again from the first one on."""
    return service.events.insights.read(tenant, rebuild=rebuild, questions=questions)


def _count_outcome(metrics: Metrics, outcome: Outcome) -> None:
    metrics.observe("wa_ask_duration_seconds", outcome.seconds)
    metrics.count("wa_questions_total", outcome="answered" if outcome.answer else "refused")
    if outcome.refusal:
        metrics.count("wa_refusals_total", reason=outcome.refusal.reason.value)
    _count_run(metrics, outcome)
    if outcome.grounding.verdicts:
        metrics.observe("wa_groundedness_ratio", outcome.grounding.groundedness)
        metrics.observe("wa_citation_precision_ratio", outcome.grounding.citation_precision)
    for verdict in outcome.grounding.verdicts:
        if not verdict.supported:
            metrics.count("wa_unsupported_claims_total", because=verdict.because or "overlap")
    _count_lost(metrics, outcome.degraded)


def _count_run(metrics: Metrics, outcome: Outcome) -> None:
    steps, used = outcome.trace.steps, outcome.trace.budget["used"]
    for step in steps:
        metrics.count("wa_ask_steps_total", step=step.name, outcome=step.outcome)
        metrics.observe("wa_ask_step_duration_seconds", step.ms / 1000, step=step.name)
    for tool, calls in used["calls"].items():
        metrics.count("wa_tool_calls_total", calls, tool=tool)
    metrics.observe("wa_run_steps", used["steps"])
    metrics.observe("wa_run_tokens", used["tokens"])
    if any(step.name == "repair" for step in steps):
        metrics.count("wa_repairs_total", outcome="answered" if outcome.answer else "refused")


def _count_rejected(metrics: Metrics, report: IngestReport) -> None:
    """By the field to blame; rejections beyond those that the report names count as ``other``."""
    fields = Counter(blamed(rejection.field) for rejection in report.rejections)
    fields["other"] += report.rejected - len(report.rejections)
    for field, count in fields.items():
        metrics.count("wa_documents_rejected_total", count, field=field)


def _count_lost(metrics: Metrics, degraded: Mapping[str, str]) -> None:
    for part in degraded:
        metrics.count("wa_degraded_total", part=part)
