"""One evaluation from a set to a stored report, counted. Doors and the worker run the same."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grounding.answering import Answerer
from grounding.evaluation.cases import Case, EvalSet
from grounding.evaluation.gate import ScoreGate
from grounding.evaluation.metrics import METRICS
from grounding.evaluation.metrics.metric import Measured
from grounding.evaluation.report_store import Reports
from grounding.evaluation.reports import EvalReport, Subject, judged, report_of
from grounding.evaluation.running import Runner, Told
from grounding.evaluation.set_store import Sets
from runtime.clock import Clock, Stopwatch
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant
from search.ports import Engine, StateStore


def _random_id() -> str:
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Runs sets through the answerer and keeps what came of it."""

    runner: Runner
    reports: Reports
    sets: Sets
    engine: Engine
    clock: Clock
    metrics: Metrics
    new_id: Callable[[], str] = _random_id

    @classmethod
    def over(cls, answerer: Answerer, engine: Engine, state: StateStore, clock: Clock, metrics: Metrics) -> "Evaluations":
        """Evaluations of this answerer, kept in this store."""
        return cls(Runner(answerer, engine, clock), Reports(state), Sets(state), engine, clock, metrics)

    def run(
        self,
        tenant: Tenant,
        eval_set: EvalSet,
        *,
        cases: Sequence[Case] | None = None,
        selected: str = "",
        gate: ScoreGate | None = None,
        baseline: EvalReport | None = None,
        top_k: int | None = None,
        told: Told | None = None,
    ) -> EvalReport:
        """Ask every case (or ``cases``, some of them; ``selected`` says which), hold the scores against gate and baseline, keep the report."""
        watch = Stopwatch.start(self.clock)
        subject = self.subject(tenant, eval_set, selected)
        try:
            results = self.runner.run(tenant, eval_set.cases if cases is None else cases, top_k=top_k, told=told)
        except Exception:
            self.metrics.count("wa_eval_runs_total", result="error")
            raise
        return self.finish(tenant, report_of(self.new_id(), subject, self.clock.now(), watch.elapsed_s(), results), gate, baseline)

    def finish(self, tenant: Tenant, report: EvalReport, gate: ScoreGate | None, baseline: EvalReport | None) -> EvalReport:
        """Hold a report against gate and baseline, keep it with its event, and count it unless it was kept before."""
        whole = judged(report, gate, baseline)
        if self.reports.save(tenant, whole):
            self._count(whole)
        return whole

    def subject(self, tenant: Tenant, eval_set: EvalSet, selected: str = "") -> Subject:
        """What is about to be evaluated."""
        corpus, engine = self.engine.corpus(tenant), self.engine.describe()
        name = f"{engine.get('engine', '')} {engine.get('version', '')}".strip()
        return Subject(eval_set.name, eval_set.digest, corpus.documents, corpus.generation, name, corpus.model, selected)

    def _count(self, report: EvalReport) -> None:
        self.metrics.count("wa_eval_runs_total", result=report.outcome)
        for metric in METRICS:
            score = report.scores[metric.name]
            if metric.unit == "ratio" and isinstance(score, Measured):
                self.metrics.set("wa_eval_score_ratio", score.value, metric=metric.name)
