"""A digest from what was seen and what was answered."""

from dataclasses import replace
from datetime import datetime

from grounding.answers import Outcome
from worker.monitors.digest import Digest
from worker.monitors.monitor import Monitor
from worker.monitors.observing import Observation
from worker.monitors.window import Window


def blank_digest(monitor: Monitor, digest_id: str, window: Window, now: datetime) -> Digest:
    """A digest of a monitor and window that tells nothing yet."""
    return Digest(
        digest_id=digest_id,
        monitor_id=monitor.monitor_id,
        monitor_name=monitor.name,
        severity=monitor.severity,
        question=monitor.question,
        window_start=window.start,
        window_end=window.end,
        fired_because="",
        observed=0.0,
        threshold=0.0,
        unit="",
        baseline=None,
        n=0,
        denominator=0,
        doc_ids=(),
        fingerprint="",
        proofs=(),
        claims=(),
        refusal=None,
        run_id=None,
        first_seen=window.end,
        last_seen=window.end,
        created_at=now,
        updated_at=now,
    )


def told(digest: Digest, seen: Observation, asked: Outcome | str) -> Digest:
    """The digest with the numbers that were seen and the answer that was given; in place of an answer, why there is none."""
    outcome = asked if isinstance(asked, Outcome) else None
    return replace(
        digest,
        fired_because=seen.because,
        observed=seen.observed,
        threshold=seen.threshold,
        unit=seen.unit,
        baseline=seen.baseline,
        n=seen.n,
        denominator=seen.denominator,
        doc_ids=seen.doc_ids,
        fingerprint=seen.fingerprint,
        breached=seen.breached,
        proofs=seen.proofs,
        claims=outcome.answer.claims if outcome and outcome.answer else (),
        refusal=outcome.refusal if outcome else None,
        run_id=outcome.run_id if outcome else None,
        degraded=dict(outcome.degraded) if outcome else {"answer": f"the digest has no text: {asked}"},
    )
