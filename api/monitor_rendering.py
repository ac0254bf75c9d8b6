"""Serialisers of monitors, digests and deliveries, as :mod:`api.rendering` has them for everything else."""

from collections.abc import Iterable
from typing import Any

from api.casing import camel
from api.json_values import Json, moment, number, optional_moment, optional_number
from api.monitor_operations import Ran, WatchedPage
from api.rendering import claim, degraded, filters, proof, refusal
from worker.deliveries.receivers import Receiver, masked
from worker.deliveries.record import Delivery
from worker.deliveries.store import DeliveryPage
from worker.monitors.condition_json import condition_as_json
from worker.monitors.conditions import Condition
from worker.monitors.digest import Digest
from worker.monitors.digests import DigestPage
from worker.monitors.evaluating import Evaluation
from worker.monitors.monitor import Monitor
from worker.monitors.standing import Held


def monitor(value: Monitor, held: Held) -> Json:
    """A saved question, where it stands, and the latest numbers; those and the end of their window are null before the first look."""
    numbers, standing = held.numbers, held.standing
    return {
        "monitorId": value.monitor_id,
        "name": value.name,
        "question": value.question,
        "match": value.match,
        "filters": filters(value.filters),
        "condition": condition(value.condition),
        "windowSeconds": value.window_s,
        "cadenceSeconds": value.cadence_s,
        "consecutiveBreaches": value.consecutive_breaches,
        "cooldownSeconds": value.cooldown_s,
        "severity": value.severity,
        "receivers": [receiver(item) for item in value.receivers],
        "paused": value.paused,
        "version": value.version,
        "createdAt": moment(value.created_at),
        "state": standing.state.value,
        "since": optional_moment(standing.since),
        "breaches": standing.place.breaches,
        "lastWindowEnd": optional_moment(standing.latest),
        "observed": None if numbers is None else number(numbers.observed),
        "threshold": None if numbers is None else number(numbers.threshold),
        "unit": None if numbers is None else numbers.unit,
        "baseline": None if numbers is None else optional_number(numbers.baseline),
        "n": None if numbers is None else numbers.n,
        "denominator": None if numbers is None else numbers.denominator,
        "caveat": None if numbers is None else numbers.caveat or None,
        "problem": held.problem or None,
        "problemAt": optional_moment(held.problem_at),
        "digestId": held.digest_id,
    }


def monitor_page(value: WatchedPage) -> Json:
    """Some monitors, and the cursor of the next page."""
    shown = [monitor(item.monitor, item.held) for item in value.watched]
    return {"monitors": shown, "unreadable": list(value.unreadable), "cursor": value.cursor}


def runs(values: Iterable[Ran]) -> Json:
    """What became of everything that was due."""
    return {"evaluations": [_ran(value) for value in values]}


def _ran(value: Ran) -> Json:
    done = None if value.evaluation is None else evaluation(value.evaluation)
    return {"tenant": value.work.tenant, "monitorId": value.work.key[0], "evaluation": done, "problem": value.problem or None}


def evaluation(value: Evaluation) -> Json:
    """What one look saw, and what it did. A window that was evaluated before says so and has no numbers."""
    seen = value.observation
    return {
        "monitorId": value.monitor.monitor_id,
        "windowStart": moment(value.window.start),
        "windowEnd": moment(value.window.end),
        "outcome": value.outcome,
        "stateBefore": value.before.value,
        "stateAfter": value.after.value,
        "because": value.because,
        "observed": None if seen is None else number(seen.observed),
        "threshold": None if seen is None else number(seen.threshold),
        "unit": None if seen is None else seen.unit,
        "baseline": None if seen is None else optional_number(seen.baseline),
        "n": None if seen is None else seen.n,
        "denominator": None if seen is None else seen.denominator,
        "docIds": [] if seen is None else list(seen.doc_ids),
        "digestWanted": value.digest_wanted,
        "digest": None if value.digest is None else digest(value.digest),
        "dryRun": value.dry_run,
    }


def digest(value: Digest) -> Json:
    """What a monitor published; its numbers with their proofs, its claims with their citations."""
    return {
        "digestId": value.digest_id,
        "monitorId": value.monitor_id,
        "monitorName": value.monitor_name,
        "severity": value.severity,
        "question": value.question,
        "version": value.version,
        "windowStart": moment(value.window_start),
        "windowEnd": moment(value.window_end),
        "firedBecause": value.fired_because,
        "breached": value.breached,
        "observed": number(value.observed),
        "threshold": number(value.threshold),
        "unit": value.unit,
        "baseline": optional_number(value.baseline),
        "n": value.n,
        "denominator": value.denominator,
        "docIds": list(value.doc_ids),
        "cursor": value.cursor,
        "proofs": [proof(item) for item in value.proofs],
        "claims": [claim(item) for item in value.claims],
        "refusal": None if value.refusal is None else refusal(value.refusal),
        "degraded": degraded(value.degraded),
        "withdrawnDocIds": list(value.withdrawn_doc_ids),
        "runId": value.run_id,
        "firstSeen": moment(value.first_seen),
        "lastSeen": moment(value.last_seen),
        "createdAt": moment(value.created_at),
        "updatedAt": moment(value.updated_at),
    }


def digest_page(value: DigestPage) -> Json:
    """Some digests, and the cursor of the next page."""
    return {"digests": [digest(item) for item in value.digests], "cursor": value.cursor}


def condition(value: Condition) -> Json:
    """When a monitor fires; only the members it has."""
    members: dict[str, Any] = condition_as_json(value)
    return {camel(name): number(item) if isinstance(item, float) else item for name, item in members.items()}


def receiver(value: Receiver) -> Json:
    """Who is told, with the secret part of the address left out."""
    return {"receiverId": value.receiver_id, "channel": value.channel, "target": masked(value)}


def delivery(value: Delivery) -> Json:
    """One digest on its way to one receiver."""
    return {
        "deliveryId": value.delivery_id,
        "digestId": value.digest_id,
        "monitorId": value.monitor_id,
        "receiver": receiver(value.receiver),
        "state": value.state,
        "version": value.version,
        "deliveredVersion": value.delivered_version,
        "attempts": value.attempts,
        "lastError": value.last_error or None,
        "nextAttemptAt": moment(value.next_attempt_at) if value.state == "pending" else None,
        "deliveredAt": optional_moment(value.delivered_at),
    }


def deliveries(values: Iterable[Delivery]) -> Json:
    """Some deliveries, all there are."""
    return {"deliveries": [delivery(item) for item in values], "cursor": None}


def delivery_page(value: DeliveryPage) -> Json:
    """Some deliveries, and the cursor of the next page."""
    return {"deliveries": [delivery(item) for item in value.deliveries], "cursor": value.cursor}
