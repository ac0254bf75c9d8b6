"""Where the tenants are, and moving one while it is read and written.

A move copies the tenant's records into months that nobody reads yet, and follows what is written meanwhile by the sequence numbers of the old months.
To end, it takes the aliases away that writers address; whoever comes then waits. Claims in the ledger that were made before are settled first, or given
up in their writer's stead: such a writer finds its claim gone and decides again. What is left is copied, all is counted, and one request swaps the aliases.

Killed before that request, a move has changed nothing that anybody reads, and writers go on after :data:`HELD_S`; killed after it, only old records are
left. Either way it is run again. Of two moves of a tenant at once, the later one takes the earlier one's mark, without which nothing is swapped.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from runtime.clock import Clock
from runtime.errors import NotFound
from runtime.tenancy import Tenant
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_indices import Indices
from search.engines.opensearch_moving import Moving, Told
from search.engines.opensearch_names import Names
from search.engines.opensearch_placement import Placement, Where
from search.engines.opensearch_queries import DOCUMENTS
from search.engines.opensearch_sweeping import LIVE, Sweep

GRACE_S = 10.0
"""How long the old records outlive the swap, for searches that began before it."""


def _silent(_copied: int, _total: int) -> None:
    return


@dataclass(frozen=True, slots=True)
class Home:
    """Where a tenant is. ``unfinished`` when a move has begun and not ended."""

    tenant: Tenant
    where: Where
    documents: int
    shards: int
    unfinished: bool


@dataclass(frozen=True, slots=True)
class Move:
    """What came of moving a tenant: ``records`` copied, ``documents`` there are. None were copied when it was there already."""

    tenant: Tenant
    where: Where
    records: int
    documents: int


class Tenancy:
    """Places the tenants of one prefix."""

    def __init__(self, cluster: Cluster, indices: Indices, prefix: str, clock: Clock, sleep: Callable[[float], None] = time.sleep) -> None:
        self._cluster = cluster
        self._indices = indices
        self._prefix = prefix
        self._clock = clock
        self._sleep = sleep
        self._sweep = Sweep(cluster)

    def home(self, tenant: Tenant) -> Home | None:
        """Where one tenant is; None when nothing was ever written for it."""
        names = Names(self._prefix, tenant)
        at = self._indices.placed(names, afresh=True)
        if at is None:
            return None
        months, own = self._indices.months(names), self._indices.own_months(names)
        unread = set(own) - set(months)
        return Home(tenant, at.where, self._documents(names), len(own) + 1, bool(at.moves or at.token or unread))

    def place(self, tenant: Tenant, where: Where, told: Told = _silent) -> Move:
        """Move a tenant, or end what an earlier move left undone.

        Raises:
            NotFound: nothing was ever written for it.
            Unavailable: the cluster does not answer, another move took over, or so much is written that the end was never reached; repeat it.
        """
        names = Names(self._prefix, tenant)
        at = self._found(names)
        if not at.is_open:
            self._indices.reopen(at)
        if not (at.is_open and at.marked):
            self._indices.ensure_ledger(names)
            at = self._found(names)
        if at.where == where:
            self._finish(at)
            return Move(tenant, where, 0, self._documents(names))
        moving = Moving(self._cluster, self._indices, at, self._clock, self._sleep, told)
        moving.begin()
        self.clear(names, where)
        moving.run()
        self._sleep(GRACE_S)
        self._finish(self._found(names))
        return Move(tenant, where, moving.copied, self._documents(names))

    def clear(self, names: Names, where: Where) -> None:
        """Remove everything of the tenant there, read or not."""
        if where == "own":
            self._indices.drop_own_months(names)
            return
        self._indices.leave_pool(names)
        for index in self._indices.pool_months():
            if self._sweep.clear(index, names.tenant):
                self._sweep.expunge(index)

    def expunge(self, names: Names) -> None:
        """Have removed records taken off the disk, in every month where the tenant is or may have been."""
        for index in (*self._indices.own_months(names), *self._indices.pool_months()):
            self._sweep.expunge(index)

    def _documents(self, names: Names) -> int:
        return sum(self._sweep.count(index, names.tenant, [*LIVE, DOCUMENTS]) for index in self._indices.months(names))

    def _found(self, names: Names) -> Placement:
        at = self._indices.placed(names, afresh=True)
        if at is None:
            raise NotFound(f"nothing was ever written for tenant {names.tenant}")
        return at

    def _finish(self, at: Placement) -> None:
        """Remove what a move left behind, and its mark."""
        self.clear(at.names, at.elsewhere().where)
        marks = [{"remove": {"index": at.ledger_index, "alias": at.moving(token), "must_exist": False}} for token in at.moves]
        if marks:
            self._cluster.post("_aliases", body={"actions": marks})
        self._indices.forget(at.names)
