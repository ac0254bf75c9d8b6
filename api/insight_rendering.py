"""Counts of events as JSON."""

from collections.abc import Sequence

from api.json_values import Json, moment, optional_number
from worker.events.insights import Count, Insights, Question, Score


def insights(value: Insights) -> Json:
    """Everything that is counted."""
    return {
        "documents": value.documents,
        "days": _counts(value.days),
        "themes": _counts(value.themes),
        "sources": _counts(value.sources),
        "answered": value.answered,
        "refused": value.refused,
        "refusals": _counts(value.refusals),
        "refusalRate": optional_number(value.refusal_rate),
        "groundedness": optional_number(value.groundedness),
        "citationPrecision": optional_number(value.citation_precision),
        "unanswered": [_question(each) for each in value.unanswered],
        "digests": _counts(value.digests),
        "scores": [_score(each) for each in value.scores],
        "events": value.events,
        "waiting": value.waiting,
        "failed": value.failed,
    }


def _counts(counts: Sequence[Count] | None) -> list[Json] | None:
    return None if counts is None else [{"name": each.key, "count": each.count} for each in counts]


def _question(value: Question) -> Json:
    return {"runId": value.run_id, "question": value.text, "reason": value.reason, "at": moment(value.at)}


def _score(value: Score) -> Json:
    return {
        "reportId": value.report_id,
        "cases": value.cases,
        "exact": value.exact,
        "passed": value.passed,
        "at": moment(value.at),
    }
