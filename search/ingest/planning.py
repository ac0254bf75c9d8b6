"""What has to be done for some rows: which are settled at once, and which have to be written, in what order."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant
from search.documents import Document, Passage, StoredVersion
from search.identity import content_hash, group_key
from search.ingest.parsing import Defaults, Notice, claimed_doc_id, parse_document
from search.ingest.rows import Row
from search.ingest.tally import Noticed, RowOutcome
from search.passages import split
from search.ports import DocumentStore
from search.versions import Decision, decide

CHUNK_ROWS = 512
CHUNK_CHARS = 500_000
REMEMBERED = 50_000
"""Ids of one ingest in whose repetitions a duplicate is recognised; beyond them an equal repetition counts as unchanged."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A valid document of row ``row``, with its hash."""

    row: int
    document: Document
    asked_version: int | None
    content_hash: str


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A document that will be written once its passages have vectors."""

    incoming: Incoming
    group_key: str
    passages: tuple[Passage, ...]


@dataclass(slots=True)
class Chunk:
    """Some rows on their way: outcomes of those that are settled, and waves of writes, the ids of a wave all different."""

    outcomes: list[RowOutcome] = field(default_factory=list)
    noticed: Noticed = field(default_factory=Noticed)
    incoming: list[Incoming] = field(default_factory=list)
    waves: list[list[Unembedded]] = field(default_factory=list)
    rows: int = 0
    chars: int = 0

    def take(self, row: Row, defaults: Defaults) -> None:
        """Add a row; one that is not a valid document is settled as rejected."""
        self.rows += 1
        masked = defaults.masking.row(row)
        row = masked.row
        self.noticed.mask(row.number, masked.counts, (Notice(*dropped) for dropped in masked.dropped))
        if row.problem is not None:
            self._reject(row, row.problem.field, row.problem.reason)
            return
        try:
            parsed = parse_document(row.values, defaults)
        except InvalidRequest as error:
            self._reject(row, error.field, error.reason)
            return
        self.chars += len(parsed.document.text)
        self.noticed.add(row.number, parsed.warnings, parsed.extra)
        self.incoming.append(Incoming(row.number, parsed.document, parsed.asked_version, content_hash(parsed.document)))

    @property
    def full(self) -> bool:
        """True when it is time to work on it."""
        return self.rows >= CHUNK_ROWS or self.chars >= CHUNK_CHARS

    def _reject(self, row: Row, field_name: str, reason: str) -> None:
        self.outcomes.append(RowOutcome(row.number, claimed_doc_id(row.values), "rejected", field_name, reason))


def chunks(rows: Iterable[Row], defaults: Defaults) -> Iterator[Chunk]:
    """Rows in chunks of bounded size."""
    chunk = Chunk()
    for row in rows:
        chunk.take(row, defaults)
        if chunk.full:
            yield chunk
            chunk = Chunk()
    if chunk.rows:
        yield chunk


@dataclass(frozen=True, slots=True)
class _Known:
    """What the store holds of an id once everything under way is written, and what the last row with that id said."""

    stored: StoredVersion
    content_hash: str
    asked_version: int | None


class Planner:
    """Decides what every row of one ingest does, looking ahead of the writes that are still under way."""

    def __init__(self, engine: DocumentStore, tenant: Tenant) -> None:
        self._engine = engine
        self._tenant = tenant
        self._known: dict[str, _Known] = {}

    def plan(self, chunk: Chunk) -> None:
        """Settle the rows that change nothing, and put the others in waves: a later row of an id is written after an earlier one."""
        unknown = {each.document.doc_id for each in chunk.incoming} - self._known.keys()
        stored = self._engine.stored(self._tenant, sorted(unknown)) if unknown else {}
        writes: Counter[str] = Counter()
        for each in chunk.incoming:
            outcome = self._settle(each, stored)
            if outcome is not None:
                chunk.outcomes.append(outcome)
                continue
            wave = writes[each.document.doc_id]
            writes[each.document.doc_id] += 1
            if wave == len(chunk.waves):
                chunk.waves.append([])
            chunk.waves[wave].append(_unembedded(each))
        self._forget_oldest()

    def forget(self, doc_ids: Iterable[str]) -> None:
        """Look these ids up again when they come next: their writes did not end as expected."""
        for doc_id in doc_ids:
            self._known.pop(doc_id, None)

    def _settle(self, each: Incoming, stored: Mapping[str, StoredVersion]) -> RowOutcome | None:
        """The outcome of a row that changes nothing; None for one that has to be written."""
        doc_id = each.document.doc_id
        known = self._known.get(doc_id)
        if known is not None and (known.content_hash, known.asked_version) == (each.content_hash, each.asked_version):
            return RowOutcome(each.row, doc_id, "duplicate")
        before = known.stored if known is not None else stored.get(doc_id)
        decision = decide(before, each.asked_version, each.content_hash)
        if decision.kind != "rejected":
            self._remember(each, before, decision)
        return None if decision.writes else RowOutcome(each.row, doc_id, decision.kind, decision.field, decision.reason)

    def _remember(self, each: Incoming, before: StoredVersion | None, decision: Decision) -> None:
        after = StoredVersion(decision.version, each.content_hash, deleted=False) if decision.writes else before
        assert after is not None
        self._known.pop(each.document.doc_id, None)
        self._known[each.document.doc_id] = _Known(after, each.content_hash, each.asked_version)

    def _forget_oldest(self) -> None:
        for doc_id in list(self._known)[: max(0, len(self._known) - REMEMBERED)]:
            self._known.pop(doc_id, None)


def embedding_texts(chunk: Chunk) -> list[str]:
    """What is embedded for each passage to be written, in order: the title, where there is one, and the passage."""
    return [_embedded(each.incoming.document, passage) for wave in chunk.waves for each in wave for passage in each.passages]


def _embedded(document: Document, passage: Passage) -> str:
    return f"{document.title}\n{passage.text}" if document.title else passage.text


def _unembedded(each: Incoming) -> Unembedded:
    return Unembedded(each, group_key(each.document.text), split(each.document))
