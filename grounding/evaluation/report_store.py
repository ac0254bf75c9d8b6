"""Reports kept in the state store, each with the event that it is there."""

from dataclasses import dataclass

from grounding.evaluation.report_json import head_as_json, head_from_json, result_as_json, result_from_json
from grounding.evaluation.reports import EvalReport, with_results
from grounding.evaluation.sheaves import put_sheaf, read_sheaf, remove_sheaf
from runtime.errors import Conflict, NotFound
from runtime.events import Event, event_id
from runtime.tenancy import Tenant
from search.ports import StateStore

KIND = "eval_report"
RESULTS = "eval_results"
UNKNOWN = "no evaluation report with this id; list the reports to see which there are"


@dataclass(frozen=True, slots=True)
class ReportPage:
    """Some reports without the results of single cases, newest first, and where to go on."""

    reports: tuple[EvalReport, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Reports:
    """Keeps reports; a report is written once and never changed."""

    state: StateStore

    def save(self, tenant: Tenant, report: EvalReport) -> bool:
        """Keep a report together with its event ``eval.finished``; False when one of this id is there already."""
        sheets = put_sheaf(self.state, tenant, RESULTS, report.report_id, (result_as_json(result) for result in report.results))
        labels = {"set": report.subject.set_name, "outcome": report.outcome}
        body = head_as_json(report) | {"sheets": sheets}
        try:
            self.state.put(tenant, KIND, report.report_id, body, labels=labels, expected=0, event=finished(tenant, report))
        except Conflict:
            return False
        return True

    def get(self, tenant: Tenant, report_id: str) -> EvalReport:
        """The whole report.

        Raises:
            NotFound: this tenant has none of that id.
        """
        entry = self.state.get(tenant, KIND, report_id)
        if entry is None:
            raise NotFound(UNKNOWN)
        results = read_sheaf(self.state, tenant, RESULTS, report_id, entry.body["sheets"])
        return with_results(head_from_json(entry.body), tuple(result_from_json(result) for result in results))

    def list(self, tenant: Tenant, *, set_name: str | None = None, first: int = 50, after: str | None = None) -> ReportPage:
        """Reports, newest first; only those of one set when it is named."""
        labels = None if set_name is None else {"set": set_name}
        entries, cursor = self.state.entries(tenant, KIND, labels=labels, first=first, after=after)
        return ReportPage(tuple(head_from_json(entry.body) for entry in entries), cursor)

    def latest(self, tenant: Tenant, set_name: str) -> EvalReport | None:
        """The newest report of a set, whole."""
        found = self.list(tenant, set_name=set_name, first=1).reports
        return self.get(tenant, found[0].report_id) if found else None

    def delete(self, tenant: Tenant, report_id: str) -> None:
        """Remove a report and its results.

        Raises:
            NotFound: this tenant has none of that id.
        """
        entry = self.state.get(tenant, KIND, report_id)
        if entry is None:
            raise NotFound(UNKNOWN)
        self.state.remove(tenant, KIND, [report_id])
        remove_sheaf(self.state, tenant, RESULTS, report_id, entry.body["sheets"])


def finished(tenant: Tenant, report: EvalReport) -> Event:
    """The event that an evaluation is there: ids and numbers."""
    body = {
        "cases": report.cases,
        "exact": report.exact,
        "errors": report.errors,
        "passed": None if report.verdict is None else report.verdict.passed,
        "digest": report.subject.digest,
    }
    identifier = event_id("eval.finished", tenant, report.report_id)
    return Event(identifier, "eval.finished", tenant, report.created_at, report.report_id, body)
