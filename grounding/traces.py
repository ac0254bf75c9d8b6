"""Traces kept by run id. What was deleted since is marked in them and its words are withheld."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from grounding.answers import Citation, Claim, Grounding, Refusal, Trace
from grounding.run_facts import facts_of_run
from grounding.telling import event_of
from grounding.trace_json import trace_as_json, trace_from_json
from runtime.errors import Conflict, NotFound, ServiceError
from runtime.tenancy import Tenant
from search.identity import normalised
from search.ingest.epochs import Epoch, Epochs
from search.ports import Engine, StateEntry, StateStore

KIND = "trace"
Settled = Literal["kept", "scrubbed", "removed"]
WITHHELD = "[withheld: its document was deleted]"
_CHUNK = 1000
_WORDS = ("text", "quote", "snippet", "reason")
_IDS = ("doc_id", "cites", "doc_ids", "nearest")


@dataclass(frozen=True, slots=True)
class TracePage:
    """Some traces, newest first, and where to go on."""

    traces: tuple[Trace, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class TraceStore:
    """Keeps traces in the state store and reads them with an eye on what the engine still holds."""

    state: StateStore
    engine: Engine

    def save(self, tenant: Tenant, trace: Trace, grounding: Grounding | None = None, degraded: Collection[str] = ()) -> None:
        """Keep a trace under its run id, with its facts, and the event of its outcome when there is one."""
        event = None if grounding is None else event_of(tenant, trace, grounding)
        labels = {"refused": "true" if trace.refusal is not None else "false", "outcome": trace.outcome}
        facts = facts_of_run(trace, grounding, degraded)
        self.state.put(tenant, KIND, trace.run_id, trace_as_json(trace), labels=labels, facts=facts, event=event)

    def get(self, tenant: Tenant, run_id: str) -> Trace:
        """The trace of a run, with the documents deleted since marked and their words withheld.

        Raises:
            NotFound: this tenant has no such run.
        """
        entry = self.state.get(tenant, KIND, run_id)
        if entry is None:
            raise NotFound("no run with this id; list the traces to see which there are")
        return self._as_of_now(tenant, trace_from_json(run_id, entry.body))

    def list(self, tenant: Tenant, *, refused: bool | None = None, first: int = 50, after: str | None = None) -> TracePage:
        """Traces, newest first; ``refused`` keeps only refusals, or only the others."""
        labels = None if refused is None else {"refused": "true" if refused else "false"}
        entries, cursor = self.state.entries(tenant, KIND, labels=labels, first=first, after=after)
        return TracePage(tuple(self._as_of_now(tenant, trace_from_json(entry.entry_id, entry.body)) for entry in entries), cursor)

    def begin(self, tenant: Tenant) -> Epoch | None:
        """To be called before a run reads the first document; what :meth:`settle` is given. None when the state store cannot tell."""
        try:
            return Epochs(self.state).now(tenant)
        except ServiceError:
            return None

    def settle(self, tenant: Tenant, trace: Trace, grounding: Grounding | None, begun: Epoch | None) -> Settled:
        """To be called after a trace was saved: when documents were erased during the run, their words leave its trace; when the whole tenant was, its
        trace and its event go.

        Raises:
            Unavailable: the state store or the engine cannot be reached.
        """
        now = Epochs(self.state).now(tenant)
        if begun is not None and now == begun:
            return "kept"
        if begun is None or now.whole != begun.whole:
            event = None if grounding is None else event_of(tenant, trace, grounding)
            self.state.settle([event] if event is not None else [])
            self.state.remove(tenant, KIND, [trace.run_id])
            return "removed"
        entry = self.state.get(tenant, KIND, trace.run_id)
        self._scrub(tenant, [entry] if entry is not None else [])
        return "scrubbed"

    def scrub(self, tenant: Tenant, *, first: int, after: str | None = None) -> tuple[str | None, int, int]:
        """Take the words of documents that were deleted out of the next ``first`` stored traces, newest first. The cursor behind them, None at the end;
        how many were looked at, and how many changed. A trace that somebody else changes meanwhile is left to them."""
        entries, cursor = self.state.entries(tenant, KIND, first=first, after=after)
        return cursor, len(entries), self._scrub(tenant, entries)

    def _scrub(self, tenant: Tenant, entries: Sequence[StateEntry]) -> int:
        changed = 0
        traces = [trace_from_json(entry.entry_id, entry.body) for entry in entries]
        deleted = self._deleted(tenant, tuple(dict.fromkeys(doc_id for trace in traces for doc_id in document_ids(trace))))
        for entry, trace in zip(entries, traces, strict=True):
            body = trace_as_json(without_words_of(trace, deleted)) if deleted else entry.body
            if body != entry.body:
                with suppress(Conflict):
                    self.state.put(tenant, KIND, entry.entry_id, body, labels=entry.labels, facts=entry.facts, expected=entry.version)
                    changed += 1
        return changed

    def _as_of_now(self, tenant: Tenant, trace: Trace) -> Trace:
        deleted = self._deleted(tenant, document_ids(trace))
        return without_words_of(trace, deleted) if deleted else trace

    def _deleted(self, tenant: Tenant, doc_ids: tuple[str, ...]) -> tuple[str, ...]:
        gone: list[str] = []
        for start in range(0, len(doc_ids), _CHUNK):
            asked = doc_ids[start : start + _CHUNK]
            known = self.engine.stored(tenant, asked)
            gone += [doc_id for doc_id in asked if doc_id not in known or known[doc_id].deleted]
        return tuple(sorted(gone))


def document_ids(trace: Trace) -> tuple[str, ...]:
    """Every document a trace speaks of, each once, in order."""
    found = [citation.doc_id for claim in trace.claims for citation in (*claim.citations, *claim.counter_evidence)]
    found += [doc_id for claim in trace.claims if claim.proof for doc_id in claim.proof.doc_ids]
    found += [near.doc_id for near in trace.refusal.nearest] if trace.refusal else []
    found += [doc_id for step in trace.steps for doc_id in _ids_in(step.detail)]
    return tuple(dict.fromkeys(found))


def without_words_of(trace: Trace, deleted: Collection[str]) -> Trace:
    """The trace with every word of the deleted documents withheld, and their ids listed."""
    return replace(
        trace,
        claims=tuple(_claim_without(claim, deleted) for claim in trace.claims),
        refusal=None if trace.refusal is None else _refusal_without(trace.refusal, deleted),
        steps=tuple(replace(step, detail=_withheld(step.detail, deleted)) for step in trace.steps),
        deleted_doc_ids=tuple(sorted(deleted)),
    )


def _claim_without(claim: Claim, deleted: Collection[str]) -> Claim:
    """Numbers stay; a sentence stays only while a document that is still there says it word for word."""
    quotes = (*claim.citations, *claim.counter_evidence)
    kept = {normalised(citation.quote) for citation in claim.citations if citation.doc_id not in deleted}
    lost = any(citation.doc_id in deleted for citation in quotes) and claim.proof is None and normalised(claim.text) not in kept
    return replace(
        claim,
        text=WITHHELD if lost else claim.text,
        citations=tuple(_citation_without(citation, deleted) for citation in claim.citations),
        counter_evidence=tuple(_citation_without(citation, deleted) for citation in claim.counter_evidence),
    )


def _citation_without(citation: Citation, deleted: Collection[str]) -> Citation:
    return replace(citation, quote=WITHHELD) if citation.doc_id in deleted else citation


def _refusal_without(refusal: Refusal, deleted: Collection[str]) -> Refusal:
    nearest = tuple(replace(near, snippet=WITHHELD) if near.doc_id in deleted else near for near in refusal.nearest)
    return replace(refusal, nearest=nearest)


def _ids_in(detail: object) -> Iterable[str]:
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            if key in _IDS and isinstance(value, str):
                yield value
            elif key in _IDS and isinstance(value, list | tuple):
                yield from (item for item in value if isinstance(item, str))
            yield from _ids_in(value)
    elif isinstance(detail, list | tuple):
        for item in detail:
            yield from _ids_in(item)


def _withheld(detail: Any, deleted: Collection[str]) -> Any:
    """Words beside the id of a deleted document are replaced, at any depth of a step's detail."""
    if isinstance(detail, Mapping):
        touched = any(doc_id in deleted for key in _IDS if key in detail for doc_id in _ids_in({key: detail[key]}))
        return {
            key: WITHHELD if touched and key in _WORDS and isinstance(value, str) else _withheld(value, deleted)
            for key, value in detail.items()
        }
    return [_withheld(item, deleted) for item in detail] if isinstance(detail, list | tuple) else detail
