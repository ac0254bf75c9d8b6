"""Runs the cases of a set through ``ask``, one after the other. A case that raises is an error of that case and stops nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from grounding.answers import Outcome
from grounding.evaluation.cases import Case
from grounding.evaluation.grading import cited, failed, grade
from grounding.evaluation.results import CaseResult
from grounding.readings import MEANING
from runtime.clock import Clock, Stopwatch
from runtime.errors import Unavailable
from runtime.tenancy import Tenant
from search.documents import Filters
from search.ports import Engine

_CHUNK = 500


class Asks(Protocol):
    """What is evaluated; ``Answerer`` is one."""

    def ask(self, tenant: Tenant, question: str, *, filters: Filters, top_k: int | None = None, time_zone: str | None = None) -> Outcome:
        """See ``Answerer.ask``."""
        ...


Told = Callable[[int, int, CaseResult], None]
"""Told after each case: how many are done, how many there are, and what came of this one."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Asks and grades. The engine is only read to compare quotes with the documents they are said to stand in."""

    answerer: Asks
    engine: Engine
    clock: Clock

    def run(self, tenant: Tenant, cases: Sequence[Case], *, top_k: int | None = None, told: Told | None = None) -> tuple[CaseResult, ...]:
        """One result per case, in order."""
        results = []
        for result in self.results(tenant, cases, top_k=top_k):
            results.append(result)
            if told is not None:
                told(len(results), len(cases), result)
        return tuple(results)

    def results(self, tenant: Tenant, cases: Sequence[Case], *, top_k: int | None = None) -> Iterator[CaseResult]:
        """The results as they come."""
        for case in cases:
            yield self._one(tenant, case, top_k)

    def _one(self, tenant: Tenant, case: Case, top_k: int | None) -> CaseResult:
        watch = Stopwatch.start(self.clock)
        try:
            outcome = self.answerer.ask(tenant, case.question, filters=case.filters, top_k=top_k, time_zone=case.time_zone)
            if lost := [outcome.degraded[part] for part in sorted(MEANING & outcome.degraded.keys())]:
                return failed(case, Unavailable("; ".join(lost)), watch.elapsed_s())  # an outage is no measure of quality
            return grade(case, outcome, self._texts(tenant, cited(outcome)))
        except Exception as error:  # noqa: BLE001 (whatever a case raises is what that case came to)
            return failed(case, error, watch.elapsed_s())

    def _texts(self, tenant: Tenant, doc_ids: Sequence[str]) -> Mapping[str, str]:
        """The text of these documents as it is stored now."""
        texts: dict[str, str] = {}
        for start in range(0, len(doc_ids), _CHUNK):
            wanted = tuple(doc_ids[start : start + _CHUNK])
            page = self.engine.documents(tenant, Filters(doc_ids=wanted), first=len(wanted))
            texts |= {document.doc_id: document.text for document in page.documents}
        return texts
