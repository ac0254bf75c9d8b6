"""Evaluations from the command line: which cases, their documents, progress, gate and exit code."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api import evaluation_operations as operations
from api import evaluation_rendering as rendering
from api.cli.failures import GATED
from api.cli.options import Common
from api.cli.progress import SECONDS_BETWEEN_LINES, progress_on
from api.cli.screen import Screen, screen
from api.cli.session import Session, session
from api.cli.views.evaluations import report_view
from api.cli.visible import json_safe, one_line, visible
from api.sample import sample_documents
from grounding.evaluation.builders import BUILDERS, build_set
from grounding.evaluation.cases import Case, EvalSet
from grounding.evaluation.gate import ScoreGate
from grounding.evaluation.gate_files import read_gate
from grounding.evaluation.markdown import markdown
from grounding.evaluation.page import page
from grounding.evaluation.reports import EvalReport
from grounding.evaluation.results import CaseResult
from grounding.evaluation.set_files import DOCUMENTS_FILE, read_set
from grounding.evaluation.sets import SHIPPED
from runtime.clock import Clock
from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant
from search.ingest.files import ReadOptions, read_rows
from search.ingest.rows import Row, RowSource
from worker.opening import Service


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which cases of a set are asked."""

    kinds: tuple[str, ...] = ()
    case_ids: tuple[str, ...] = ()
    limit: int | None = None

    def of(self, eval_set: EvalSet) -> tuple[Case, ...]:
        """Those cases, in the order of the set.

        Raises:
            InvalidRequest: none is left, or one that was named is not there.
        """
        missing = [case_id for case_id in self.case_ids if case_id not in {case.case_id for case in eval_set.cases}]
        if missing:
            raise InvalidRequest(f"the set has no case {', '.join(missing)}", field="case")
        found = [case for case in eval_set.cases if self._wants(case)][: self.limit]
        if not found:
            kinds = ", ".join(sorted({case.kind for case in eval_set.cases}))
            raise InvalidRequest(f"no case is of such a kind; kinds are {kinds}", field="kind")
        return tuple(found)

    def told(self) -> str:
        """The choice in words; empty for all cases."""
        parts = [f"kind {kind}" for kind in self.kinds] + [f"case {case_id}" for case_id in self.case_ids]
        return ", ".join([*parts, *([f"first {self.limit}"] if self.limit else [])])

    def _wants(self, case: Case) -> bool:
        return (not self.kinds or case.kind in self.kinds) and (not self.case_ids or case.case_id in self.case_ids)


def evaluate(
    named: str, chosen: Chosen, common: Common, *, ingest: bool, baseline: str | None, gate: str | None, top_k: int | None
) -> int | None:
    """Run a set, print its report, and say by the exit code whether the gate was passed."""
    bounds = None if gate is None else gate_named(gate)
    with session(common) as opened:
        eval_set = set_named(opened.service, opened.tenant, named)
        cases = chosen.of(eval_set)
        before = None if baseline is None else _baseline(opened, baseline)
        if ingest:
            _fill(opened, named, eval_set)
        told = _Progress(opened.screen, opened.service.clock, eval_set.name)
        report = operations.run_eval(
            opened.service,
            opened.tenant,
            eval_set,
            cases=cases,
            selected=chosen.told(),
            gate=bounds,
            baseline=before,
            top_k=top_k,
            told=told,
        )
        opened.screen.show(lambda: report_view(report), lambda: rendering.eval_report(report))
        opened.screen.note(f"kept as report {report.report_id}")
    return GATED if report.outcome == "failed" else None


def export(report_id: str, form: str, output: Path | None, common: Common) -> None:
    """Write a report to a file or to standard output."""
    with session(common) as opened:
        report = operations.eval_report(opened.service, opened.tenant, report_id)
        text = _exported(report, form)
        if output is None:
            opened.screen.out.file.write(text)
        else:
            output.write_text(text, encoding="utf-8")
            opened.screen.note(f"written to {output}")


def build(name: str, data: Path, out: Path, limit: int | None, *, as_json: bool) -> None:
    """Make documents and cases of a public set."""
    if name not in BUILDERS:
        raise InvalidRequest(f"{name!r} is none of {', '.join(BUILDERS)}", field="name")
    built = build_set(name, data, out, limit)
    value = {"name": name, "documents": built.documents, "cases": built.cases, "folder": str(out)}
    if as_json:
        sys.stdout.write(json.dumps(value) + "\n")
    else:
        screen().say(
            f"{built.documents:,} documents and {built.cases:,} cases in {out}\nwisdom eval run {out} --ingest --engine sqlite:///{name}.db"
        )


def save(file: Path, name: str | None, common: Common) -> None:
    """Keep a set under a name."""
    with session(common) as opened:
        eval_set = read_set(file, name)
        operations.save_eval_set(opened.service, opened.tenant, eval_set)
        opened.screen.note(f"{len(eval_set.cases):,} cases are kept as {eval_set.name}")


def schedule(set_name: str, every_s: float | None, name: str | None, gate: str | None, common: Common) -> None:
    """Leave a set to the worker."""
    bounds = None if gate is None else gate_named(gate)
    with session(common) as opened:
        made, report_id = operations.schedule_eval(opened.service, opened.tenant, set_name, name=name, every_s=every_s, gate=bounds)
        value = rendering.eval_schedule(made) | {"reportId": report_id}
        opened.screen.show(lambda: f"{made.schedule_id}: the worker's first report will be {report_id}", lambda: value)


def gate_named(named: str) -> ScoreGate:
    """The gate in a file, or the one that comes with a set of the product.

    Raises:
        InvalidRequest: on ``gate``.
    """
    return operations.gate_of_set(named) if named in SHIPPED else read_gate(Path(named))


def set_named(service: Service, tenant: Tenant, named: str) -> EvalSet:
    """A file or folder of that path, or else a set of that name."""
    if named not in SHIPPED and Path(named).exists():
        return read_set(Path(named))
    return service.evaluations.sets.get(tenant, named)


def _baseline(opened: Session, named: str) -> EvalReport:
    if not Path(named).is_file():
        return operations.eval_report(opened.service, opened.tenant, named)
    try:
        body = json.loads(Path(named).read_text("utf-8"))
    except ValueError:
        raise InvalidRequest(f"{named} is not JSON", field="baseline") from None
    return rendering.exported_report(body)


def _fill(opened: Session, named: str, eval_set: EvalSet) -> None:
    """Store the documents of the set; what is there already stays."""
    service = opened.service
    with _documents(named) as rows, progress_on(opened.screen, service.clock, "documents", rows.share_read) as told:
        report = service.ingester.ingest(opened.tenant, rows, progress=told)
    if report.interrupted:
        raise KeyboardInterrupt
    if report.rejected:
        raise InvalidRequest(f"{report.rejected} documents of {eval_set.name} cannot be stored: {report.rejections[0].reason}", field="set")
    opened.screen.note(f"{report.received:,} documents in {report.seconds:.1f} s, {report.unchanged:,} were there already")


def _documents(named: str) -> Any:
    if named in SHIPPED:
        return _Sample()
    file = Path(named) / DOCUMENTS_FILE
    if not file.is_file():
        raise InvalidRequest(f"there is no {file}; ingest the documents by themselves", field="ingest")
    return read_rows(file, ReadOptions())


class _Sample:
    """The sample corpus, entered and left like a file."""

    def __enter__(self) -> RowSource:
        documents: Sequence[dict[str, Any]] = list(sample_documents())
        return RowSource(Row(number, document) for number, document in enumerate(documents, 1))

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""


def _exported(report: EvalReport, form: str) -> str:
    if form == "html":
        return visible(page(report))
    if form == "markdown":
        return visible(markdown(report))
    return json_safe(json.dumps(rendering.eval_report(report), ensure_ascii=False, allow_nan=False, indent=2)) + "\n"


@dataclass(slots=True)
class _Progress:
    """A line every few seconds, never more."""

    screen: Screen
    clock: Clock
    name: str
    _last_s: float = 0.0

    def __post_init__(self) -> None:
        self._last_s = self.clock.seconds()

    def __call__(self, done: int, total: int, result: CaseResult) -> None:
        now = self.clock.seconds()
        if now - self._last_s >= SECONDS_BETWEEN_LINES:
            self._last_s = now
            self.screen.note(f"{one_line(self.name, 60)}: {done} of {total} cases, last {one_line(result.case_id, 60)}")
