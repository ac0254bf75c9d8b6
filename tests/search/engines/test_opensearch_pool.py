"""Tenants in one pool share indices and nothing else, whichever of the things that keep them apart is missing."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from runtime.tenancy import tenant_named
from search.documents import EVERYTHING
from search.engines import opensearch_queries as queries
from search.engines.opensearch import OpenSearchEngine
from search.engines.opensearch_names import Names, is_behind, is_month_index, pool_alias, pool_index
from search.engines.opensearch_ownership import ForeignHit, OwnershipCheck, check_asked
from search.engines.opensearch_placement import Placement, placement_of
from tests.contracts.writes import written
from tests.search.engines.scripted import engine_on
from tests.search.engines.test_opensearch_ownership import CANARY, OURS, QUERY, READS, THEIRS

live = pytest.mark.live("opensearch")

NAMES = Names("wa", OURS)


@pytest.fixture
def engine(opensearch_url: str, opensearch_prefix: str) -> Iterator[OpenSearchEngine]:
    """Both tenants in the pool, with a document of the same id."""
    opened = engine_on(opensearch_url, opensearch_prefix, newcomers="pool")
    opened.write(OURS, [written("a", "late fees"), written("b", "late trains")])
    opened.write(THEIRS, [written("a", CANARY, theme_id="canary"), written("foreign", f"{CANARY} late fees", theme_id="canary")])
    for tenant in (OURS, THEIRS):
        opened.refresh(tenant)
    yield opened
    opened.close()


@pytest.fixture
def raw(opensearch_url: str) -> Iterator[httpx.Client]:
    hooks = {"response": [lambda response: response.raise_for_status()]}
    with httpx.Client(base_url=opensearch_url, timeout=60, event_hooks=hooks) as client:
        yield client


@live
def test_without_the_filter_of_its_alias_a_tenant_still_sees_its_own_alone(
    engine: OpenSearchEngine, raw: httpx.Client, opensearch_prefix: str
) -> None:
    shown = {name: repr(read(engine)) for name, read in READS.items()}
    month, alias = pool_index(opensearch_prefix, "202603"), Names(opensearch_prefix, OURS).alias
    raw.post("/_aliases", json={"actions": [{"remove": {"index": month, "alias": alias}}, {"add": {"index": month, "alias": alias}}]})
    for name, read in READS.items():
        assert "canary of" not in repr(read(engine)), name
        if name != "legs":
            assert repr(read(engine)) == shown[name], name
    assert engine.corpus(OURS).documents == engine.documents(OURS, EVERYTHING).total == 2


@live
def test_a_record_of_a_neighbour_under_our_id_is_refused(engine: OpenSearchEngine, raw: httpx.Client, opensearch_prefix: str) -> None:
    month = pool_index(opensearch_prefix, "202603")
    at = engine._indices.placed(Names(opensearch_prefix, OURS))
    assert at is not None
    query = {"query": {"term": {"tenant": THEIRS}}, "size": 1}
    (theirs,) = raw.post(f"/{month}/_search", json=query).json()["hits"]["hits"]
    newer = {"version": 99, "version_type": "external_gte", "refresh": "true"}
    raw.put(f"/{month}/_doc/{at.key('b#000000').replace('#', '%23')}", params=newer, json=theirs["_source"])
    with pytest.raises(ForeignHit):
        engine.write(OURS, [written("b", "late trains again")])
    assert engine.document(OURS, "b") is None


@live
def test_every_alias_over_the_pool_filters_by_its_tenant(engine: OpenSearchEngine, raw: httpx.Client, opensearch_prefix: str) -> None:
    month = pool_index(opensearch_prefix, "202603")
    aliases = raw.get(f"/{month}/_alias").json()[month]["aliases"]
    filters = {alias: options.get("filter", {}).get("term", {}).get("tenant") for alias, options in aliases.items()}
    expected: dict[str, object] = {pool_alias(opensearch_prefix, "202603"): None}
    for tenant in (OURS, THEIRS):
        at = engine._indices.placed(Names(opensearch_prefix, tenant))
        assert at is not None
        expected |= {at.names.alias: tenant, at.month_alias("202603"): tenant}
    assert filters == expected


@live
def test_of_an_erased_tenant_nothing_is_left_in_the_segments_of_the_pool(
    engine: OpenSearchEngine, raw: httpx.Client, opensearch_prefix: str
) -> None:
    month = pool_index(opensearch_prefix, "202603")

    def deleted() -> int:
        raw.post(f"/{month}/_refresh")
        return int(raw.get(f"/{month}/_stats/docs").json()["indices"][month]["primaries"]["docs"]["deleted"])

    assert engine.erase(THEIRS) == 2
    deadline = time.monotonic() + 120  # OpenSearch lets go of what was removed every half minute
    while deleted() and time.monotonic() < deadline:
        engine.expunge(THEIRS)
        time.sleep(1)
    assert deleted() == 0
    assert engine.corpus(OURS).documents == 2


def test_months_of_the_pool_are_no_tenants_and_are_behind_the_aliases_of_their_month_alone() -> None:
    index = pool_index("wa", "202603")
    assert is_month_index("wa", index)
    assert not NAMES.holds(index)
    pooled = Placement(NAMES, "pool", 2)
    for alias in (NAMES.alias, pooled.month_alias("202603"), pool_alias("wa", "202603"), index):
        assert is_behind(alias, index), alias
    others = Names("wb", OURS)
    for alias in (
        NAMES.month_alias("202603"), NAMES.ledger, NAMES.ledger_index(), pooled.month_alias("202604"), pool_alias("wa", "202604"), "wa_state",
        others.alias, Placement(others, "pool", 2).month_alias("202603"), pool_index("wa", "202603", 2),
    ):  # fmt: skip
        assert not is_behind(alias, index), alias


def test_ids_in_the_pool_meet_neither_neighbours_nor_the_time_before_an_erasure() -> None:
    keys = [
        Placement(Names("wa", tenant_named(name)), "pool", era).key(passage)
        for name in ("a", "a-1", "a1", "sha256")
        for era in (1, 11)
        for passage in ("x#000000", "1:x#000000", "1#000000", "y" * 600)
    ]
    assert len(set(keys)) == len(keys)
    assert all(len(key.encode()) <= 512 for key in keys)
    assert Placement(NAMES, "own", 3).key("x#000000") == "x#000000"


def test_no_record_of_a_pool_is_read_without_saying_for_whom() -> None:
    hit = {"_index": pool_index("wa", "202603"), "_source": {"tenant": OURS}}
    OwnershipCheck().record(NAMES.alias, OURS, hit)
    for tenant in (None, THEIRS):
        with pytest.raises(ForeignHit):
            OwnershipCheck().record(NAMES.alias, tenant, hit)
    with pytest.raises(ForeignHit):
        OwnershipCheck().record(NAMES.alias, OURS, {**hit, "_source": {}})


def stripped(body: Any) -> Any:
    """A search without any clause of a tenant."""
    if isinstance(body, dict):
        return {key: stripped(value) for key, value in body.items()}
    return [stripped(each) for each in body if "tenant" not in json.dumps(each)] if isinstance(body, list) else body


def test_a_search_of_months_that_does_not_say_for_whom_is_never_sent() -> None:
    lines = queries.legs(NAMES.alias, OURS, QUERY)
    bodies = [*lines[1::2], queries.one_document(OURS, "a"), queries.document_page(OURS, EVERYTHING, None, 10, None)]
    assert len(bodies) == 5
    for body in bodies:
        check_asked(NAMES.alias, OURS, body)
        for tenant, asked in ((OURS, stripped(body)), (THEIRS, body), (None, body)):
            with pytest.raises(ValueError, match="tenant"):
                check_asked(NAMES.alias, tenant, asked)
    either = {"query": {"bool": {"should": [{"term": {"tenant": OURS}}]}}}
    with pytest.raises(ValueError, match="tenant"):
        check_asked(NAMES.alias, OURS, either)
    check_asked(NAMES.ledger, None, {})
    check_asked("wa_state", None, {})


def test_marks_say_where_a_tenant_is_and_a_late_mark_of_its_own_months_does_not_count() -> None:
    index, ledger = NAMES.ledger_index(3), NAMES.ledger

    def said(*marks: str) -> Placement:
        return placement_of(NAMES, index, [ledger, *(f"{ledger}.{mark}" for mark in marks)])

    assert said() == Placement(NAMES, "own", 3, marked=False)
    assert said("own") == Placement(NAMES, "own", 3)
    assert said("own", "pool") == Placement(NAMES, "pool", 3)
    assert said("own", "pool.abc", "moving.def") == Placement(NAMES, "pool", 3, "abc", ("def",))
    assert not said("own.abc").is_open
