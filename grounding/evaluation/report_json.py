"""Reports as plain JSON for the state store and for the doors, and back. Numbers are finite by construction; an undefined score is null beside its reason."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from grounding.answers import RefusalReason
from grounding.evaluation.cases import Expected
from grounding.evaluation.diffing import Change, Diff
from grounding.evaluation.gate import Ruling, Verdict
from grounding.evaluation.metrics.metric import Measured, Score, Undefined
from grounding.evaluation.metrics.refusals import Cells
from grounding.evaluation.reports import EvalReport, Subject, with_results
from grounding.evaluation.results import CaseResult, Problem
from grounding.evaluation.scoring import Scores, Slice

Json = dict[str, Any]


def report_as_json(report: EvalReport) -> Json:
    """Everything, the results of all cases included."""
    body = head_as_json(report) | {"results": [result_as_json(result) for result in report.results]}
    if report.verdict is not None:
        body["verdict"]["failing"] = [_plain(asdict(case)) for case in report.verdict.failing]
    return body


def report_from_json(body: Mapping[str, Any]) -> EvalReport:
    """The inverse of :func:`report_as_json`. Raises ``KeyError``, ``TypeError`` or ``ValueError`` on anything else."""
    return with_results(head_from_json(body), tuple(result_from_json(result) for result in body["results"]))


def head_as_json(report: EvalReport) -> Json:
    """Everything but the results of single cases, which may be many."""
    return {
        "report_id": report.report_id,
        "subject": asdict(report.subject),
        "created_at": report.created_at.isoformat(),
        "seconds": report.seconds,
        "cases": report.cases,
        "exact": report.exact,
        "errors": report.errors,
        "outcome": report.outcome,
        "cells": asdict(report.cells),
        "scores": scores_as_json(report.scores),
        "slices": [
            {"by": each.by, "value": each.value, "cases": each.cases, "scores": scores_as_json(each.scores)} for each in report.slices
        ],
        "verdict": None if report.verdict is None else _verdict_as_json(report.verdict),
    }


def head_from_json(body: Mapping[str, Any]) -> EvalReport:
    """The inverse of :func:`head_as_json`; there are no results in it."""
    return EvalReport(
        report_id=body["report_id"],
        subject=Subject(**body["subject"]),
        created_at=datetime.fromisoformat(body["created_at"]),
        seconds=body["seconds"],
        cases=body["cases"],
        exact=body["exact"],
        errors=body["errors"],
        cells=Cells(**body["cells"]),
        scores=_scores(body["scores"]),
        slices=tuple(Slice(each["by"], each["value"], each["cases"], _scores(each["scores"])) for each in body["slices"]),
        results=(),
        verdict=None if body["verdict"] is None else _verdict(body["verdict"]),
    )


def scores_as_json(scores: Scores) -> list[Json]:
    """One object a metric."""
    return [{"metric": name, **score_as_json(score)} for name, score in scores.items()]


def score_as_json(score: Score) -> Json:
    """Number and interval, or null and the reason."""
    if isinstance(score, Undefined):
        return {"value": None, "low": None, "high": None, "n": 0, "undefined": score.why}
    return {"value": score.value, "low": score.low, "high": score.high, "n": score.n, "undefined": None}


def diff_as_json(diff: Diff) -> Json:
    """What changed between two reports."""
    return {
        "before_id": diff.before_id,
        "after_id": diff.after_id,
        "same_set": diff.same_set,
        "changes": [_change_as_json(change) for change in diff.changes],
        "regressed": list(diff.regressed),
        "fixed": list(diff.fixed),
        "only_before": list(diff.only_before),
        "only_after": list(diff.only_after),
    }


def result_as_json(result: CaseResult) -> Json:
    """What came of one case."""
    expected = result.expected
    return {
        **{name: getattr(result, name) for name in _FIELDS},
        "exact": result.exact,
        "invented": result.invented,
        "problems": [asdict(problem) for problem in result.problems],
        "expected": {
            "answered": expected.answered,
            "reasons": sorted(expected.reasons),
            "documents": list(expected.documents),
            "facts": list(expected.facts),
            "absent": list(expected.absent),
            "count": expected.count,
            "series": [{"bucket": bucket, "count": count} for bucket, count in expected.series.items()],
        },
        "citations": list(result.citations),
        "ranking": list(result.ranking),
        "supports": list(result.supports),
    }


def result_from_json(body: Mapping[str, Any]) -> CaseResult:
    """The inverse of :func:`result_as_json`."""
    expected = body["expected"]
    return CaseResult(
        **{name: body[name] for name in _FIELDS},
        problems=tuple(Problem(**problem) for problem in body["problems"]),
        expected=Expected(
            answered=expected["answered"],
            reasons=frozenset(RefusalReason(reason) for reason in expected["reasons"]),
            documents=tuple(expected["documents"]),
            facts=tuple(expected["facts"]),
            absent=tuple(expected["absent"]),
            count=expected["count"],
            series={each["bucket"]: each["count"] for each in expected["series"]},
        ),
        citations=tuple(body["citations"]),
        ranking=tuple(body["ranking"]),
        supports=tuple(body["supports"]),
    )


_FIELDS = ("case_id question kind language difficulty ended reason count groundedness seconds tokens cost model run_id").split()


def _verdict_as_json(verdict: Verdict) -> Json:
    return {
        "passed": verdict.passed,
        "rulings": [asdict(ruling) for ruling in verdict.rulings],
        "known": list(verdict.known),
        "fixed": list(verdict.fixed),
        "diff": None if verdict.diff is None else diff_as_json(verdict.diff),
    }


def _verdict(body: Mapping[str, Any]) -> Verdict:
    return Verdict(
        passed=body["passed"],
        rulings=tuple(Ruling(**ruling) for ruling in body["rulings"]),
        known=tuple(body["known"]),
        fixed=tuple(body["fixed"]),
        diff=None if body["diff"] is None else _diff(body["diff"]),
    )


def _change_as_json(change: Change) -> Json:
    sides = {"before": score_as_json(change.before), "after": score_as_json(change.after)}
    return {"metric": change.metric, **sides, "delta": change.delta, "worsening": change.worsening}


def _diff(body: Mapping[str, Any]) -> Diff:
    changes = (
        Change(each["metric"], _score(each["before"]), _score(each["after"]), each["delta"], each["worsening"]) for each in body["changes"]
    )
    lists = {name: tuple(body[name]) for name in ("regressed", "fixed", "only_before", "only_after")}
    return Diff(before_id=body["before_id"], after_id=body["after_id"], same_set=body["same_set"], changes=tuple(changes), **lists)


def _scores(body: Iterable[Mapping[str, Any]]) -> Scores:
    return {each["metric"]: _score(each) for each in body}


def _score(body: Mapping[str, Any]) -> Score:
    if body["value"] is None:
        return Undefined(body["undefined"])
    return Measured(float(body["value"]), float(body["low"]), float(body["high"]), body["n"])


def _plain(body: Json) -> Json:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in body.items()}
