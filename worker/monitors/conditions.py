"""When a monitor fires: what is compared with what, and the rule that decides. Pure; the numbers come from :mod:`worker.monitors.observing`."""

from dataclasses import dataclass
from typing import Literal

from grounding.answers import Outcome, Proof, RefusalReason
from grounding.significance import Z95, difference, slope

Unit = Literal["documents", "share", "groundedness", "refusals"]

WITHOUT_ANSWER = frozenset({RefusalReason.NOT_ANSWERED, RefusalReason.UNSUPPORTED, RefusalReason.CONFLICTING, RefusalReason.OFF_TOPIC})
"""Refusals that say something about the documents. Too few of them, or a spent budget, say nothing."""


@dataclass(frozen=True, slots=True)
class Count:
    """Matching documents in the window: ``at_least`` so many, or ``at_most`` so many; exactly one of the two is given."""

    at_least: int | None = None
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """Matching documents among all that pass the filters in the window, in 0..1. A window of fewer than ``min_documents`` is clear."""

    at_least: float | None = None
    at_most: float | None = None
    min_documents: int = 20


@dataclass(frozen=True, slots=True)
class Change:
    """More (or fewer) than in the time before, by at least the ratio ``by``: 0.5 is half as many again, or half as many less.

    ``baseline_windows`` is 1 for the previous window, more for the mean of a trailing baseline. ``of`` tells whether numbers of documents are compared
    or their shares, which do not grow with the corpus. ``min_documents`` must be in the window or expected in it (of shares: in both), and the change
    must be beyond chance (95 %).
    """

    by: float
    direction: Literal["up", "down"] = "up"
    of: Literal["count", "share"] = "count"
    baseline_windows: int = 1
    min_documents: int = 20


@dataclass(frozen=True, slots=True)
class Answered:
    """How the question is answered in the window: its groundedness falls below a bound, or (``refused``) the documents do not answer it."""

    groundedness_below: float | None = None
    refused: bool = False


Condition = Count | Share | Change | Answered


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a condition holds: ``observed`` was compared with ``threshold``. ``baseline`` is what the time before lets expect in one window.

    ``caveat`` says why a condition could not hold whatever was observed: too few documents, no baseline, not beyond chance.
    """

    breached: bool
    observed: float
    threshold: float
    unit: Unit
    baseline: float | None = None
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The time before a window: what was counted in ``windows`` windows together."""

    proof: Proof
    windows: int


def judged(condition: Count | Share | Change, counted: Proof, baseline: Baseline | None = None) -> Judgement:
    """The judgement on counted numbers; ``baseline`` is asked for by :class:`Change` alone, None when there is no time before."""
    if isinstance(condition, Count):
        return _bounded(float(counted.value), condition.at_least, condition.at_most, "documents")
    if isinstance(condition, Share):
        return _shared(condition, counted)
    return _unchanged(condition, counted) if baseline is None else _changed(condition, counted, baseline)


def answer_judged(condition: Answered, outcome: Outcome) -> Judgement:
    """The judgement on an answer or refusal."""
    refused = outcome.refusal is not None and outcome.refusal.reason in WITHOUT_ANSWER
    if condition.refused:
        return Judgement(refused, float(refused), 1.0, "refusals")
    assert condition.groundedness_below is not None
    told = bool(outcome.grounding.verdicts)
    grounded = outcome.grounding.groundedness
    caveat = "" if told else "nothing was drafted"
    return Judgement(
        told and grounded < condition.groundedness_below, grounded, condition.groundedness_below, "groundedness", caveat=caveat
    )


def _bounded(observed: float, at_least: float | None, at_most: float | None, unit: Unit, caveat: str = "") -> Judgement:
    if at_least is not None:
        return Judgement(not caveat and observed >= at_least, observed, float(at_least), unit, caveat=caveat)
    assert at_most is not None
    return Judgement(not caveat and observed <= at_most, observed, float(at_most), unit, caveat=caveat)


def _shared(condition: Share, counted: Proof) -> Judgement:
    few = counted.denominator < condition.min_documents
    caveat = f"a share needs {condition.min_documents} documents" if few else ""
    return _bounded(share_of(counted), condition.at_least, condition.at_most, "share", caveat)


def _unchanged(condition: Change, counted: Proof) -> Judgement:
    observed, unit = _compared(condition, counted)
    return Judgement(breached=False, observed=observed, threshold=0.0, unit=unit, caveat="there is no whole window before this one")


def _changed(condition: Change, counted: Proof, baseline: Baseline) -> Judgement:
    observed, unit = _compared(condition, counted)
    expected = baseline.proof.value / baseline.windows if condition.of == "count" else share_of(baseline.proof)
    rises = condition.direction == "up"
    threshold = expected * (1 + condition.by if rises else 1 - condition.by)
    beyond = observed >= threshold and observed > expected if rises else observed <= threshold and observed < expected
    caveat = _too_little(condition, counted, baseline, expected)
    if beyond and not caveat and not _significant(condition, counted, baseline):
        caveat = "the difference may be chance"
    return Judgement(beyond and not caveat, observed, threshold, unit, expected, caveat)


def _compared(condition: Change, counted: Proof) -> tuple[float, Unit]:
    return (float(counted.value), "documents") if condition.of == "count" else (share_of(counted), "share")


def _too_little(condition: Change, counted: Proof, baseline: Baseline, expected: float) -> str:
    if condition.of == "count":
        enough = max(counted.value, expected) >= condition.min_documents
    else:
        enough = min(counted.denominator, baseline.proof.denominator) >= condition.min_documents
    return "" if enough else f"a change needs {condition.min_documents} documents"


def _significant(condition: Change, counted: Proof, baseline: Baseline) -> bool:
    before = baseline.proof
    if condition.of == "count":
        deviation = slope((before.value, counted.value), (float(baseline.windows), 1.0))
    else:
        deviation = difference(counted.value, counted.denominator, before.value, before.denominator)
    return deviation >= Z95 if condition.direction == "up" else deviation <= -Z95


def share_of(proof: Proof) -> float:
    """The share a proof counts; 0 of nothing."""
    return proof.value / proof.denominator if proof.denominator else 0.0
