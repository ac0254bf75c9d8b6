"""Making indices from the shipped JSON, and refusing those that are not as they must be.

An index is made with an explicit body and never by the template alone: with the template missing or misspelt, OpenSearch makes an index without a
mapping and says nothing. The template is there for whoever restores or copies an index by hand. Every mapping is read back and compared, because a
vector field of another kind than Lucene's accepts writes that it never finds again.
"""

import json
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from typing import Any

from runtime.errors import Conflict, Misconfigured, NotFound, Unavailable
from runtime.tenancy import Tenant
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_errors import DEPENDENCY, unavailable
from search.engines.opensearch_names import (
    Names,
    every_month,
    every_pool_month,
    index_month,
    is_behind,
    is_month_index,
    is_pool_index,
    pool_alias,
    pool_index,
    state_index,
)
from search.engines.opensearch_placement import Actions, Placement, Where, placement_of

_LATER_STATE_FIELDS = ("outbox", "outbox_ids", "outbox_places", "facts")
"""What indices of earlier releases lack; they get it when they are opened."""

_ANOTHER_PREFIX = "or name another WA_INDEX_PREFIX and ingest again"


def shipped(name: str) -> dict[str, Any]:
    """A file of ``search/engines/templates``."""
    body: dict[str, Any] = json.loads((files("search.engines.templates") / f"{name}.json").read_text("utf-8"))
    return body


class Moved(Unavailable):
    """The tenant was moved meanwhile, or is about to be. Looking again where it is and repeating helps."""


class Indices:
    """The indices under one prefix, all made for one embedding model."""

    def __init__(
        self,
        cluster: Cluster,
        prefix: str,
        *,
        model: str,
        dimension: int,
        newcomers: Where = "own",
        state_prefix: str | None = None,
    ) -> None:
        self._cluster = cluster
        self._newcomers = newcomers
        self._prefix = prefix
        self._state_prefix = state_prefix or prefix
        self._model = model
        self._dimension = dimension
        self._ready: set[str] = set()
        self._placed: dict[Tenant, Placement] = {}
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Make what all tenants share, and check every index there is.

        Raises:
            Misconfigured: something under this prefix was made for another model, or has another mapping than ours.
        """
        self._check_cluster()
        self._ensure_state()
        self._ensure_templates()
        for index, mapping in self._month_mappings(every_month(self._prefix)):
            self._check_month(index, mapping)

    def placed(self, names: Names, *, afresh: bool = False) -> Placement | None:
        """Where the tenant is; None for one never seen. It may have been moved since: whoever writes by it is refused then, and has to :meth:`forget`.

        Raises:
            ForeignHit: the ledger is not ours.
        """
        with self._lock:
            known = self._placed.get(names.tenant)
        if known is not None and not afresh:
            return known
        index = self.ledger_index(names)
        aliases = None if index is None else self._cluster.find(index, "_alias")
        if index is None or aliases is None:
            return None
        found = placement_of(names, index, aliases[index]["aliases"])
        if found.is_open:
            with self._lock:
                self._placed[names.tenant] = found
        return found

    def ensure_month(self, at: Placement, month: str, *, held_by: Placement | None = None) -> None:
        """After this the month's alias can be written to. The index joins the tenant's alias only when it can be searched, and not at all for a move
        that fills it: ``held_by`` is where the tenant is meanwhile.

        Raises:
            NoRoom: the cluster takes no further index.
            Misconfigured: an index of that name has another mapping.
            Moved: the tenant is not there any more, or writers have to wait.
        """
        alias = at.month_alias(month)
        if self._is_ready(alias):
            return
        if not self._is_still(held_by or at):
            self.forget(at.names)
            raise _moved(at.names)
        index = self.month_index(at, month)
        self._await_shards(index)
        for name, mapping in self._month_mappings(index):
            self._check_month(name, mapping)
        shown = [at.aliasing(index, at.names.alias)] if held_by is None else []
        made = [{"remove": {"index": index, "alias": at.names.left_alias(month), "must_exist": False}}]
        actions = [*(held_by or at).if_still(), *made, at.aliasing(index, alias, writes=True), *shown]
        try:
            self._cluster.post("_aliases", body={"actions": actions})
        except NotFound as error:
            self.forget(at.names)
            raise _moved(at.names) from error
        if held_by is None:
            self._now_ready(alias)

    def ensure_ledger(self, names: Names) -> None:
        """After this the tenant's ledger can be written to, and says where the tenant is."""
        if self._is_ready(names.ledger):
            return
        index = self.ledger_index(names)
        if index is None:
            index = names.ledger_index()
            mark = Placement(names, self._where_months_are(names), 1).mark
            self._make(index, {**shipped("ledger"), "aliases": {names.ledger: {"is_write_index": True}, mark: {}}})
        self._await_shards(index)
        placed = self.placed(names, afresh=True)
        if placed is not None and not placed.marked:
            self._cluster.post("_aliases", body={"actions": [placed.adding(placed.mark)]})
            self.placed(names, afresh=True)
        self._now_ready(names.ledger)

    def forget(self, names: Names) -> None:
        """Look again at what exists: someone else removed indices of this tenant."""
        with self._lock:
            self._ready = {alias for alias in self._ready if alias != names.ledger and not alias.startswith(f"{names.alias}-")}
            self._placed.pop(names.tenant, None)

    def months(self, names: Names) -> tuple[str, ...]:
        """The month indices that the tenant is read from, oldest first; none for a tenant never seen."""
        found = self._aliased(names.alias)
        return tuple(sorted((index for index in found if names.holds(index) or is_pool_index(index)), key=index_month))

    def ledger_index(self, names: Names) -> str | None:
        """The index behind the tenant's ledger alias."""
        return max(self._behind(names.ledger), default=None)

    def own_months(self, names: Names) -> tuple[str, ...]:
        """Every month index that is the tenant's alone: read from, filled by a move, or left by one. One under its name that is none of these is not ours."""
        found = self._cluster.get("_resolve", "index", f"{names.alias}-*", expand_wildcards="all")
        return tuple(sorted(each["name"] for each in found["indices"] if names.owns(each["name"], each.get("aliases", ()))))

    def drop_own_months(self, names: Names, condition: Actions) -> None:
        """Remove every month index that is the tenant's alone.

        Raises:
            Moved: the condition, as of :meth:`Placement.if_still`, does not hold; nothing was removed.
        """
        self._if([*condition, *self._without_own_months(names)], names)

    def pool_months(self) -> tuple[str, ...]:
        """Every month index of the pool."""
        found = self._cluster.get("_resolve", "index", every_pool_month(self._prefix), expand_wildcards="all")
        return tuple(sorted(index["name"] for index in found["indices"] if is_pool_index(index["name"])))

    def leave_pool(self, names: Names, condition: Actions) -> None:
        """Take the tenant's aliases off every month of the pool: from then on it is neither read nor written there.

        Raises:
            Moved: as in :meth:`drop_own_months`.
        """
        self._if([*condition, *self._without_pool(names)], names)

    def _without_own_months(self, names: Names) -> Actions:
        return [{"remove_index": {"index": index}} for index in self.own_months(names)]

    def _without_pool(self, names: Names) -> Actions:
        found = self._cluster.get("_resolve", "index", f"{names.alias}*", expand_wildcards="all")
        ours = [each for each in found["aliases"] if each["name"] == names.alias or each["name"].startswith(f"{names.alias}-")]
        return [
            {"remove": {"index": index, "alias": each["name"], "must_exist": False}}
            for each in ours
            for index in each["indices"]
            if is_pool_index(index)
        ]

    def _if(self, actions: Actions, names: Names) -> None:
        try:
            self._cluster.post("_aliases", body={"actions": actions})
        except NotFound as error:
            raise _moved(names) from error
        finally:
            self.forget(names)

    def reopen(self, closed: Placement) -> None:
        """Let writers go on where the tenant is; the move that held them back has to begin its end anew."""
        still = replace(closed, token="")
        writable = [still.aliasing(index, still.month_alias(index_month(index)), writes=True) for index in self.months(closed.names)]
        actions = [*closed.without(closed.mark), still.adding(still.mark), *writable]
        with suppress(NotFound):  # somebody else did it, or the move has ended
            self._cluster.post("_aliases", body={"actions": actions})
        self.forget(closed.names)

    def hold(self, names: Names) -> Placement | None:
        """Hold writers back, also in the place of a move that does: its end then changes nothing. None for a tenant of which there is nothing.

        Raises:
            Moved: the tenant was moved at this moment.
        """
        at = self.placed(names, afresh=True)
        if at is None:
            if not (self.months(names) or self.own_months(names)):
                return None
            self.ensure_ledger(names)  # of a tenant whose ledger was lost
            return self.hold(names)
        closed = replace(at, token=secrets.token_hex(8))
        self._if([*(at.without(at.mark) if at.marked else ()), closed.adding(closed.mark)], names)
        return closed

    def begin_anew(self, closed: Placement, changes_before: int) -> Placement:
        """Take all that is read of a held tenant away and put an empty ledger in the place of its present one, in one request: what is written from then
        on is of the next era, and no month that an earlier writer made stays. The new count of changes goes on from ``changes_before``.

        Raises:
            Moved: writers are not held back any more; nothing was removed.
        """
        names, anew = closed.names, replace(closed, era=closed.era + 1, token="")
        body = shipped("ledger")
        body["mappings"]["_meta"]["changes_before"] = changes_before
        self._make(anew.ledger_index, body)
        self.say_of_ledger(anew.ledger_index, changes_before=changes_before)  # it may be of an erasure that was interrupted
        gone = [*closed.without(closed.mark, names.ledger), *self._without_own_months(names), *self._without_pool(names)]
        new = {"add": {"index": anew.ledger_index, "alias": names.ledger, "is_write_index": True}}
        self._if([*gone, new, anew.adding(anew.mark)], names)
        self._drop_ledgers_before(anew)
        return anew

    def _drop_ledgers_before(self, anew: Placement) -> None:
        found = self._cluster.get("_resolve", "index", f"{anew.names.ledger}.*", expand_wildcards="all")
        for each in found["indices"]:
            if is_behind(anew.names.ledger, each["name"]) and each["name"] < anew.ledger_index:
                self._drop(each["name"])

    def changes_before(self, index: str) -> int:
        """Changes counted before this ledger index was made."""
        return int(self.said_of_ledger(index).get("changes_before", 0))

    def said_of_ledger(self, index: str) -> dict[str, Any]:
        """What its mapping remembers of a ledger index."""
        return dict(self._cluster.get(index, "_mapping")[index]["mappings"].get("_meta", {}))

    def say_of_ledger(self, index: str, **more: Any) -> None:
        """Have it remember this too."""
        self._cluster.put(index, "_mapping", body={"_meta": self.said_of_ledger(index) | more})

    def month_index(self, at: Placement, month: str) -> str:
        """The index that holds a month there, made if need be."""
        if at.where == "pool":
            alias = pool_alias(self._prefix, month)
            index = max(self._behind(alias), default=None)
            if index is None:
                index = pool_index(self._prefix, month)
                self._make(index, self._pool_body() | {"aliases": {alias: {}}})
            return index
        read = (index for index in self.months(at.names) if at.names.holds(index) and index_month(index) == month)
        index = max([*read, *self._behind(at.month_alias(month))], default=None)
        if index is None:
            index = at.names.month_index(month)
            self._make(index, self._record_body() | {"aliases": {at.names.left_alias(month): {}}})
        return index

    def _is_still(self, at: Placement) -> bool:
        now = self.placed(at.names, afresh=True)
        return now is not None and now.place == at.place

    def _where_months_are(self, names: Names) -> Where:
        """Of a tenant whose ledger is gone, where its months are; of a new one, where new ones go."""
        months = self.months(names)
        if not months:
            return self._newcomers
        return "pool" if is_pool_index(months[-1]) else "own"

    def _behind(self, alias: str) -> Iterable[str]:
        """The indices behind an alias that is written to.

        Raises:
            ForeignHit: one of them is not ours: a write or a removal would meet another tenant's documents.
        """
        found = self._aliased(alias)
        for index in found:
            self._cluster.owned.index(alias, index)
        return found

    def _aliased(self, alias: str) -> Iterable[str]:
        found: Mapping[str, Any] | None = self._cluster.find(alias, "_alias")
        return () if found is None else found.keys()

    def _await_shards(self, index: str) -> None:
        """An index made by another writer a moment ago may not take anything yet."""
        health = self._cluster.get("_cluster", "health", index, wait_for_active_shards="1", timeout="5s", level="indices")
        if health["timed_out"]:
            raise unavailable(f"{index} is there and its shard is not; check the health of the cluster")

    def _drop(self, index: str) -> None:
        try:
            self._cluster.drop(index, ignore_unavailable="true")
        except NotFound:
            return

    def _make(self, index: str, body: Mapping[str, Any]) -> None:
        try:
            self._cluster.put(index, body=body)
        except Conflict:
            return  # made by another process, or by an earlier attempt of this call

    def _state_body(self) -> dict[str, Any]:
        body = shipped("state")
        body["mappings"]["_meta"] |= {"model": self._model, "dimension": self._dimension}
        return body

    def _record_body(self) -> dict[str, Any]:
        body: dict[str, Any] = shipped("records")["template"]
        body["mappings"]["_meta"] |= {"model": self._model, "dimension": self._dimension}
        body["mappings"]["properties"]["vector"]["dimension"] = self._dimension
        return body

    def _pool_body(self) -> dict[str, Any]:
        """As any month, and deleted text does not wait for a merge that may never come: see :meth:`Sweep.expunge`."""
        body = self._record_body()
        body["settings"]["index"] |= shipped("pool")["settings"]["index"]
        return body

    def _ensure_state(self) -> None:
        index = state_index(self._state_prefix)
        if self._cluster.find(index, "_mapping") is None:
            self._make(index, self._state_body())
            self._await_shards(index)
        mapping = self._cluster.get(index, "_mapping")[index]["mappings"]
        self._refuse_part_of_another(index, mapping)
        self._check_marker(index, mapping)
        wanted, found = shipped("state")["mappings"]["properties"], mapping.get("properties", {})
        if later := {name: field for name, field in wanted.items() if name in _LATER_STATE_FIELDS and _lacks(found.get(name), field)}:
            self._cluster.put(index, "_mapping", body={"properties": later})
            found = self._cluster.get(index, "_mapping")[index]["mappings"]["properties"]
        self._refuse(index, list(differences(wanted, found)))

    def _refuse_part_of_another(self, index: str, mapping: Mapping[str, Any]) -> None:
        if whose := mapping.get("_meta", {}).get("generation_of"):
            raise Misconfigured(f"{index} marks a generation of the documents of {whose}; set WA_INDEX_PREFIX={whose}")

    def _check_marker(self, index: str, mapping: Mapping[str, Any]) -> None:
        """The state is of all generations; each of those made later has a marker of its own."""
        marker = state_index(self._prefix)
        self._check_model(marker, mapping if marker == index else self._cluster.get(marker, "_mapping")[marker]["mappings"])

    def _ensure_templates(self) -> None:
        """Written only when they are not as they must be, so that a user who may only read can open the engine."""
        component, months = f"{self._prefix}-records", f"{self._prefix}-months"
        body = self._record_body()
        stored = self._cluster.find("_component_template", component)
        mappings = stored["component_templates"][0]["component_template"]["template"].get("mappings", {}) if stored else {}
        if any(differences(body["mappings"], mappings)):
            self._cluster.put("_component_template", component, body={"template": body})
        if self._cluster.find("_index_template", months) is None:
            wanted = shipped("months") | {"index_patterns": [every_month(self._prefix)], "composed_of": [component]}
            self._cluster.put("_index_template", months, body=wanted)

    def _month_mappings(self, target: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        answer: Mapping[str, Any] = self._cluster.get(target, "_mapping", expand_wildcards="open")
        for index, body in answer.items():
            if is_month_index(self._prefix, index):
                yield index, body["mappings"]

    def _check_cluster(self) -> None:
        version = self._cluster.get().get("version", {})
        if not isinstance(version, Mapping) or version.get("distribution") != "opensearch":
            raise Misconfigured(f"what answers at {self._cluster.location} is not OpenSearch; check WA_ENGINE_URL")

    def _check_month(self, index: str, mapping: Mapping[str, Any]) -> None:
        self._check_model(index, mapping)
        expected = self._record_body()["mappings"]
        found = list(differences(expected["properties"], mapping.get("properties", {})))
        if str(mapping.get("dynamic")).lower() != "strict":
            found.append("dynamic")
        self._refuse(index, found)

    def _check_model(self, index: str, mapping: Mapping[str, Any]) -> None:
        meta = mapping.get("_meta", {})
        if "model" not in meta:
            raise Misconfigured(f"{index} exists and was not made by WisdomAgent; remove it, {_ANOTHER_PREFIX}")
        if (meta["model"], meta.get("dimension")) != (self._model, self._dimension):
            raise Misconfigured(
                f"{index} was made for vectors of {meta['model']} (dimension {meta.get('dimension')}), and WA_EMBEDDER asks for {self._model} "
                f"(dimension {self._dimension}); set WA_EMBEDDER back and change it with wisdom reembed, {_ANOTHER_PREFIX}"
            )

    def _refuse(self, index: str, found: list[str]) -> None:
        if found:
            raise Misconfigured(
                f"{index} has another mapping than this release makes ({', '.join(found[:3])}); remove it, {_ANOTHER_PREFIX}"
            )

    def _is_ready(self, alias: str) -> bool:
        with self._lock:
            return alias in self._ready

    def _now_ready(self, alias: str) -> None:
        with self._lock:
            self._ready.add(alias)


def _moved(names: Names) -> Moved:
    return Moved(f"another move of the documents of {names.tenant} is going on; repeat this when it has ended", dependency=DEPENDENCY)


def _lacks(found: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    """True when a field, or a part of it, is not mapped at all; one that is mapped otherwise cannot be changed."""
    return found is None or not wanted.get("properties", {}).keys() <= found.get("properties", {}).keys()


def differences(expected: Mapping[str, Any], found: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The places where ``found`` does not say what ``expected`` says; what it says beyond that does not matter."""
    for key, value in expected.items():
        place = f"{path}.{key}" if path else key
        if isinstance(value, Mapping):
            inner = found.get(key)
            yield from differences(value, inner if isinstance(inner, Mapping) else {}, place) if value else ()
        elif found.get(key) != value:
            yield place
