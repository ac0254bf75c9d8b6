"""Digests, monitors and a worker that delivers, for tests: real stores in a file, a clock that is set by hand."""

import base64
import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from grounding.answers import Citation, Claim, ClaimKind
from runtime.clock import SettableClock
from runtime.settings import Settings, read_settings
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant, tenant_named
from search.ports import Engine, StateStore
from worker.deliveries.duty import DeliverDuty
from worker.deliveries.receivers import Receiver
from worker.deliveries.sending import Sender
from worker.deliveries.store import Deliveries
from worker.duties import Work
from worker.monitors.conditions import Count
from worker.monitors.digest import Digest
from worker.monitors.digests import Digests
from worker.monitors.monitor import Monitor
from worker.monitors.store import Monitors

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ACME, BIRCH = tenant_named("acme"), tenant_named("birch")
SECRET = "whsec_" + base64.b64encode(b"a key of at least 24 bytes!").decode()
SPITEFUL = "<b>&amp; <!channel> <https://evil.example|click>\r\nBcc: x@evil.example 😀"


def claim(text: str = "Card payments are declined.", doc_id: str = "d-1") -> Claim:
    """One cited sentence."""
    return Claim(text, ClaimKind.FINDING, 0.9, (Citation(doc_id, 1, 0, len(text), text, 0.9),))


def digest(digest_id: str = "dig_1", monitor_id: str = "payments", **members: Any) -> Digest:
    """A digest of the monitor ``payments``."""
    blank = Digest(
        digest_id=digest_id,
        monitor_id=monitor_id,
        monitor_name="Card payments",
        severity="critical",
        question="Why are card payments declined?",
        window_start=NOW - timedelta(days=1),
        window_end=NOW,
        fired_because="12 of 80 documents contain “declined”; the monitor fires at 10 or more.",
        observed=12.0,
        threshold=10.0,
        unit="documents",
        baseline=None,
        n=12,
        denominator=80,
        doc_ids=("d-1", "d-2"),
        fingerprint="f",
        proofs=(),
        claims=(claim(),),
        refusal=None,
        run_id="run-1",
        first_seen=NOW,
        last_seen=NOW,
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(blank, **members)


@dataclass(frozen=True, slots=True)
class Desk:
    """A worker's view of deliveries."""

    duty: DeliverDuty
    clock: SettableClock
    digests: Digests
    monitors: Monitors
    deliveries: Deliveries

    def publish(self, *receivers: Receiver, tenant: Tenant = ACME, number: int = 1, **members: Any) -> Digest:
        """A monitor with these receivers, and a digest of it."""
        monitor_id = members.pop("monitor_id", "payments")
        monitor = Monitor(monitor_id, "Card payments", "Why?", Count(at_least=10), NOW, receivers=receivers)
        self.monitors.save(tenant, monitor)
        made = digest(f"dig_{number}", monitor_id, **members)
        assert self.digests.publish(tenant, made)
        return made

    def tick(self) -> list[Work]:
        """Everything that is due now, and whatever follows from it, in order; returns what was done."""
        return self.work(self.duty.due(self.clock.now()))

    def work(self, due: Iterable[Work]) -> list[Work]:
        waiting, done = list(due), []
        while waiting:
            piece = waiting.pop(0)
            done.append(piece)
            waiting += self.duty.do(piece)
        return done

    def later(self, **time: float) -> None:
        self.clock.instant += timedelta(**time)
        self.clock.elapsed_s += timedelta(**time).total_seconds()


def settings(**given: object) -> Settings:
    """Deliveries to this machine are allowed."""
    return read_settings({}, **({"delivery_private_networks": True, "webhook_secret": SECRET, "delivery_timeout_s": 2.0} | given))


def desk(engine: Engine, state: StateStore, clock: SettableClock, **given: object) -> Desk:
    """A worker over these stores."""
    chosen = settings(**given)
    digests, monitors, deliveries = Digests(state, clock, engine), Monitors(state, clock), Deliveries(state, clock)
    sender = Sender(chosen, clock)
    duty = DeliverDuty(deliveries, digests, monitors, sender, clock, Metrics(), chosen, random.Random(7))
    return Desk(duty, clock, digests, monitors, deliveries)
