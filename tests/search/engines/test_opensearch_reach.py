"""No argument, setting or tenant makes us name an index outside our prefix: every request is read on its way to a real node."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runtime.clock import SystemClock
from runtime.errors import InvalidRequest, Misconfigured, ServiceError
from runtime.settings import read_settings
from runtime.tenancy import Tenant, tenant_named
from search.documents import EVERYTHING, Filters
from search.engines.opensearch import OpenSearchEngine, open_opensearch
from search.ranking import BucketQuery, LegQuery
from tests.contracts.writes import DIMENSION, MODEL, unit_vector, written
from tests.faults.fronting import Call, Front, fronting

TENANT = tenant_named("a-tenant")
HOSTILE = (
    "*", "_all", "../_all", "..%2f_all", "a,b", "wa_state/_doc/1", "/_search?q=*", "-x", "<logstash-{now/d}>", "foreign:index", "\n{}\n",
    '"},{"index":"*"}', "é" * 300,
)  # fmt: skip
LINES = ("_msearch", "_bulk")


def indices_of(call: Call) -> Iterator[str]:
    """Every index or alias that a request names, in its path or its body."""
    first, *rest = call.path.strip("/").split("/")
    if first and not first.startswith("_"):
        yield from first.split(",")
    if first == "_cluster" and len(rest) > 1:
        yield from rest[1].split(",")
    if first in LINES:
        for line in call.body.splitlines()[:: 2 if first == "_msearch" else 1]:
            yield from named(json.loads(line), "index" if first == "_msearch" else "_index")
    elif call.body:
        yield from named(json.loads(call.body), "_index", "index", "alias") if first in ("_mget", "_aliases") else ()


def named(value: Any, *keys: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in keys and isinstance(inner, str):
                yield inner
            else:
                yield from named(inner, *keys)
    elif isinstance(value, list):
        for each in value:
            yield from named(each, *keys)


def calls_with(engine: OpenSearchEngine, text: str) -> list[Callable[[], object]]:
    """Every method with this text in every place that takes one."""
    filters = Filters(sources=(text,), theme_ids=(text,), account_ids=(text,), doc_ids=(text,), attributes=((text, text),))
    return [
        lambda: engine.stored(TENANT, [text]),
        lambda: engine.document(TENANT, text),
        lambda: engine.documents(TENANT, filters, match=text),
        lambda: engine.documents(TENANT, EVERYTHING, after=text),
        lambda: engine.legs(TENANT, LegQuery(text, unit_vector("late fees"), filters)),
        lambda: engine.group_members(TENANT, [text], filters),
        lambda: engine.aggregate(TENANT, BucketQuery("theme", filters, match=text)),
        lambda: engine.state.put(TENANT, text, text, {text: text}, labels={text: text}),
        lambda: engine.state.get(TENANT, text, text),
        lambda: engine.state.entries(TENANT, text, labels={text: text}, after=text),
        lambda: engine.state.remove(TENANT, text, [text]),
        lambda: engine.months.drop(TENANT, text),
        lambda: engine.delete(TENANT, [text]),
    ]


def tried(call: Callable[[], object]) -> None:
    """It may be refused; what matters is what was sent."""
    try:
        call()
    except ServiceError:
        return


@pytest.fixture
def watched(opensearch_url: str, opensearch_prefix: str) -> Iterator[tuple[Front, OpenSearchEngine, str]]:
    with fronting(opensearch_url) as front:
        settings = read_settings({}, engine_url=front.url, index_prefix=opensearch_prefix)
        with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
            yield front, engine, opensearch_prefix


@pytest.mark.live("opensearch")
def test_hostile_arguments_of_every_method_reach_no_index_but_ours(watched: tuple[Front, OpenSearchEngine, str]) -> None:
    front, engine, prefix = watched
    tried(lambda: engine.write(TENANT, [written(text, f"late fees {text}", theme_id=text, account_id=text) for text in HOSTILE]))
    engine.refresh(TENANT)
    for text in HOSTILE:
        for call in calls_with(engine, text):
            tried(call)
    engine.erase(TENANT)
    found = {index for call in front.calls for index in indices_of(call)}
    assert {f"{prefix}-a.tenant", f"{prefix}-a.tenant-ledger", f"{prefix}_state"} <= found
    for index in found:
        own = index == f"{prefix}_state" or index.startswith((f"{prefix}-a.tenant", f"{prefix}-*-*-*"))
        assert own, index
    shared = {call.path for call in front.calls if call.path.startswith(("/_component_template/", "/_index_template/", "/_resolve/index/"))}
    assert all(path.split("/")[-1].startswith(f"{prefix}-") for path in shared), shared


@pytest.mark.live("opensearch")
def test_a_tenant_that_is_no_name_is_refused_before_anything_is_sent(watched: tuple[Front, OpenSearchEngine, str]) -> None:
    front, engine, _ = watched
    before = len(front.calls)
    for text in (*HOSTILE, "", "A", "a.b", "a" * 41):
        with pytest.raises(InvalidRequest):
            engine.legs(Tenant(text), LegQuery("late fees", None, EVERYTHING))
        with pytest.raises(InvalidRequest):
            engine.write(Tenant(text), [written("a", "text")])
        with pytest.raises(InvalidRequest):
            engine.erase(Tenant(text))
        with pytest.raises(InvalidRequest):
            engine.stored(Tenant(text), ["a"])
    assert len(front.calls) == before


@pytest.mark.parametrize("prefix", ["*", "wa-x", "_all", "wa,x", "../x", "WA", "a" * 17])
def test_a_prefix_that_is_no_name_is_refused_at_start(prefix: str) -> None:
    with pytest.raises(Misconfigured, match="WA_INDEX_PREFIX"):
        read_settings({"WA_INDEX_PREFIX": prefix})
