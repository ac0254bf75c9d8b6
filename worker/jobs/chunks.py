"""Rows of a job as they wait in the state store: documents that were read already, and the rows that could not be."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from runtime.tenancy import Tenant
from search.documents import Document
from search.ingest.report import Rejection
from search.ports import StateStore
from worker.jobs.job_json import rejected_as_json, rejected_from_json
from worker.jobs.outcome import RejectedRow
from worker.jobs.packing import packed, parts_of, unpacked

KIND = "ingest_chunk"
_REMOVED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Repeats:
    """An earlier row of the job with the same id and content, and the chunk it is in."""

    row: int
    chunk: int


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """A valid row: its number, its document as values that are read to the same document again, and the earlier row it repeats."""

    number: int
    values: Mapping[str, Any]
    repeats: Repeats | None = None


@dataclass(frozen=True, slots=True)
class GoneRow:
    """A row whose document or account (``field``) was erased while it waited. The hash tells what a worker stored of it before it was killed."""

    number: int
    field: str
    doc_id: str
    content_hash: str

    @property
    def rejected(self) -> RejectedRow:
        """How it is reported."""
        return RejectedRow(Rejection(self.number, None, self.field, ERASED[self.field]))


ERASED = {
    "account_id": "its account was erased after the row was handed in",
    "doc_id": "its document was erased after the row was handed in",
}


@dataclass(frozen=True, slots=True)
class WaitingChunk:
    """Some rows of a job that are stored and acknowledged together. ``epoch`` is that of the tenant's erasures when they were handed in."""

    rows: tuple[WaitingRow, ...] = ()
    rejected: tuple[RejectedRow, ...] = ()
    gone: tuple[GoneRow, ...] = ()
    epoch: int = 0

    @property
    def received(self) -> int:
        """Rows of the input it stands for."""
        return len(self.rows) + len(self.rejected) + len(self.gone)


def values_of(document: Document, asked_version: int | None) -> dict[str, Any]:
    """A document as the values of a row. Reading them gives this document again, whatever the settings of who reads."""
    source = document.source
    values = {
        "doc_id": document.doc_id,
        "source": {"kind": source.kind, "name": source.name, "weight": source.weight},
        "text": document.text,
        "occurred_at": document.occurred_at.isoformat(timespec="milliseconds"),
        "title": document.title,
        "theme_id": document.theme_id,
        "account_id": document.account_id,
        "rating": document.rating,
        "language": document.language,
        "url": document.url,
        "version": asked_version,
        "attributes": dict(document.attributes) or None,
    }
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Chunks:
    """Keeps, reads and removes the chunks of jobs. A long row makes several parts; the first is kept last, so that a chunk is there as a whole."""

    state: StateStore

    def keep(self, tenant: Tenant, job_id: str, number: int, chunk: WaitingChunk) -> int:
        """Keep a chunk; returns how many parts it took."""
        parts = parts_of(packed(_as_json(chunk)))
        for part in reversed(range(len(parts))):
            self.state.put(tenant, KIND, _id(job_id, number, part), {"parts": len(parts), "data": parts[part]})
        return len(parts)

    def replace(self, tenant: Tenant, job_id: str, number: int, chunk: WaitingChunk, parts: int) -> None:
        """Keep other rows in the place of a chunk that had at most so many parts, if it is still there."""
        if self.state.get(tenant, KIND, _id(job_id, number, 0)) is None:
            return
        now = self.keep(tenant, job_id, number, chunk)
        self.state.remove(tenant, KIND, [_id(job_id, number, part) for part in range(now, parts)])

    def read(self, tenant: Tenant, job_id: str, number: int) -> WaitingChunk | None:
        """The chunk, or None when it is not there (any more)."""
        parts = [self.state.get(tenant, KIND, _id(job_id, number, 0))]
        if parts[0] is None:
            return None
        parts += [self.state.get(tenant, KIND, _id(job_id, number, part)) for part in range(1, parts[0].body["parts"])]
        whole = [part.body["data"] for part in parts if part is not None]
        return _from_json(unpacked("".join(whole))) if len(whole) == len(parts) else None

    def remove(self, tenant: Tenant, job_id: str, numbers: Iterable[int], parts: int) -> None:
        """Remove chunks of at most so many parts."""
        ids = [_id(job_id, number, part) for number in numbers for part in range(parts)]
        for start in range(0, len(ids), _REMOVED_AT_ONCE):
            self.state.remove(tenant, KIND, ids[start : start + _REMOVED_AT_ONCE])


def _id(job_id: str, number: int, part: int) -> str:
    return f"{job_id}:{number:08d}:{part:03d}"


def _as_json(chunk: WaitingChunk) -> dict[str, Any]:
    rows = [[each.number, each.values, [each.repeats.row, each.repeats.chunk] if each.repeats else None] for each in chunk.rows]
    gone = [[each.number, each.field, each.doc_id, each.content_hash] for each in chunk.gone]
    return {"rows": rows, "rejected": [rejected_as_json(each) for each in chunk.rejected], "gone": gone, "epoch": chunk.epoch}


def _from_json(value: Mapping[str, Any]) -> WaitingChunk:
    rows = tuple(WaitingRow(number, values, Repeats(*repeats) if repeats else None) for number, values, repeats in value["rows"])
    rejected = tuple(rejected_from_json(each) for each in value["rejected"])
    return WaitingChunk(rows, rejected, tuple(GoneRow(*each) for each in value.get("gone", ())), value.get("epoch", 0))
