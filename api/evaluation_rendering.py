"""Evaluations as the JSON that every door sends: the shape they are stored in, with names in camelCase and numbers of at most six decimals."""

from collections.abc import Mapping
from typing import Any

from api.casing import camel, snake
from api.json_values import Json, moment, number, optional_moment, optional_number
from grounding.evaluation.diffing import Diff
from grounding.evaluation.report_json import diff_as_json, head_as_json, report_as_json, report_from_json
from grounding.evaluation.report_store import ReportPage
from grounding.evaluation.reports import EvalReport
from grounding.evaluation.set_store import SetSummary
from runtime.errors import InvalidRequest
from worker.evaluations.schedules import Schedule


def eval_report(report: EvalReport) -> Json:
    """A whole report, every case included."""
    return _report(report_as_json(report), report)


def eval_summary(report: EvalReport) -> Json:
    """A report without its cases, as lists show it."""
    value = _report(head_as_json(report), report)
    if value["verdict"] is not None:
        value["verdict"]["failing"] = []
    return value


def eval_page(page: ReportPage) -> Json:
    """Some reports, and the cursor of the next page."""
    return {"reports": [eval_summary(report) for report in page.reports], "cursor": page.cursor}


def eval_diff(diff: Diff) -> Json:
    """What changed between two reports."""
    value: Json = _camel(diff_as_json(diff))
    return value


def eval_set(summary: SetSummary) -> Json:
    """A set by name."""
    return {
        "name": summary.name,
        "cases": summary.cases,
        "digest": summary.digest,
        "description": summary.description,
        "keptAt": optional_moment(summary.kept_at),
    }


def eval_schedule(schedule: Schedule) -> Json:
    """A scheduled evaluation, and how far the run that is due has come."""
    return {
        "scheduleId": schedule.schedule_id,
        "setName": schedule.set_name,
        "nextAt": optional_moment(schedule.next_at),
        "everySeconds": optional_number(schedule.every_s),
        "casesDone": schedule.progress.done,
        "lastReportId": schedule.last_report_id,
        "lastError": schedule.last_error or None,
    }


def exported_report(body: Any) -> EvalReport:
    """The report in a file that was exported as JSON.

    Raises:
        InvalidRequest: on ``baseline``, when it is none.
    """
    try:
        return report_from_json(_snake(body))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidRequest("is not a report that was exported as JSON", field="baseline") from None


def _report(body: Json, report: EvalReport) -> Json:
    value: Json = _camel(body)
    return value | {"createdAt": moment(report.created_at)}


def _camel(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {camel(str(name)): _camel(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_camel(item) for item in value]
    return number(value) if isinstance(value, float) else value


def _snake(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {snake(str(name)): _snake(item) for name, item in value.items()}
    return [_snake(item) for item in value] if isinstance(value, list) else value
