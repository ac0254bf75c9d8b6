"""Sets a tenant keeps in the state store, beside those that come with the product. Scheduled evaluations and the web doors know sets by name only."""

from dataclasses import dataclass
from datetime import datetime

from grounding.evaluation.case_json import case_as_json
from grounding.evaluation.cases import EvalSet
from grounding.evaluation.set_files import set_of
from grounding.evaluation.sets import SHIPPED, shipped_set
from grounding.evaluation.sheaves import put_sheaf, read_sheaf, remove_sheaf
from runtime.errors import Conflict, InvalidRequest, NotFound
from runtime.tenancy import Tenant
from search.ports import StateEntry, StateStore

KIND = "eval_set"
CASES = "eval_cases"
MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class SetSummary:
    """A set as it is listed. ``kept_at`` is None for one that comes with the product."""

    name: str
    cases: int
    digest: str
    description: str
    kept_at: datetime | None


@dataclass(frozen=True, slots=True)
class Sets:
    """Sets by name."""

    state: StateStore

    def save(self, tenant: Tenant, eval_set: EvalSet) -> None:
        """Keep a set under its name, in place of an earlier one. Its cases are kept under its digest, so that nobody reads half of each.

        Raises:
            InvalidRequest: on ``name``.
            Conflict: somebody else kept it at the same moment.
        """
        _check(eval_set.name)
        before = self.state.get(tenant, KIND, eval_set.name)
        sheets = put_sheaf(
            self.state, tenant, CASES, _sheaf(eval_set.name, eval_set.digest), (case_as_json(case) for case in eval_set.cases)
        )
        body = {"digest": eval_set.digest, "cases": len(eval_set.cases), "description": eval_set.description, "sheets": sheets}
        self.state.put(tenant, KIND, eval_set.name, body, expected=before.version if before else 0)
        if before is not None and before.body["digest"] != eval_set.digest:
            self._remove_cases(tenant, before)

    def get(self, tenant: Tenant, name: str) -> EvalSet:
        """A kept set, or one that comes with the product.

        Raises:
            NotFound: there is none of that name.
        """
        if name in SHIPPED:
            return shipped_set(name)
        entry = self.state.get(tenant, KIND, name)
        if entry is None:
            raise NotFound(f"no set is called {name!r}; wisdom eval sets lists which there are")
        rows = read_sheaf(self.state, tenant, CASES, _sheaf(name, entry.body["digest"]), entry.body["sheets"])
        if len(rows) != entry.body["cases"]:
            raise Conflict(f"the set {name!r} was replaced while it was read; read it again")
        return set_of(name, enumerate(rows, 1), entry.body["description"])

    def list(self, tenant: Tenant) -> tuple[SetSummary, ...]:
        """All of them: those of the product, then the kept ones, newest first."""
        shipped = [_summary(shipped_set(name)) for name in SHIPPED]
        entries, cursor = self.state.entries(tenant, KIND, first=1000)
        while cursor is not None:
            more, cursor = self.state.entries(tenant, KIND, first=1000, after=cursor)
            entries += more
        return (*shipped, *(_listed(entry) for entry in entries))

    def delete(self, tenant: Tenant, name: str) -> None:
        """Remove a kept set; its reports stay.

        Raises:
            NotFound: none of that name is kept.
        """
        entry = self.state.get(tenant, KIND, name)
        if entry is None:
            raise NotFound(f"no set called {name!r} is kept")
        self.state.remove(tenant, KIND, [name])
        self._remove_cases(tenant, entry)

    def _remove_cases(self, tenant: Tenant, entry: StateEntry) -> None:
        remove_sheaf(self.state, tenant, CASES, _sheaf(entry.entry_id, entry.body["digest"]), entry.body["sheets"])


def _check(name: str) -> None:
    if not name.strip() or len(name) > MAX_NAME:
        raise InvalidRequest(f"must have 1 to {MAX_NAME} characters", field="name")
    if name in SHIPPED:
        raise InvalidRequest(f"{name!r} is the name of a set that comes with the product", field="name")


def _sheaf(name: str, digest: str) -> str:
    return f"{name}@{digest}"


def _summary(eval_set: EvalSet) -> SetSummary:
    return SetSummary(eval_set.name, len(eval_set.cases), eval_set.digest, eval_set.description, None)


def _listed(entry: StateEntry) -> SetSummary:
    body = entry.body
    return SetSummary(entry.entry_id, body["cases"], body["digest"], body["description"], entry.created_at)
