"""Generations of all records under one prefix: each made by one embedding model, one of them served.

The first has its records under the prefix itself, the others under the prefix and a number; state there is once, for all. Each has a marker, whose
mapping says what made it; an alias on the marker of one says that it is served, and is moved in one step. Where it is nowhere, the first is served.
"""

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from runtime.errors import Conflict, InvalidRequest, Misconfigured, NotFound
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_names import closing_alias, every_ledger, generation_prefixes, live_alias, opening_alias, state_index

_AT_ONCE = 50
_TOLD = "*.aliases,*.mappings._meta,*.settings.index.uuid,error"


@dataclass(frozen=True, slots=True)
class Generation:
    """Records under ``prefix``, with vectors of ``model``; ``embedder`` is how that is spelled in ``WA_EMBEDDER``. ``marker`` tells it from another one
    that had the same prefix."""

    prefix: str
    model: str
    dimension: int
    embedder: str
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """Every generation there is, and how they stand to each other."""

    all: tuple[Generation, ...]
    live: Generation
    before: str = ""
    closing: bool = False
    """Whether one takes no writes, because another is about to be served, or was when somebody was killed."""

    def named(self, prefix: str) -> Generation:
        """The one under this prefix.

        Raises:
            NotFound: there is none.
        """
        found = next((each for each in self.all if each.prefix == prefix), None)
        if found is None:
            raise NotFound(f"there is no generation {prefix}; there are {', '.join(each.prefix for each in self.all)}")
        return found


class Generations:
    """The generations under one prefix. ``embedder`` is that of the settings: it made the first, unless its marker says otherwise."""

    def __init__(self, cluster: Cluster, prefix: str, embedder: str) -> None:
        self._cluster = cluster
        self._prefix = prefix
        self._embedder = embedder
        self._of_marker = {state_index(each): each for each in generation_prefixes(prefix)}
        self._live = live_alias(prefix)
        self._closing, self._opening = closing_alias(prefix, ""), opening_alias(prefix, "")

    def known(self, *, local: bool = True) -> Known:
        """As of now. ``local`` is answered by the node that is asked, so also while no other can be reached; a moment ago it may have been otherwise.

        Raises:
            Misconfigured: two are served, which only somebody else can have brought about.
        """
        found = self._cluster.find(",".join(self._of_marker), ignore_unavailable="true", local=str(local).lower(), filter_path=_TOLD) or {}
        ours = {marker: body for marker, body in found.items() if self._is_ours(marker, body)}
        every = {marker: self._generation(marker, body) for marker, body in sorted(ours.items(), key=lambda each: (len(each[0]), each[0]))}
        live = [marker for marker, body in ours.items() if self._live in body.get("aliases", {})]
        if len(live) > 1:
            raise Misconfigured(f"the alias {self._live} is on {' and '.join(live)}; leave it on one of them")
        first = state_index(self._prefix)
        served = live[0] if live else first
        closing = any(alias.startswith(self._closing) for body in ours.values() for alias in body.get("aliases", {}))
        generation = every.get(served) or Generation(self._prefix, "", 0, self._embedder)
        if not live:
            generation = Generation(generation.prefix, generation.model, generation.dimension, self._embedder, generation.marker)
        return Known(tuple(every.values()), generation, str(_meta(ours.get(served, {})).get("before", "")), closing)

    def make(self, embedder: str, model: str, dimension: int) -> Generation:
        """One for this model that is not served: the one there is, or a new and empty one under the first number that is free.

        Raises:
            InvalidRequest: on ``embedder``: what is served is of this model.
            Conflict: all numbers are taken.
        """
        known = self.known()
        if (known.live.model, known.live.dimension) == (model, dimension):
            raise InvalidRequest("is the model of the live store already", field="embedder")
        there = next((each for each in known.all if (each.model, each.dimension, each.embedder) == (model, dimension, embedder)), None)
        if there is not None:
            return there
        self._spell(known.live)
        for prefix in generation_prefixes(self._prefix)[1:]:
            if self._is_free(prefix):
                meta = {"generation_of": self._prefix, "model": model, "dimension": dimension, "embedder": embedder}
                settings = {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}}
                with suppress(Conflict):
                    self._cluster.put(state_index(prefix), body={"settings": settings, "mappings": {"dynamic": "strict", "_meta": meta}})
                    return self.known().named(prefix)
        raise Conflict(f"every prefix from {self._prefix}2 to {self._prefix}9 is taken; drop a generation with wisdom reembed --drop NAME")

    def serve(self, new: Generation, old: Generation, token: str) -> None:
        """Move the alias. From then on every process serves ``new``.

        Raises:
            NotFound: writes to ``old`` were let in again meanwhile, or another one is served; nothing was changed.
        """
        self._note(new, before=old.prefix)
        present = [marker for marker, body in self._aliased().items() if self._live in body["aliases"]]
        shut = {"remove": {"index": state_index(old.prefix), "alias": closing_alias(self._prefix, token), "must_exist": True}}
        taken = [{"remove": {"index": marker, "alias": self._live, "must_exist": True}} for marker in present]
        self._cluster.post("_aliases", body={"actions": [shut, *taken, {"add": {"index": state_index(new.prefix), "alias": self._live}}]})

    def close(self, generation: Generation) -> str:
        """Have its ledgers, those made from now on included, take no more writes; when this returns, none is on its way. Returns what
        :meth:`serve` asks for.

        Raises:
            Conflict: somebody is about to have it take writes.
        """
        token = secrets.token_hex(6)
        self._put_up(generation, closing_alias(self._prefix, token))
        if self._found(self._opening):
            raise Conflict("another wisdom reembed is at work; run this again when it is done")
        template = {
            "index_patterns": [every_ledger(generation.prefix)],
            "priority": 300,
            "template": {"settings": {"index.blocks.write": True}},
        }
        self._cluster.put("_index_template", f"{generation.prefix}-closed", body=template)
        self._each_ledger(generation, lambda names: self._cluster.put(names, "_block", "write", body={}))
        return token

    def give_up(self) -> Known:
        """Whoever is about to serve another generation cannot any more. How they stand then."""
        self._take_down(self._closing)
        return self.known(local=False)

    def open(self, generation: Generation) -> None:
        """Have it take writes, which nobody can be about to stop then."""
        self._put_up(generation, opening_alias(self._prefix, secrets.token_hex(6)))
        self._take_down(self._closing)
        with suppress(NotFound):
            self._cluster.drop("_index_template", f"{generation.prefix}-closed")
        self._each_ledger(generation, lambda names: self._cluster.put(names, "_settings", body={"index.blocks.write": None}))
        self._take_down(self._opening)

    def drop(self, generation: Generation) -> None:
        """Remove everything of a generation that is not served; its marker last, so that it can be repeated.

        Raises:
            InvalidRequest: it is served, or is the first, whose marker holds the state of all.
        """
        if generation.prefix == self.known().live.prefix:
            raise InvalidRequest("is served; serve another one first", field="drop")
        for names in _portions(self._indices(f"{generation.prefix}-*")):
            self._cluster.drop(names, ignore_unavailable="true")
        for kind, name in (("_index_template", "closed"), ("_index_template", "months"), ("_component_template", "records")):
            with suppress(NotFound):
                self._cluster.drop(kind, f"{generation.prefix}-{name}")
        if generation.prefix != self._prefix:
            with suppress(NotFound):
                self._cluster.drop(state_index(generation.prefix))

    def size(self, generation: Generation) -> int:
        """Bytes of its primary shards."""
        total = 0
        for names in _portions(self._indices(f"{generation.prefix}-*")):
            total += int(self._cluster.get(names, "_stats", "store")["_all"]["primaries"]["store"]["size_in_bytes"])
        return total

    def _put_up(self, generation: Generation, alias: str) -> None:
        self._cluster.post("_aliases", body={"actions": [{"add": {"index": state_index(generation.prefix), "alias": alias}}]})

    def _take_down(self, beginning: str) -> None:
        if found := self._found(beginning):
            removed = [{"remove": {"index": marker, "alias": alias}} for marker, alias in found]
            self._cluster.post("_aliases", body={"actions": removed})

    def _found(self, beginning: str) -> list[tuple[str, str]]:
        return [(marker, alias) for marker, body in self._aliased().items() for alias in body["aliases"] if alias.startswith(beginning)]

    def _spell(self, live: Generation) -> None:
        """Have the marker say how the embedder of what is served is spelled, for the way back."""
        meta = _meta(self._aliased().get(state_index(live.prefix), {}))
        if "embedder" not in meta:
            self._cluster.put(state_index(live.prefix), "_mapping", body={"_meta": {**meta, "embedder": live.embedder}})

    def _note(self, generation: Generation, **more: str) -> None:
        marker = state_index(generation.prefix)
        self._cluster.put(marker, "_mapping", body={"_meta": {**_meta(self._aliased()[marker]), **more}})

    def _aliased(self) -> Mapping[str, Any]:
        found = self._cluster.get(",".join(self._of_marker), ignore_unavailable="true")
        return {marker: body for marker, body in found.items() if self._is_ours(marker, body)}

    def _is_ours(self, marker: str, body: Mapping[str, Any]) -> bool:
        return marker == state_index(self._prefix) or _meta(body).get("generation_of") == self._prefix

    def _is_free(self, prefix: str) -> bool:
        return not self._indices(f"{prefix}-*") and self._cluster.find(state_index(prefix)) is None

    def _generation(self, marker: str, body: Mapping[str, Any]) -> Generation:
        meta = _meta(body)
        return Generation(
            prefix=self._of_marker[marker],
            model=str(meta.get("model", "")),
            dimension=int(meta.get("dimension", 0)),
            embedder=str(meta.get("embedder", self._embedder)),
            marker=str(body["settings"]["index"]["uuid"]),
        )

    def _each_ledger(self, generation: Generation, call: Callable[[str], object]) -> None:
        for names in _portions(self._indices(every_ledger(generation.prefix))):
            call(names)

    def _indices(self, pattern: str) -> list[str]:
        answer = self._cluster.get("_resolve", "index", pattern, expand_wildcards="all")
        return sorted(each["name"] for each in answer["indices"])


def _meta(body: Mapping[str, Any]) -> dict[str, Any]:
    return dict(body.get("mappings", {}).get("_meta", {}))


def _portions(names: list[str]) -> list[str]:
    return [",".join(names[start : start + _AT_ONCE]) for start in range(0, len(names), _AT_ONCE)]
