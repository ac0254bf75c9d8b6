"""Whose piece of work is next, where few are done at once. Pure; owned by one thread."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator

from worker.duties import Work

Lane = tuple[str, str]
"""Queue and tenant."""


class Turns:
    """Round robin over queues and tenants. With ``places`` > 1 neither a queue nor a tenant ever holds all of them, so that one that is slow leaves a
    place for the others; a tenant has two pieces at a time only while nobody else waits."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._most = max(1, places - 1)
        self._waiting: dict[Lane, deque[Work]] = {}
        self._known: set[str] = set()
        self._running: dict[str, Lane] = {}
        self._served: dict[Lane, int] = {}
        self._turn = 0

    @property
    def running(self) -> int:
        """Pieces that were taken and are not over."""
        return len(self._running)

    def offer(self, queue: str, pieces: Iterable[Work]) -> None:
        """Let pieces wait behind those of the same queue and tenant; ones that wait or run already are not taken twice."""
        for work in pieces:
            if work.work_id not in self._known:
                self._known.add(work.work_id)
                self._waiting.setdefault((queue, work.tenant), deque()).append(work)

    def take(self) -> Work | None:
        """The next piece, which runs from now on; None when all places are taken, or no piece may take one."""
        lane = min(self._eligible(), key=self._rank, default=None) if self.running < self._places else None
        if lane is None:
            return None
        work = self._waiting[lane].popleft()
        if not self._waiting[lane]:
            del self._waiting[lane]
        self._turn += 1
        self._served[lane] = self._turn
        self._running[work.work_id] = lane
        return work

    def over(self, work: Work) -> None:
        """The piece runs no more."""
        del self._running[work.work_id]
        self._known.discard(work.work_id)

    def _eligible(self) -> Iterator[Lane]:
        queues = Counter(queue for queue, _ in self._running.values())
        tenants = Counter(tenant for _, tenant in self._running.values())
        lanes = [lane for lane in self._waiting if queues[lane[0]] < self._most and tenants[lane[1]] < self._most]
        idle = [lane for lane in lanes if not tenants[lane[1]]]
        yield from idle or lanes

    def _rank(self, lane: Lane) -> tuple[int, int]:
        busy = sum(1 for queue, _ in self._running.values() if queue == lane[0])
        return busy, self._served.get(lane, 0)
