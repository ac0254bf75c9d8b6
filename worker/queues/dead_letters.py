"""Work that was given up after bounded attempts: kept where people see it, until they have it done again or drop it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runtime.clock import Clock
from runtime.errors import NotFound
from runtime.tenancy import Tenant
from search.ports import StateEntry, StateStore
from worker.duties import Work

KIND = "dead_letter"
WAITING = {"status": "waiting"}
DROPPED = {"status": "dropped"}


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One piece of work that is not tried any more. ``letter_id`` is the id of the work, so that a piece has one letter at most."""

    letter_id: str
    work: Work
    error: str
    attempts: int
    at: datetime


class DeadLetters:
    """Dead letters of every tenant, in the state store. As long as a letter is kept, dropped ones included, its work is not done."""

    def __init__(self, state: StateStore, clock: Clock) -> None:
        self._state = state
        self._clock = clock

    def write(self, work: Work, error: str, attempts: int) -> DeadLetter:
        """Give the work up; replaces an earlier letter of the same work."""
        letter = DeadLetter(work.work_id, work, error, attempts, self._clock.now())
        self._state.put(work.tenant, KIND, letter.letter_id, _body(letter), labels=WAITING)
        return letter

    def silences(self, work: Work) -> bool:
        """The work was given up or dropped, and is not to be done."""
        return self._state.get(work.tenant, KIND, work.work_id) is not None

    def of(self, work: Work) -> DeadLetter | None:
        """The letter of this work, waiting or dropped."""
        entry = self._state.get(work.tenant, KIND, work.work_id)
        return None if entry is None else _letter(work.tenant, entry)

    def forget(self, work: Work) -> None:
        """Take the letter away, if there is one: somebody else answers for the work now."""
        self._state.remove(work.tenant, KIND, (work.work_id,))

    def list(self, tenant: Tenant, *, first: int = 50, after: str | None = None) -> tuple[tuple[DeadLetter, ...], str | None]:
        """Letters that wait for somebody, newest first, with a cursor for the next page."""
        found, cursor = self._state.entries(tenant, KIND, labels=WAITING, first=first, after=after)
        return tuple(_letter(tenant, entry) for entry in found), cursor

    def retry(self, tenant: Tenant, letter_id: str) -> Work:
        """Take the letter away, so that its work is done again; returns the work, for a nudge.

        Raises:
            NotFound: no such letter waits.
        """
        letter = self._waiting(tenant, letter_id)
        self._state.remove(tenant, KIND, (letter_id,))
        return letter.work

    def drop(self, tenant: Tenant, letter_id: str) -> DeadLetter:
        """Never do this piece of work; it is not listed any more.

        Raises:
            NotFound: no such letter waits.
        """
        letter = self._waiting(tenant, letter_id)
        self._state.put(tenant, KIND, letter_id, _body(letter), labels=DROPPED)
        return letter

    def _waiting(self, tenant: Tenant, letter_id: str) -> DeadLetter:
        entry = self._state.get(tenant, KIND, letter_id)
        if entry is None or dict(entry.labels) != WAITING:
            raise NotFound(f"there is no dead letter {letter_id}")
        return _letter(tenant, entry)


def _body(letter: DeadLetter) -> Mapping[str, Any]:
    return {
        "duty": letter.work.duty,
        "key": list(letter.work.key),
        "error": letter.error,
        "attempts": letter.attempts,
        "at": letter.at.isoformat(),
    }


def _letter(tenant: Tenant, entry: StateEntry) -> DeadLetter:
    body = entry.body
    work = Work(body["duty"], tenant, tuple(body["key"]))
    return DeadLetter(entry.entry_id, work, body["error"], body["attempts"], datetime.fromisoformat(body["at"]))
