"""Rows in, a report out: one chunk is parsed while another is embedded and a third is written."""

import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace

import numpy as np

from runtime.clock import Clock, Stopwatch
from runtime.errors import InvalidRequest, Unavailable
from runtime.settings import Settings
from runtime.tenancy import Tenant
from search.documents import DocumentWrite, Vectors, WriteOutcome
from search.ingest.closing import Closing
from search.ingest.parsing import Defaults
from search.ingest.planning import Chunk, Planner, Unembedded, chunks, embedding_texts
from search.ingest.records import IngestRecords
from search.ingest.report import IngestReport, Progress, Rejection
from search.ingest.rows import Row, RowSource
from search.ingest.tally import RowOutcome, Tally
from search.ports import DocumentStore, Embedder

UNDER_WAY = 2
"""Chunks that may wait for their vectors or their write while the next one is parsed."""

_MAX_BATCH_ID_CHARS = 200


def _new_batch_id() -> str:
    return uuid.uuid4().hex


def usable_batch_id(given: str | None) -> str | None:
    """The name of a batch as it was asked for; None where none was.

    Raises:
        InvalidRequest: on ``batch_id``.
    """
    if given is None or not given.strip():
        return None
    if len(given) > _MAX_BATCH_ID_CHARS or not given.isprintable():
        raise InvalidRequest(f"is not a text of at most {_MAX_BATCH_ID_CHARS} printable characters", field="batch_id")
    return given


class Ingester:
    """Stores documents, and keeps a record of each ingest where it is given ``records``. One of these serves any number of calls at once."""

    def __init__(
        self,
        engine: DocumentStore,
        embedder: Embedder,
        clock: Clock,
        settings: Settings,
        *,
        records: IngestRecords | None = None,
        new_batch_id: Callable[[], str] = _new_batch_id,
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._clock = clock
        self._settings = settings
        self._records = records
        self._new_batch_id = new_batch_id

    def ingest(
        self,
        tenant: Tenant,
        rows: Iterable[Row],
        *,
        batch_id: str | None = None,
        defaults: Defaults | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_rejection: Callable[[Rejection], None] | None = None,
        on_outcome: Callable[[RowOutcome], None] | None = None,
    ) -> IngestReport:
        """Read, validate, embed and store rows; afterwards they are visible to every call.

        A bad row is rejected and sinks nothing else. Rows with the id and content of an earlier row of the run are duplicates, those with the
        content that is stored already are unchanged: a second run of the same rows stores nothing. An interrupt (Ctrl-C) ends the run early
        with a true report, ``interrupted`` set; a run after that takes up where this one ended.

        Args:
            progress: told after every chunk, in this thread.
            on_rejection: told of every rejection in row order, also beyond those the report names; in another thread.
            on_outcome: told what became of every row; in that other thread too.

        Raises:
            InvalidRequest: on ``batch_id``.
            Unavailable: the engine or the embedder gave up; says how many rows are stored, and that the same run may be repeated.
        """
        watch = Stopwatch.start(self._clock)
        source = rows if isinstance(rows, RowSource) else RowSource(rows)
        batch = self._batch_id(batch_id)
        run = _Run(self._engine, self._embedder, tenant, Tally(on_rejection, on_outcome))
        closing = Closing(self._records, tenant, batch, watch, self._clock)
        interrupted = False
        try:
            self._work(run, source, self._defaults(defaults, source), _Speed(watch, source, progress))
        except KeyboardInterrupt:
            interrupted = True
        except Unavailable as error:
            self._give_up(run, tenant, closing)
            raise _resumable(error, run.tally.done) from error
        except BaseException:
            self._give_up(run, tenant, closing)
            raise
        run.close()
        try:
            self._engine.refresh(tenant)
            report = self._report(tenant, batch, run.tally, source, seconds=watch.elapsed_s(), interrupted=interrupted)
            lost = closing.recorded(run.tally, "interrupted" if interrupted else "done")
            return replace(report, warnings=(*report.warnings, *lost))
        except Unavailable as error:
            raise _resumable(error, run.tally.done) from error

    def over(self, engine: DocumentStore) -> "Ingester":
        """The same, storing somewhere else, and without records: whoever takes parts of an ingest apart keeps the record of the whole."""
        return Ingester(engine, self._embedder, self._clock, self._settings, new_batch_id=self._new_batch_id)

    def _give_up(self, run: "_Run", tenant: Tenant, closing: Closing) -> None:
        """Make what was stored visible and keep the record, if the store still answers."""
        run.close()
        with suppress(Unavailable):
            self._engine.refresh(tenant)
        closing.recorded(run.tally, "failed")

    def _work(self, run: "_Run", source: RowSource, defaults: Defaults, speed: "_Speed") -> None:
        for chunk in chunks(source, defaults):
            run.start(chunk)
            speed.tell(run)
        while run.wait():
            speed.tell(run)

    def _defaults(self, given: Defaults | None, source: RowSource) -> Defaults:
        defaults = Defaults.of(self._settings) if given is None else given
        return replace(defaults, order=source.order, now=self._clock.now())

    def _batch_id(self, given: str | None) -> str:
        return usable_batch_id(given) or self._new_batch_id()

    def _report(self, tenant: Tenant, batch_id: str, tally: Tally, source: RowSource, *, seconds: float, interrupted: bool) -> IngestReport:
        totals = tally.totals()
        return IngestReport(
            batch_id=batch_id,
            received=totals["received"],
            indexed=totals["indexed"],
            unchanged=totals["unchanged"],
            updated=totals["updated"],
            duplicate=totals["duplicate"],
            rejected=totals["rejected"],
            corpus_size=self._engine.corpus(tenant).documents,
            seconds=seconds,
            rejections=tally.rejections,
            warnings=(*source.warnings, *tally.warnings()),
            mapping=dict(source.mapping),
            attribute_fields=tally.attribute_fields,
            interrupted=interrupted,
            masked=tally.masked,
        )


class _Run:
    """One ingest: embeds chunks, two at once, and writes and counts them in another thread.

    Counting happens beside the write, in a thread that no interrupt reaches, so that what is stored is counted and the counts add up.
    """

    def __init__(self, engine: DocumentStore, embedder: Embedder, tenant: Tenant, tally: Tally) -> None:
        self.tally = tally
        self.received = 0
        self._engine = engine
        self._embedder = embedder
        self._tenant = tenant
        self._planner = Planner(engine, tenant)
        self._failed = threading.Event()
        self._embedding = ThreadPoolExecutor(2, "ingest-embed")  # no core waits at the end of a chunk
        self._writing = ThreadPoolExecutor(1, "ingest-write")
        self._under_way: deque[Future[None]] = deque()

    def start(self, chunk: Chunk) -> None:
        """Put a chunk under way; waits while too many are."""
        self._planner.plan(chunk)
        self.received += chunk.rows
        vectors = self._embedding.submit(copy_context().run, self._vectors, chunk)  # with the correlation id and the span
        self._under_way.append(self._writing.submit(copy_context().run, self._finish, chunk, vectors))
        while len(self._under_way) > UNDER_WAY:
            self.wait()

    def wait(self) -> bool:
        """Wait for the oldest chunk; False when none is under way."""
        if not self._under_way:
            return False
        self._under_way[0].result()
        self._under_way.popleft()
        return True

    def close(self) -> None:
        """Let the write that is going on end, and give up what has not begun."""
        self._writing.shutdown(cancel_futures=True)
        self._embedding.shutdown(cancel_futures=True)

    def _vectors(self, chunk: Chunk) -> Vectors:
        texts = embedding_texts(chunk)
        place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
        if not place or self._failed.is_set():
            return np.zeros((0, self._embedder.dimension), dtype=np.float32)
        return self._embedder.embed(list(place))[[place[text] for text in texts]]

    def _finish(self, chunk: Chunk, vectors: "Future[Vectors]") -> None:
        if self._failed.is_set():
            return
        try:
            self._write(chunk, vectors.result())
        except CancelledError:
            return
        except BaseException:
            self._failed.set()
            raise
        finally:
            if not vectors.cancelled():
                self.tally.add(chunk.outcomes, chunk.noticed)

    def _write(self, chunk: Chunk, vectors: Vectors) -> None:
        at = 0
        for wave in chunk.waves:
            writes = []
            for each in wave:
                writes.append(_complete(each, vectors[at : at + len(each.passages)]))
                at += len(each.passages)
            outcomes = self._engine.write(self._tenant, writes)
            chunk.outcomes += [_of_row(each, outcome) for each, outcome in zip(wave, outcomes, strict=True)]
            self._planner.forget(outcome.doc_id for outcome in outcomes if outcome.kind not in ("indexed", "updated"))


class _Speed:
    """Tells the caller how far the run is."""

    def __init__(self, watch: Stopwatch, source: RowSource, told: Callable[[Progress], None] | None) -> None:
        self._watch = watch
        self._source = source
        self._told = told

    def tell(self, run: _Run) -> None:
        if self._told is None:
            return
        seconds, done = self._watch.elapsed_s(), run.tally.done
        rate = done / seconds if seconds > 0 else 0.0
        self._told(Progress(run.received, done, rate, self._remaining(run.received, done, seconds)))

    def _remaining(self, received: int, done: int, seconds: float) -> float | None:
        read = self._source.share_read()
        if read is None or read <= 0.0 or done == 0:
            return None
        share = read * done / received
        return seconds * (1.0 - share) / share


def _complete(each: Unembedded, vectors: Vectors) -> DocumentWrite:
    incoming = each.incoming
    return DocumentWrite(incoming.document, incoming.asked_version, incoming.content_hash, each.group_key, each.passages, vectors)


def _of_row(each: Unembedded, outcome: WriteOutcome) -> RowOutcome:
    return RowOutcome(each.incoming.row, outcome.doc_id, outcome.kind, outcome.field, outcome.reason)


def _resumable(error: Unavailable, done: int) -> Unavailable:
    said = str(error).rstrip(".")
    return Unavailable(
        f"{said}; {done:,} rows are done and stay so, run the same ingest again to go on behind them",
        dependency=error.dependency,
        retry_after_s=error.retry_after_s,
    )
