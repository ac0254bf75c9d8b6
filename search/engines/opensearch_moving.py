"""One move of one tenant from its own months into the pool, or back: see :mod:`search.engines.opensearch_tenancy`."""

import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from runtime.clock import Clock
from runtime.errors import NotFound, ServiceError
from search.engines.intervals import milliseconds
from search.engines.opensearch_cluster import Cluster, to_json
from search.engines.opensearch_errors import unavailable
from search.engines.opensearch_following import Following, numbers
from search.engines.opensearch_indices import Indices
from search.engines.opensearch_ledger import LEASE_S, Ledger
from search.engines.opensearch_names import index_month
from search.engines.opensearch_placement import Placement
from search.engines.opensearch_reading import Hits
from search.engines.opensearch_records import indexing
from search.engines.opensearch_sweeping import LIVE, Sweep

_ENDINGS = 5
_FEW = 500
_PASSES = 20
_TRIES = 10
_FORGOTTEN_S = 0.25
_POLL_S = 0.05

Told = Callable[[int, int], None]
"""Records copied so far, records there were at the beginning."""


class Moving:
    """A move from ``source`` to the other place. ``token`` is in its mark."""

    def __init__(
        self, cluster: Cluster, indices: Indices, source: Placement, token: str, clock: Clock, sleep: Callable[[float], None], told: Told
    ) -> None:
        self._cluster = cluster
        self._indices = indices
        self._names = source.names
        self._source = source
        self._target = source.elsewhere()
        self._clock = clock
        self._sleep = sleep
        self._told = told
        self._ledger = Ledger(cluster)
        self._sweep = Sweep(cluster)
        self._token = token
        self._months: dict[str, Following] = {}
        self._claims = Following(cluster, source.ledger_index, None)
        self._pending: dict[str, Mapping[str, Any]] = {}
        self._total = 0
        self.copied = 0

    def run(self) -> None:
        """Copy, catch up, and swap.

        Raises:
            Unavailable: as :meth:`search.engines.opensearch_tenancy.Tenancy.place` says.
        """
        self._total = sum(self._sweep.count(index, self._names.tenant) for index in self._indices.months(self._names))
        for _ in range(_PASSES):
            if self._caught_up(self._source) <= _FEW:
                break
        self._look_at_claims()
        for _ in range(_ENDINGS):
            if self._ended():
                return
            self._caught_up(self._source)
        raise unavailable("writers did not wait for the end of the move, five times; repeat it when less is written")

    def _ended(self) -> bool:
        """Hold writers back, copy what is left, swap. False when writers were let go on in between, as it took too long."""
        closed = replace(self._source, token=secrets.token_hex(8))
        self._hold(closed)
        try:
            self._settle_claims(numbers(self._cluster, self._source.ledger_index)["max_seq_no"])
            self._caught_up(closed)
            self._compare()
            self._cluster.post("_aliases", body={"actions": self._swapping(closed)})
        except NotFound:
            return self._held_no_more()
        except BaseException:
            with suppress(ServiceError):
                self._indices.reopen(closed)
            raise
        finally:
            self._indices.forget(self._names)
        return True

    def _hold(self, closed: Placement) -> None:
        """Take away what writers address. When this returns, no operation begins in the old months any more."""
        try:
            marks = [*self._if_mine(), *self._source.without(self._source.mark), closed.adding(closed.mark)]
            self._cluster.post("_aliases", body={"actions": marks})
        except NotFound as error:
            raise unavailable("another move of this tenant took over, or it was erased; repeat it") from error
        addressed = [
            {"remove": {"index": index, "alias": self._source.month_alias(index_month(index)), "must_exist": False}}
            for index in self._indices.months(self._names)
        ]
        if addressed and not self._cluster.post("_aliases", body={"actions": addressed})["acknowledged"]:
            self._indices.reopen(closed)
            raise unavailable("a node of the cluster did not say that it knows of the move; repeat it")

    def _settle_claims(self, newest: int) -> None:
        """Wait for the writers that may have begun before they were held back, and give up for those that are gone."""
        while True:
            self._look_at_claims()
            claims = [claim for claim in self._pending.values() if claim["_seq_no"] <= newest]
            if not claims:
                return
            if over := [claim for claim in claims if self._is_over(claim)]:
                self._ledger.give_up(self._names, over)
            else:
                self._sleep(_POLL_S)

    def _look_at_claims(self) -> None:
        for page in self._claims.news():
            for entry in page:
                self._pending.pop(entry["_id"], None)
                if entry["_source"].get("pending") and entry["_source"]["claimed_ms"]:
                    self._pending[entry["_id"]] = entry

    def _is_over(self, claim: Mapping[str, Any]) -> bool:
        return not 0 <= milliseconds(self._clock.now()) - claim["_source"]["claimed_ms"] < LEASE_S * 1000

    def _caught_up(self, at: Placement) -> int:
        """Copy what is new in every month; how many records that was. ``at`` is where the tenant is, held back or not."""
        copied = 0
        for index in self._indices.months(self._names):
            month = index_month(index)
            if index not in self._months:
                self._indices.ensure_month(self._target, month, held_by=at)
                self._months[index] = Following(self._cluster, index, self._names.tenant)
            for page in self._months[index].news():
                self._copy(month, page)
                copied += len(page)
                self.copied += len(page)
                self._told(min(self.copied, self._total), self._total)
        return copied

    def _copy(self, month: str, page: Hits) -> None:
        copies = [indexing(self._target, month, hit["_source"]["passage_id"], hit["_version"], _body(hit["_source"])) for hit in page]
        for _ in range(_TRIES):
            items = self._cluster.bulk(copies)
            if refused := [item for item in items if item.fate not in ("written", "stale")]:
                raise unavailable(f"a record could not be copied ({refused[0].reason}); repeat the move")
            copies = [copy for copy, item in zip(copies, items, strict=True) if item.fate == "stale"]
            if not copies:
                return
            # Ones of these ids were removed a moment ago, by the beginning of this move; an index forgets them at a refresh, when its clock has gone on.
            self._sleep(_FORGOTTEN_S)
            self._cluster.refresh(self._target.month_alias(month))
        raise unavailable("records that were removed a moment ago are not forgotten yet; repeat the move")

    def _compare(self) -> None:
        """What is to be read is what was read.

        Raises:
            Unavailable: it is not.
        """
        for index in self._indices.months(self._names):
            copy = self._indices.month_index(self._target, index_month(index))
            self._cluster.refresh(copy)
            counts = [self._sweep.count(each, self._names.tenant, LIVE) for each in (index, copy)]
            if counts[0] != counts[1]:
                raise unavailable(f"{copy} has {counts[1]} live records, and {index} has {counts[0]}; nothing was swapped")

    def _swapping(self, closed: Placement) -> list[dict[str, Any]]:
        read = self._indices.months(self._names)
        shown = [self._target.aliasing(self._indices.month_index(self._target, index_month(index)), self._names.alias) for index in read]
        hidden = [{"remove": {"index": index, "alias": self._names.alias, "must_exist": True}} for index in read]
        left = [
            {"add": {"index": index, "alias": self._names.left_alias(index_month(index))}} for index in read if self._names.holds(index)
        ]
        return [*self._if_mine(), *closed.without(closed.mark), self._target.adding(self._target.mark), *hidden, *left, *shown]

    def _held_no_more(self) -> bool:
        if self._token not in self._moves():
            raise unavailable("another move of this tenant took over, or it was erased; repeat it")
        return False

    def _moves(self) -> Iterable[str]:
        now = self._indices.placed(self._names, afresh=True)
        return () if now is None or now.era != self._source.era else now.moves

    def _if_mine(self) -> list[dict[str, Any]]:
        return self._source.if_moved_by(self._token)


def _body(source: Mapping[str, Any]) -> bytes:
    """A record as it was written: its title first, as it is analysed before the text."""
    title = {"title": source["title"]} if "title" in source else {}
    return to_json({**title, **source})
