"""Who is at which piece of work, kept in the state store: for workers without a broker. Several of them then do not do the same at the same time, and
an attempt that ended its process is counted."""

import threading
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from runtime.clock import Clock
from runtime.errors import Conflict
from search.ports import StateStore
from worker.duties import Work
from worker.queues.attempts import Again, Attempt

KIND = "work_claim"
LEASE_S = 30.0
KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Claim:
    work: Work
    attempt: Attempt
    version: int


class Claims:
    """Of one worker, called ``holder``. Two that claim at once: one wins. A claim is held for :data:`LEASE_S` and renewed, so that it ends soon after its
    worker was killed. Safe to share between threads."""

    def __init__(self, state: StateStore, clock: Clock, holder: str) -> None:
        self._state = state
        self._clock = clock
        self._holder = holder
        self._lock = threading.Lock()
        self._held: dict[str, _Claim] = {}

    def take(self, work: Work) -> Attempt | None:
        """Which attempt this is; None when another worker is at it, or it is to wait before another attempt."""
        entry = self._state.get(work.tenant, KIND, work.work_id)
        if entry is not None and datetime.fromisoformat(entry.body["until"]) > self._clock.now():
            return None
        before = Attempt(entry.body["attempts"], entry.body["outages"]) if entry is not None else Attempt(0)
        claim = _Claim(work, replace(before, number=before.number + 1), entry.version if entry is not None else 0)
        with self._lock:
            return claim.attempt if self._put(claim, LEASE_S) else None

    def renew(self) -> None:
        """The leases of all that is held begin anew; what somebody else has taken over is held no more."""
        for work_id in list(self._held):
            with self._lock:
                claim = self._held.pop(work_id, None)
                if claim is not None:
                    self._put(claim, LEASE_S)

    def postpone(self, work: Work, again: Again) -> None:
        """Not before the wait is over, for any worker."""
        with self._lock:
            claim = self._held.pop(work.work_id, None)
            if claim is not None:
                attempt = claim.attempt
                waiting = Attempt(attempt.number - 1, attempt.outages + 1) if again.outage else attempt
                self._put(replace(claim, attempt=waiting), again.wait_s)
                self._held.pop(work.work_id, None)

    def release(self, work: Work) -> None:
        """Done or given up."""
        with self._lock:
            if self._held.pop(work.work_id, None) is not None:
                self._state.remove(work.tenant, KIND, (work.work_id,))

    def forget_old(self) -> None:
        """Remove what workers left that were killed, of work that nobody wanted since."""
        before = self._clock.now() - KEPT
        old = [(tenant, entry.entry_id) for tenant, entry in self._state.scan(KIND) if datetime.fromisoformat(entry.body["until"]) < before]
        for tenant, entry_id in old:
            self._state.remove(tenant, KIND, (entry_id,))

    def _put(self, claim: _Claim, lasting_s: float) -> bool:
        until = self._clock.now() + timedelta(seconds=lasting_s)
        body = {
            "duty": claim.work.duty,
            "holder": self._holder,
            "until": until.isoformat(),
            "attempts": claim.attempt.number,
            "outages": claim.attempt.outages,
        }
        try:
            entry = self._state.put(claim.work.tenant, KIND, claim.work.work_id, body, expected=claim.version)
        except Conflict:
            return False
        self._held[claim.work.work_id] = replace(claim, version=entry.version)
        return True
