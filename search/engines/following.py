"""One engine after another behind the same names: what is served is looked up every second, and changed as a whole, embedder and engine together.

A request that is held (:meth:`Following.held`) searches with the embedder and the engine it began with, to its end, so that no vector is ever compared
with those of another model. Writes always go to what is served when they are made, embedded anew if need be; where writes are stopped because a
change is under way, they wait for it. What nobody uses any more is closed.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from runtime.clock import Clock, Deadline
from runtime.errors import ServiceError, Unavailable
from runtime.resilience import Guard, Guarded
from runtime.telemetry import logger
from runtime.tenancy import Tenant
from search.documents import Corpus, Document, DocumentPage, DocumentWrite, Filters, StoredVersion, Vectors, WriteOutcome
from search.embedding.anew import embedded_anew
from search.engines.opensearch_errors import WritesBlocked
from search.ports import Embedder, Engine, Months, MonthsHeld
from search.ranking import BucketQuery, Buckets, GroupMembers, LegQuery, Legs

T = TypeVar("T")

LOOK_S = 1.0
"""How old a look at what is served may be, when somebody asks."""
LOOK_AGAIN_S = 5.0
"""How long after it could not be opened it is tried again."""
GRACE_S = 30.0
"""How long what is not served any more goes on answering where its successor cannot be opened."""
PATIENCE_S = 30.0
"""How long a write waits where writes are stopped."""
_POLL_S = 0.1


@dataclass(eq=False, slots=True)
class Served:
    """An engine with the embedder of its vectors. ``name`` is equal for equal ones; ``notice`` is what whoever looks after it should know; ``close``
    releases what is its own."""

    name: object
    engine: Engine
    embedder: Embedder
    months: Months
    close: Callable[[], None]
    notice: str = ""
    users: int = 0


class Elsewhere(Protocol):
    """Copies of the documents that are not served: what is deleted goes there too. Each may be repeated."""

    def forget(self, tenant: Tenant, doc_ids: Sequence[str]) -> None:
        """These documents, after they were deleted from what is served."""
        ...

    def erase(self, tenant: Tenant) -> None:
        """Everything of a tenant."""
        ...

    def expunge(self, tenant: Tenant) -> None:
        """Text of an erased tenant, off the disk."""
        ...

    def drop(self, tenant: Tenant, month: str) -> None:
        """What is left of a month."""
        ...


@dataclass(eq=False, slots=True)
class _Hold:
    """What one request works with: ``asked`` to search, and ``wrote``, once it wrote to something later, to read what it wrote."""

    asked: Served
    wrote: Served | None = None


@dataclass(eq=False, slots=True)
class _Seen:
    """When was looked last, and when it was found last that what is served is ours; why its successor could not be opened."""

    looked_s: float
    sure_s: float
    problem: str = ""


class Following:
    """Hands out what is served now. ``look`` names it, ``opened`` opens what is named, ``closing`` says whether writes are stopped for a change. Safe to
    share between threads."""

    def __init__(
        self,
        look: Callable[[], object],
        opened: Callable[[object], Served],
        closing: Callable[[], bool],
        clock: Clock,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._look = look
        self._opened = opened
        self._closing = closing
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._hold: ContextVar[_Hold | None] = ContextVar("hold", default=None)
        self._served = opened(look())
        self._seen = _Seen(clock.seconds(), clock.seconds())

    @property
    def present(self) -> Served:
        """What was served when it was looked at last; it may be closed at any time."""
        return self._served

    @property
    def problem(self) -> str:
        """Why what is served cannot be opened here; empty when it is."""
        return self._seen.problem

    @contextmanager
    def held(self) -> Iterator[None]:
        """Whatever is done inside, in this thread and those that take over its context, is done with one embedder and its engine."""
        if self._hold.get() is not None:
            yield
            return
        hold = _Hold(self._taken())
        token = self._hold.set(hold)
        try:
            yield
        finally:
            self._hold.reset(token)
            for served in (hold.asked, hold.wrote):
                self._left(served)

    @contextmanager
    def asked(self) -> Iterator[Served]:
        """What to embed and search with."""
        hold = self._hold.get()
        if hold is not None:
            yield hold.asked
            return
        served = self._taken()
        try:
            yield served
        finally:
            self._left(served)

    @contextmanager
    def read(self) -> Iterator[Served]:
        """What to read from: what was last written to by this request, if it wrote."""
        hold = self._hold.get()
        if hold is not None and hold.wrote is not None:
            yield hold.wrote
            return
        with self.asked() as served:
            yield served

    def written(self, call: Callable[[Served, Served], T]) -> T:
        """What ``call`` returns, given what vectors were made with and what is to be written to. Where writes are stopped, it is called again.

        Raises:
            WritesBlocked: they are still stopped after :data:`PATIENCE_S`.
        """
        patience = Deadline.after(PATIENCE_S, self._clock)
        with self.asked() as made:
            while True:
                served = self._taken()
                try:
                    result = call(made, served)
                except WritesBlocked:
                    if patience.remaining_s() <= 0:
                        raise
                else:
                    self._note_write(served)
                    return result
                finally:
                    self._left(served)
                self._wait(patience)
                self._look_now(wait=True, always=True)

    def close(self) -> None:
        """Close what is served. What was served before is closed when its last request ends."""
        self._served.close()

    def _wait(self, patience: Deadline) -> None:
        """While writes are stopped. A call that is made in vain leaves something to be cleared up."""
        self._sleep(_POLL_S)
        with suppress(ServiceError):
            while patience.remaining_s() > 0 and self._closing():
                self._sleep(_POLL_S)

    def _note_write(self, served: Served) -> None:
        hold = self._hold.get()
        if hold is None or served in (hold.asked, hold.wrote):
            return
        with self._lock:
            served.users += 1
            before, hold.wrote = hold.wrote, served
        self._left(before)

    def _taken(self) -> Served:
        """What is served, not to be closed before :meth:`_left`."""
        now_s, seen = self._clock.seconds(), self._seen
        if now_s - seen.looked_s >= LOOK_S:
            self._look_now(wait=now_s - seen.sure_s >= GRACE_S)
        if self._seen.problem and self._clock.seconds() - self._seen.sure_s >= GRACE_S:
            raise Unavailable(f"another generation of documents is served, and cannot be opened here: {self._seen.problem}")
        with self._lock:
            self._served.users += 1
            return self._served

    def _left(self, served: Served | None) -> None:
        if served is None:
            return
        with self._lock:
            served.users -= 1
            unused = served.users == 0 and served is not self._served
        if unused:
            served.close()

    def _look_now(self, *, wait: bool, always: bool = False) -> None:
        """Look, unless another thread does; with ``wait``, after it has."""
        if not self._looking.acquire(blocking=wait):
            return
        try:
            if always or self._clock.seconds() - self._seen.looked_s >= LOOK_S:
                self._look_and_follow()
        finally:
            self._looking.release()

    def _look_and_follow(self) -> None:
        try:
            name = self._look()
        except ServiceError:  # then nothing else can be asked of it either, and says so
            self._seen = _Seen(self._clock.seconds(), self._seen.sure_s, self._seen.problem)
            return
        try:
            if name != self._served.name:
                self._change(self._opened(name))
            self._seen = _Seen(self._clock.seconds(), self._clock.seconds())
        except ServiceError as error:
            if not self._seen.problem:
                logger(__name__).error("generation_not_opened", error=str(error))
            self._seen = _Seen(self._clock.seconds() + LOOK_AGAIN_S - LOOK_S, self._seen.sure_s, str(error))

    def _change(self, served: Served) -> None:
        with self._lock:
            before, self._served = self._served, served
            unused = before.users == 0
        logger(__name__).info("generation_served", model=served.embedder.model)
        if unused:
            before.close()


class FollowingEmbedder:
    """Implements :class:`search.ports.Embedder`."""

    def __init__(self, following: Following) -> None:
        self._following = following

    @property
    def model(self) -> str:
        """See :class:`search.ports.Embedder`."""
        with self._following.asked() as served:
            return served.embedder.model

    @property
    def dimension(self) -> int:
        """See :class:`search.ports.Embedder`."""
        with self._following.asked() as served:
            return served.embedder.dimension

    @property
    def guards(self) -> Sequence[Guard]:
        """Those of an embedder that is elsewhere, for metrics: nothing is looked up for them."""
        embedder = self._following.present.embedder
        return embedder.guards if isinstance(embedder, Guarded) else ()

    def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> Vectors:
        """See :class:`search.ports.Embedder`."""
        with self._following.asked() as served:
            return served.embedder.embed(texts, deadline=deadline)


@dataclass(frozen=True, slots=True)
class FollowingMonths:
    """Implements :class:`search.ports.Months`."""

    following: Following
    elsewhere: Elsewhere = field(repr=False)

    def held(self, tenant: Tenant) -> MonthsHeld:
        """See :class:`search.ports.Months`."""
        with self.following.read() as served:
            return served.months.held(tenant)

    def drop(self, tenant: Tenant, month: str) -> bool:
        """See :class:`search.ports.Months`."""
        dropped = self.following.written(lambda _made, served: served.months.drop(tenant, month))
        if dropped:
            self.elsewhere.drop(tenant, month)
        return dropped


class FollowingEngine:
    """Implements :class:`search.ports.Engine`."""

    def __init__(self, following: Following, elsewhere: Elsewhere) -> None:
        self._following = following
        self._elsewhere = elsewhere

    def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
        """See :class:`search.ports.Engine`."""

        def write(made: Served, served: Served) -> tuple[WriteOutcome, ...]:
            return served.engine.write(tenant, writes if served is made else embedded_anew(writes, served.embedder))

        return self._following.written(write)

    def delete(self, tenant: Tenant, doc_ids: Sequence[str]) -> tuple[str, ...]:
        """See :class:`search.ports.Engine`."""
        deleted = self._following.written(lambda _made, served: served.engine.delete(tenant, doc_ids))
        self._elsewhere.forget(tenant, doc_ids)
        return deleted

    def erase(self, tenant: Tenant) -> int:
        """See :class:`search.ports.Engine`."""
        live = self._following.written(lambda _made, served: served.engine.erase(tenant))
        self._elsewhere.erase(tenant)
        return live

    def expunge(self, tenant: Tenant) -> None:
        """See :class:`search.ports.Engine`."""
        with self._following.read() as served:
            served.engine.expunge(tenant)
        self._elsewhere.expunge(tenant)

    def legs(self, tenant: Tenant, query: LegQuery, *, deadline: Deadline | None = None) -> Legs:
        """See :class:`search.ports.Engine`."""
        with self._following.asked() as served:
            return served.engine.legs(tenant, query, deadline=deadline)

    def stored(self, tenant: Tenant, doc_ids: Sequence[str]) -> Mapping[str, StoredVersion]:
        """See :class:`search.ports.Engine`."""
        with self._following.read() as served:
            return served.engine.stored(tenant, doc_ids)

    def refresh(self, tenant: Tenant) -> None:
        """See :class:`search.ports.Engine`."""
        with self._following.read() as served:
            served.engine.refresh(tenant)

    def document(self, tenant: Tenant, doc_id: str) -> Document | None:
        """See :class:`search.ports.Engine`."""
        with self._following.read() as served:
            return served.engine.document(tenant, doc_id)

    def documents(
        self, tenant: Tenant, filters: Filters, *, match: str | None = None, first: int = 50, after: str | None = None
    ) -> DocumentPage:
        """See :class:`search.ports.Engine`."""
        with self._following.read() as served:
            return served.engine.documents(tenant, filters, match=match, first=first, after=after)

    def group_members(self, tenant: Tenant, group_keys: Sequence[str], filters: Filters, *, first: int = 100) -> Mapping[str, GroupMembers]:
        """See :class:`search.ports.Engine`."""
        with self._following.read() as served:
            return served.engine.group_members(tenant, group_keys, filters, first=first)

    def aggregate(self, tenant: Tenant, query: BucketQuery) -> Buckets:
        """See :class:`search.ports.Engine`."""
        with self._following.read() as served:
            return served.engine.aggregate(tenant, query)

    def corpus(self, tenant: Tenant) -> Corpus:
        """See :class:`search.ports.Engine`."""
        with self._following.read() as served:
            return served.engine.corpus(tenant)

    def generation(self, tenant: Tenant) -> int:
        """See :class:`search.ports.Engine`."""
        with self._following.read() as served:
            return served.engine.generation(tenant)

    def describe(self) -> Mapping[str, str]:
        """See :class:`search.ports.Engine`; ``problem`` is why what is served cannot be opened here, ``notice`` what is else to be known."""
        with self._following.read() as served:
            more = {"problem": self._following.problem, "notice": served.notice}
            return {**served.engine.describe(), **{name: text for name, text in more.items() if text}}

    def close(self) -> None:
        """See :class:`search.ports.Engine`."""
        self._following.close()
