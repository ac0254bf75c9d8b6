"""What became of one item of a bulk request: the status of the whole call says nothing about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from search.engines.opensearch_errors import OVERLOADED_STATUS, failure_reason, failure_type

Fate = Literal["written", "absent", "stale", "poison", "no_index", "blocked", "overloaded"]
"""``stale``: something newer is there, which is a success for a replay. ``poison``: never accepted, so never repeated. ``blocked``: writes are
switched off. ``overloaded``: the node is busy or gone, so repeat. ``absent``: a delete of what was not there."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the answer. ``seq_no`` and ``primary_term`` address what was written, for compare-and-set."""

    fate: Fate
    reason: str = ""
    seq_no: int = -1
    primary_term: int = -1


def classified(item: Mapping[str, Any]) -> Item:
    """The fate of one item, as ``{"index": {"status": 201, …}}``."""
    ((operation, answer),) = item.items()
    status = int(answer.get("status", 0))
    if 200 <= status < 300:
        return Item("written", "", int(answer.get("_seq_no", -1)), int(answer.get("_primary_term", -1)))
    failure = answer.get("error")
    if operation == "delete" and status == 404 and failure is None:
        return Item("absent")
    reason = failure_reason(failure) if isinstance(failure, Mapping) else f"status {status}"
    return Item(_fate(status, failure_type(failure)), reason)


def _fate(status: int, kind: str) -> Fate:
    if kind == "cluster_block_exception":
        return "blocked"
    if kind == "index_not_found_exception":
        return "no_index"
    if status == 409:
        return "stale"
    return "overloaded" if status in OVERLOADED_STATUS else "poison"
