"""Evaluations to be run by the worker, once or again and again, kept in the state store."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from grounding.evaluation.gate import ScoreGate
from grounding.evaluation.gate_files import gate_as_json, gate_of
from runtime.clock import Clock
from runtime.errors import Conflict, InvalidRequest, NotFound
from runtime.tenancy import Tenant
from search.ports import StateEntry, StateStore

KIND = "eval_schedule"
LEAST_S, MOST_S = 60.0, 366 * 86_400.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the run that is due has come: cases done, how many sheets each finished chunk of results takes, and the set they are of.

    Until ``busy_until`` one worker is at it.
    """

    done: int = 0
    sheets: tuple[int, ...] = ()
    digest: str = ""
    seconds: float = 0.0
    busy_until: datetime | None = None


IDLE = Progress()


@dataclass(frozen=True, slots=True)
class Schedule:
    """A set to be evaluated at ``next_at``, and every ``every_s`` seconds where given; without ``next_at`` it has ended.

    Each run is held against ``gate`` and compared with the last one. ``last_error`` says why the last run was not possible.
    """

    schedule_id: str
    set_name: str
    next_at: datetime | None
    every_s: float | None = None
    gate: ScoreGate | None = None
    progress: Progress = IDLE
    last_report_id: str | None = None
    last_error: str = ""
    version: int = 0

    def report_id(self, tenant: Tenant) -> str:
        """The id of the report of the run that is due; the same whoever runs it, and however often."""
        due = "" if self.next_at is None else self.next_at.isoformat()
        return hashlib.sha256("\n".join((tenant, self.schedule_id, due)).encode()).hexdigest()[:32]

    def after(self, now: datetime) -> datetime | None:
        """When the next run is due: one that was missed is not made up for. None when there is none."""
        if self.every_s is None or self.next_at is None:
            return None
        passed = max(0.0, (now - self.next_at).total_seconds()) // self.every_s
        return self.next_at + timedelta(seconds=self.every_s * (passed + 1))


@dataclass(frozen=True, slots=True)
class Schedules:
    """Keeps schedules."""

    state: StateStore
    clock: Clock

    def save(
        self, tenant: Tenant, set_name: str, *, name: str | None = None, every_s: float | None = None, gate: ScoreGate | None = None
    ) -> Schedule:
        """Have a set evaluated as soon as a worker is free, and every ``every_s`` seconds where given. A schedule called ``name`` is replaced; without a
        name each call is a run of its own.

        Raises:
            InvalidRequest: on ``name`` or ``every_s``.
        """
        if every_s is not None and not LEAST_S <= every_s <= MOST_S:
            raise InvalidRequest(f"must be {LEAST_S:,.0f} to {MOST_S:,.0f} seconds", field="every_s")
        if name is not None and not 0 < len(name.strip()) <= 100:
            raise InvalidRequest("must have 1 to 100 characters", field="name")
        now = self.clock.now()
        schedule_id = name or hashlib.sha256(f"{tenant}\n{set_name}\n{now.isoformat()}".encode()).hexdigest()[:16]
        before = self.state.get(tenant, KIND, schedule_id)
        schedule = Schedule(schedule_id, set_name, now, every_s, gate, last_report_id=before.body["last_report_id"] if before else None)
        return _from_entry(self.state.put(tenant, KIND, schedule_id, _as_json(schedule)))

    def get(self, tenant: Tenant, schedule_id: str) -> Schedule:
        """One schedule.

        Raises:
            NotFound: there is none of that id.
        """
        entry = self.state.get(tenant, KIND, schedule_id)
        if entry is None:
            raise NotFound("no scheduled evaluation has this id; list them to see which there are")
        return _from_entry(entry)

    def list(self, tenant: Tenant) -> tuple[Schedule, ...]:
        """All of a tenant, newest first."""
        entries, cursor = self.state.entries(tenant, KIND, first=1000)
        while cursor is not None:
            more, cursor = self.state.entries(tenant, KIND, first=1000, after=cursor)
            entries += more
        return tuple(_from_entry(entry) for entry in entries)

    def delete(self, tenant: Tenant, schedule_id: str) -> None:
        """Remove a schedule; a run in progress is not finished, reports stay.

        Raises:
            NotFound: there is none of that id.
        """
        if not self.state.remove(tenant, KIND, [schedule_id]):
            raise NotFound("no scheduled evaluation has this id; list them to see which there are")

    def update(self, tenant: Tenant, schedule: Schedule) -> Schedule | None:
        """Keep a changed schedule, unless somebody else changed or removed it since it was read: then None."""
        try:
            entry = self.state.put(tenant, KIND, schedule.schedule_id, _as_json(schedule), expected=schedule.version)
        except Conflict:
            return None
        return _from_entry(entry)

    def all(self) -> Iterator[tuple[Tenant, Schedule]]:
        """Those of every tenant, for the worker."""
        for tenant, entry in self.state.scan(KIND):
            yield tenant, _from_entry(entry)


def _as_json(schedule: Schedule) -> dict[str, Any]:
    progress = schedule.progress
    return {
        "set_name": schedule.set_name,
        "next_at": _moment(schedule.next_at),
        "every_s": schedule.every_s,
        "gate": None if schedule.gate is None else gate_as_json(schedule.gate),
        "progress": {
            "done": progress.done,
            "sheets": list(progress.sheets),
            "digest": progress.digest,
            "seconds": progress.seconds,
            "busy_until": _moment(progress.busy_until),
        },
        "last_report_id": schedule.last_report_id,
        "last_error": schedule.last_error,
    }


def _from_entry(entry: StateEntry) -> Schedule:
    body = entry.body
    return Schedule(
        schedule_id=entry.entry_id,
        set_name=body["set_name"],
        next_at=_instant(body["next_at"]),
        every_s=body["every_s"],
        gate=None if body["gate"] is None else gate_of(body["gate"]),
        progress=_progress(body["progress"]),
        last_report_id=body["last_report_id"],
        last_error=body["last_error"],
        version=entry.version,
    )


def _progress(body: Mapping[str, Any]) -> Progress:
    return Progress(body["done"], tuple(body["sheets"]), body["digest"], body["seconds"], _instant(body["busy_until"]))


def _moment(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
