"""The MCP tools: for each a name, a description that says when not to use it, typed arguments and result, and the operation it calls."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from api import mcp_payloads as payloads
from api import monitor_operations, monitor_rendering, operations, rendering
from api.arguments import filters_from
from api.casing import snake_keys
from api.json_text import write_json
from api.json_values import Json
from grounding.budget import budget_of
from runtime.clock import Deadline
from runtime.errors import InvalidRequest, NotFound
from runtime.tenancy import Tenant
from worker.opening import Service

Run = Callable[[Service, Tenant, Any, Deadline], Json]
Shorten = Callable[[Json], Iterator[tuple[list[Any], int]]]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool. ``run`` returns the payload; ``lists`` yields its lists in the order in which they may lose trailing items, each with how many must
    stay."""

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    payload: type[BaseModel]
    run: Run
    lists: Shorten


def fitted(spec: ToolSpec, payload: Json, limit: int) -> Json:
    """The payload with as many trailing items left out as it takes to be at most ``limit`` characters of JSON, and saying so.

    Raises:
        InvalidRequest: it does not fit with every list cut down.
    """
    payload = {"truncated": False, "left_out": 0} | payload
    for items, kept in spec.lists(payload):
        if _size(payload) <= limit:
            return payload
        _cut(payload, items, kept, limit)
    if _size(payload) > limit:
        raise InvalidRequest(f"the result does not fit in {limit} characters; narrow it with filters or a smaller limit")
    return payload


def _cut(payload: Json, items: list[Any], kept: int, limit: int) -> None:
    whole, before = list(items), payload["left_out"]
    low, high = min(kept, len(whole)), len(whole)
    payload["truncated"] = payload["truncated"] or low < high
    while low < high:
        middle = (low + high + 1) // 2
        _keep(payload, items, whole[:middle], before + len(whole) - middle)
        low, high = (middle, high) if _size(payload) <= limit else (low, middle - 1)
    _keep(payload, items, whole[:low], before + len(whole) - low)


def _keep(payload: Json, items: list[Any], kept: list[Any], left_out: int) -> None:
    items[:] = kept
    payload["left_out"] = left_out


def _size(payload: Json) -> int:
    return len(write_json(payload).decode())


def _search(service: Service, tenant: Tenant, given: payloads.SearchArguments, deadline: Deadline) -> Json:
    found = operations.search(service, tenant, given.query, top_k=given.limit, filters=_filters(service, given.filters), deadline=deadline)
    payload: Json = snake_keys(rendering.search_result(found))
    return payload | {"hits": _short_hits(payload["hits"])}


def _themes(service: Service, tenant: Tenant, given: payloads.ThemeArguments, _deadline: Deadline) -> Json:
    found = operations.by_theme(service, tenant, given.query, _filters(service, given.filters), given.limit)
    payload: Json = snake_keys(rendering.theme_aggregate(found))
    return payload | {"themes": [_without(theme, "cursor") for theme in payload["themes"]]}


def _trend(service: Service, tenant: Tenant, given: payloads.TrendArguments, _deadline: Deadline) -> Json:
    zone = given.time_zone or service.settings.time_zone
    found = operations.trend(service, tenant, given.query, _filters(service, given.filters, zone), given.interval, zone)
    payload: Json = snake_keys(rendering.trend(found))
    return payload | {"points": [_without(point, "cursor") for point in payload["points"]]}


def _account(service: Service, tenant: Tenant, given: payloads.AccountArguments, _deadline: Deadline) -> Json:
    found = operations.account_context(service, tenant, given.account_id, given.limit)
    if found is None:
        raise NotFound("no document names this account")
    payload = _without(snake_keys(rendering.account_context(found)), "cursor")
    shown = [_without(item, "text") | {"snippet": rendering.snippet(item["text"])} for item in payload["documents"]]
    return payload | {"documents": shown}


def _ask(service: Service, tenant: Tenant, given: payloads.AskArguments, deadline: Deadline) -> Json:
    zone = given.time_zone or service.settings.time_zone
    outcome = operations.ask(
        service,
        tenant,
        given.question,
        top_k=service.settings.default_top_k,
        filters=_filters(service, given.filters, zone),
        budget=budget_of(service.settings, timeout_s=max(deadline.remaining_s(), 0.001)),
        time_zone=given.time_zone,
    )
    payload: Json = snake_keys(rendering.ask_result(outcome))
    report = _without(payload["grounding"], "verdicts")
    return _without(payload, "documents", "trace") | {"grounding": report, "hits": _short_hits(payload["hits"])}


def _monitors(service: Service, tenant: Tenant, given: payloads.MonitorsArguments, _deadline: Deadline) -> Json:
    page = monitor_operations.monitors(service, tenant, first=given.limit, after=None)
    shown = [snake_keys(monitor_rendering.monitor(item.monitor, item.held)) for item in page.watched]
    return {"monitors": shown, "unreadable": list(page.unreadable)}


def _digests(service: Service, tenant: Tenant, given: payloads.DigestsArguments, _deadline: Deadline) -> Json:
    if given.digest_id is not None and given.monitor_id is not None:
        raise InvalidRequest("is given beside digest_id; give one of them", field="monitor_id")
    if given.digest_id is not None:
        found = [monitor_operations.digest(service, tenant, given.digest_id)]
    else:
        found = list(monitor_operations.digests(service, tenant, monitor_id=given.monitor_id, first=given.limit, after=None).digests)
    return {"digests": [snake_keys(monitor_rendering.digest(item)) for item in found]}


def _filters(service: Service, given: payloads.FilterArguments | None, zone: str | None = None) -> Any:
    return filters_from(given.model_dump() if given else None, zone or service.settings.time_zone)


def _short_hits(hits: list[Json]) -> list[Json]:
    return [_without(hit, "features") for hit in hits]


def _without(value: Json, *names: str) -> Json:
    return {name: item for name, item in value.items() if name not in names}


def _only(name: str) -> Shorten:
    def lists(payload: Json) -> Iterator[tuple[list[Any], int]]:
        yield payload[name], 0

    return lists


def _account_lists(payload: Json) -> Iterator[tuple[list[Any], int]]:
    yield payload["documents"], 0
    yield payload["themes"], 0


def _ask_lists(payload: Json) -> Iterator[tuple[list[Any], int]]:
    """Hits first; then citations of the later claims, of which one must stay."""
    yield payload["hits"], 0
    for claim in reversed(payload["answer"]["claims"]):
        yield claim["counter_evidence"], 0
        yield claim["citations"], 1
    if payload["answer"]["refusal"]:
        yield payload["answer"]["refusal"]["nearest"], 0


def _digest_lists(payload: Json) -> Iterator[tuple[list[Any], int]]:
    """Later digests first; then citations of the later claims of the first, of which one must stay; then that one too."""
    digests = payload["digests"]
    yield digests, 1
    for claim in reversed(digests[0]["claims"] if digests else ()):
        yield claim["counter_evidence"], 0
        yield claim["citations"], 1
    yield digests, 0


TOOLS: Mapping[str, ToolSpec] = {
    spec.name: spec
    for spec in (
        ToolSpec(
            "search_feedback",
            "Search feedback",
            "Rank the passages that bear on a query, by words and by meaning. Returns ids and snippets, not an answer: use ask for an answer "
            "with citations, and the aggregates for counts, since a ranking shows only its top.",
            payloads.SearchArguments,
            payloads.SearchPayload,
            _search,
            _only("hits"),
        ),
        ToolSpec(
            "aggregate_by_theme",
            "Count by theme",
            "Exact counts of all matching documents by theme, each with document ids. Counts words, not meaning: a document matches when it holds "
            "every content word of the query. Do not use it to read what documents say.",
            payloads.ThemeArguments,
            payloads.ThemePayload,
            _themes,
            _only("themes"),
        ),
        ToolSpec(
            "trend_over_time",
            "Count over time",
            "Exact counts of all matching documents by local day, week or month, empty intervals included, each with document ids. Do not use it "
            "to explain a change: ask does that with citations.",
            payloads.TrendArguments,
            payloads.TrendPayload,
            _trend,
            _only("points"),
        ),
        ToolSpec(
            "get_account_context",
            "Read one account",
            "What is known of one account: counts by theme and source, ratings, and its newest documents. Do not use it to find accounts: "
            "search_feedback returns the account of each hit.",
            payloads.AccountArguments,
            payloads.AccountPayload,
            _account,
            _account_lists,
        ),
        ToolSpec(
            "ask",
            "Ask a question",
            "Answer a question from the documents alone: every claim is verified and cites exact spans, or the question is refused with a reason. "
            "A refusal is a normal result. Do not use it for small talk or general knowledge.",
            payloads.AskArguments,
            payloads.AskPayload,
            _ask,
            _ask_lists,
        ),
        ToolSpec(
            "list_monitors",
            "List monitors",
            "The saved questions that are watched: when each fires, where it stands, and the numbers of the newest window it looked at. Do not use "
            "it to read what happened: get_digests returns what monitors published.",
            payloads.MonitorsArguments,
            payloads.MonitorsPayload,
            _monitors,
            _only("monitors"),
        ),
        ToolSpec(
            "get_digests",
            "Read digests",
            "What monitors published, newest first: why each fired, its exact numbers with document ids, and verified claims with citations, or why "
            "there are none. Do not use it to ask something new: ask does that.",
            payloads.DigestsArguments,
            payloads.DigestsPayload,
            _digests,
            _digest_lists,
        ),
    )
}
