"""Where the tenants are, and moving one while it is read and written.

A move copies the tenant's records into months that nobody reads yet, and follows what is written meanwhile by the sequence numbers of the old months.
To end, it takes the aliases away that writers address; whoever comes then waits. Claims in the ledger that were made before are settled first, or given
up in their writer's stead: such a writer finds its claim gone and decides again. What is left is copied, all is counted, and one request swaps the aliases.

Killed before that request, a move has changed nothing that anybody reads, and writers go on after :data:`HELD_S`; killed after it, only old records are
left. Either way it is run again. Of two moves of a tenant at once, the later one takes the earlier one's mark, without which nothing is swapped or removed.
"""

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from runtime.clock import Clock
from runtime.errors import NotFound
from runtime.tenancy import Tenant
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_errors import unavailable
from search.engines.opensearch_following import numbers
from search.engines.opensearch_indices import Indices, Moved
from search.engines.opensearch_moving import Moving, Told
from search.engines.opensearch_names import Names
from search.engines.opensearch_placement import Actions, Placement, Where
from search.engines.opensearch_queries import DOCUMENTS
from search.engines.opensearch_sweeping import LIVE, Sweep

_TRIES = 20
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
            self._finish(replace(at, moves=(self._begin(at),)))
            return Move(tenant, where, 0, self._documents(names))
        token = self._begin(at)
        self.clear(names, where, [*at.if_still(), *at.if_moved_by(token)])
        moving = Moving(self._cluster, self._indices, at, token, self._clock, self._sleep, told)
        moving.run()
        self._sleep(GRACE_S)
        self._finish(replace(at.elsewhere(), moves=(token,)))
        return Move(tenant, where, moving.copied, self._documents(names))

    def clear(self, names: Names, where: Where, condition: Actions) -> None:
        """Remove what there was of the tenant there while the condition held, read or not.

        Raises:
            Moved: it does not hold.
        """
        if where == "own":
            self._indices.drop_own_months(names, condition)
            return
        newest = {index: numbers(self._cluster, index)["max_seq_no"] for index in self._indices.pool_months()}
        self._indices.leave_pool(names, condition)
        for index, number in newest.items():
            if self._sweep.clear(index, names.tenant, [{"range": {"_seq_no": {"lte": number}}}]):
                self._sweep.expunge(index)

    def erase(self, names: Names, changes: Callable[[Tenant], int]) -> None:
        """Remove everything of the tenant, wherever it is. Who writes meanwhile waits for a moment, and then writes to a tenant that has nothing.

        Raises:
            Unavailable: moves of this tenant begin and end all the time, or the cluster does not answer; repeat it.
        """
        for _ in range(_TRIES):
            with suppress(Moved):
                closed = self._indices.hold(names)
                if closed is not None:
                    self._clear_past(self._indices.begin_anew(closed, changes(names.tenant) + 1))
                return
        raise unavailable("moves of this tenant begin and end all the time; repeat the erasure")

    def _clear_past(self, anew: Placement) -> None:
        """Remove what the pool has of the tenant from before it was erased; what was written since is of another era."""
        for index in self._indices.pool_months():
            if self._sweep.clear(index, anew.names.tenant, kept=replace(anew, where="pool")):
                self._sweep.expunge(index)

    def expunge(self, names: Names) -> None:
        """Have removed records taken off the disk, in every month where the tenant is or may have been, with what reached one after it was erased."""
        at = self._indices.placed(names, afresh=True)
        if at is not None:
            self._clear_past(at)
        for index in (*self._indices.own_months(names), *self._indices.pool_months()):
            self._sweep.expunge(index)

    def _documents(self, names: Names) -> int:
        return sum(self._sweep.count(index, names.tenant, [*LIVE, DOCUMENTS]) for index in self._indices.months(names))

    def _found(self, names: Names) -> Placement:
        at = self._indices.placed(names, afresh=True)
        if at is None:
            raise NotFound(f"nothing was ever written for tenant {names.tenant}")
        return at

    def _begin(self, at: Placement) -> str:
        """Set the mark of a move, in the place of any other's, which then can neither swap nor remove anything.

        Raises:
            Unavailable: another began at the same moment, or the tenant is not there any more.
        """
        token = secrets.token_hex(8)
        try:
            self._cluster.post("_aliases", body={"actions": [*at.if_still(), at.adding(at.moving(token))]})
            while others := [other for other in self._found(at.names).moves if other != token]:
                gone = [{"remove": {"index": at.ledger_index, "alias": at.moving(other), "must_exist": False}} for other in others]
                self._cluster.post("_aliases", body={"actions": [*at.if_moved_by(token), *gone]})
        except NotFound as error:
            raise unavailable("another move of this tenant has begun; repeat it if that one does not end") from error
        return token

    def _finish(self, at: Placement) -> None:
        """Remove what a move left behind, and then its mark: the one of ``at``."""
        (token,) = at.moves
        self.clear(at.names, at.elsewhere().where, [*at.if_still(), *at.if_moved_by(token)])
        with suppress(NotFound):  # another one goes on from here
            self._cluster.post("_aliases", body={"actions": at.without(at.moving(token))})
        self._indices.forget(at.names)
