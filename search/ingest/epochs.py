"""Whether something was erased while work was going on. Kept under the house's own tenant, so that erasing a tenant leaves it.

Whoever erases counts up before the first document goes. Whoever keeps words of documents looks before it reads the first of them and again after it
has kept them: when nothing was counted meanwhile, an erasure that begins later finds what was kept; otherwise the keeper goes through it itself.
"""

from dataclasses import dataclass

from runtime.errors import Conflict
from runtime.tenancy import HOUSE, Tenant
from search.ports import StateStore

KIND = "erasure_epoch"
_ATTEMPTS = 50


@dataclass(frozen=True, slots=True)
class Epoch:
    """How often documents of a tenant were erased, and how often all of them with its state."""

    some: int = 0
    whole: int = 0


@dataclass(frozen=True, slots=True)
class Epochs:
    """The epochs of all tenants; never erased."""

    state: StateStore

    def now(self, tenant: Tenant) -> Epoch:
        """The present one.

        Raises:
            Unavailable: the state store cannot be reached.
        """
        entry = self.state.get(HOUSE, KIND, tenant)
        return Epoch() if entry is None else Epoch(entry.body["some"], entry.body["whole"])

    def end(self, tenant: Tenant, *, whole: bool) -> Epoch:
        """An erasure is about to begin; returns the epoch that begins with it.

        Raises:
            Conflict: others erase all the time.
        """
        for _ in range(_ATTEMPTS):
            entry = self.state.get(HOUSE, KIND, tenant)
            some, every = (0, 0) if entry is None else (entry.body["some"], entry.body["whole"])
            after = Epoch(some + (not whole), every + whole)
            body, expected = {"some": after.some, "whole": after.whole}, 0 if entry is None else entry.version
            try:
                self.state.put(HOUSE, KIND, tenant, body, labels={"tenant": tenant}, expected=expected)
            except Conflict:
                continue
            return after
        raise Conflict("others erase documents of this tenant all the time; delete them again")
