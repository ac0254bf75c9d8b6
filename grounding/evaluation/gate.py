"""The gate: bounds that scores must keep, how much they may worsen, and cases that must hold. It passes, or names what failed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grounding.evaluation.diffing import Change, Diff
from grounding.evaluation.metrics import BY_NAME
from grounding.evaluation.metrics.metric import Undefined
from grounding.evaluation.results import CaseResult
from grounding.evaluation.scoring import Scores

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class ScoreGate:
    """``thresholds`` are the least (or, where lower is better, the most) a metric may be; ``regression`` the most it may worsen against the baseline.

    ``must_hold`` are cases that have to be exact; ``regressed_cases`` how many may be exact in the baseline and not now (None: any number). ``known`` are
    cases that are known to fail: they are named apart.
    """

    thresholds: Mapping[str, float] = field(default_factory=dict)
    regression: Mapping[str, float] = field(default_factory=dict)
    must_hold: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    regressed_cases: int | None = None


@dataclass(frozen=True, slots=True)
class Ruling:
    """One demand of the gate: what was found, what was allowed, and a sentence when it is not met."""

    demand: str
    passed: bool
    found: float | None
    bound: float
    message: str = ""


@dataclass(frozen=True, slots=True)
class FailingCase:
    """A case that is not exact, with what is wrong. ``known`` when the gate expects it to fail, ``regressed`` when it was exact in the baseline."""

    case_id: str
    question: str
    problems: tuple[str, ...]
    run_id: str | None
    known: bool = False
    regressed: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says. ``known`` are the cases it knows to fail, ``fixed`` those of them that hold by now; ``diff`` is None without a baseline."""

    passed: bool
    rulings: tuple[Ruling, ...]
    failing: tuple[FailingCase, ...] = ()
    known: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    diff: Diff | None = None


def judge(gate: ScoreGate, scores: Scores, results: Sequence[CaseResult], against: Diff | None = None) -> Verdict:
    """Hold scores and cases against the gate; with a baseline, ``against`` is what changed since."""
    rulings = (
        *(_threshold(name, bound, scores) for name, bound in gate.thresholds.items()),
        *(_regression(name, bound, against) for name, bound in gate.regression.items()),
        *_cases(gate, results, against),
    )
    exact = {result.case_id for result in results if result.exact}
    return Verdict(
        passed=all(ruling.passed for ruling in rulings),
        rulings=rulings,
        failing=failing_cases(results, gate.known, against.regressed if against else ()),
        known=gate.known,
        fixed=tuple(case_id for case_id in gate.known if case_id in exact),
        diff=against,
    )


def failing_cases(results: Sequence[CaseResult], known: Sequence[str] = (), regressed: Sequence[str] = ()) -> tuple[FailingCase, ...]:
    """Every case that is not exact, by name, in the order of the set."""
    return tuple(
        FailingCase(
            result.case_id,
            result.question,
            tuple(problem.message for problem in result.problems),
            result.run_id,
            known=result.case_id in known,
            regressed=result.case_id in regressed,
        )
        for result in results
        if not result.exact
    )


def _threshold(name: str, bound: float, scores: Scores) -> Ruling:
    """An undefined score keeps no bound: a gate that cannot be checked is not passed."""
    metric, score = BY_NAME[name], scores[name]
    demand = f"{name} {'>=' if metric.higher_is_better else '<='} {bound:g}"
    if isinstance(score, Undefined):
        return Ruling(demand, passed=False, found=None, bound=bound, message=f"{name} is undefined: {score.why}")
    short = bound - score.value if metric.higher_is_better else score.value - bound
    passed = short <= TOLERANCE
    return Ruling(demand, passed, score.value, bound, "" if passed else f"{name} is {score.value:.4g}, allowed is {demand}")


def _regression(name: str, bound: float, against: Diff | None) -> Ruling:
    demand = f"{name} worsens by at most {bound:g}"
    change = _change_of(name, against)
    if change is None:
        return Ruling(demand, passed=True, found=None, bound=bound, message="no baseline, so nothing to compare with")
    if change.worsening is None:
        lost = isinstance(change.after, Undefined) and not isinstance(change.before, Undefined)
        return Ruling(demand, passed=not lost, found=None, bound=bound, message=f"{name} is undefined on one side")
    passed = change.worsening - bound <= TOLERANCE
    return Ruling(demand, passed, change.worsening, bound, "" if passed else f"{name} is worse by {change.worsening:.4g}")


def _change_of(name: str, against: Diff | None) -> Change | None:
    return None if against is None else next((change for change in against.changes if change.metric == name), None)


def _cases(gate: ScoreGate, results: Sequence[CaseResult], against: Diff | None) -> Iterator[Ruling]:
    exact = {result.case_id: result.exact for result in results}
    if gate.must_hold:
        broken = [case_id for case_id in gate.must_hold if not exact.get(case_id, False)]
        message = f"these must hold and do not: {', '.join(broken)}" if broken else ""
        yield Ruling("cases that must hold", not broken, float(len(broken)), 0.0, message)
    if gate.regressed_cases is not None and against is not None:
        lost = against.regressed
        passed = len(lost) <= gate.regressed_cases
        message = "" if passed else f"these held before: {', '.join(lost)}"
        yield Ruling(f"at most {gate.regressed_cases} cases regress", passed, float(len(lost)), float(gate.regressed_cases), message)
