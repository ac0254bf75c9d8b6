"""Answers given again: the same to the last byte, only where nothing changed that they rest on, and never because of what the cache says alone."""

import json
import pickle
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import redis

from api import operations, rendering
from grounding.answer_cache import AnswerCache, Made
from grounding.answers import Outcome
from grounding.budget import budget_of
from grounding.planning import plan
from runtime.errors import Unavailable
from runtime.tenancy import Tenant, tenant_named
from search.caching.cache import Cache
from search.caching.entries import Entries
from search.caching.memory import MemoryCache
from search.caching.redis_cache import RedisCache
from search.caching.sealing import opened, sealed
from search.caching.strict import as_json
from search.documents import EVERYTHING, Filters
from search.filters import zone_named
from tests.grounding.desk import ACME, NOW, Desk, cited, open_desk, record
from tests.servers import running_valkey
from worker.opening import Service

BIRCH = tenant_named("birch")
ROWS = [
    record("d1", "The lift is stuck on the third floor again.", "2026-11-02", theme_id="lift", account_id="a1", rating=1),
    record("d2", "The lift is stuck on the third floor again!", "2026-11-09", theme_id="lift", account_id="a2", rating=2),
    record("d3", "The lift takes ten minutes to arrive.", "2026-11-16", theme_id="lift", account_id="a1", rating=2),
    record("d4", "Parking at the hotel costs twenty euros a night.", "2026-11-17", theme_id="parking", account_id="a3", rating=3),
    record("d5", "The breakfast is wonderful.", "2026-11-18", theme_id="food", account_id="a3", rating=5),
    record("d6", "My room key stopped working twice.", "2026-11-19", theme_id="keys", account_id="a4", rating=1),
]
QUESTIONS = (
    "What is wrong with the lift?",
    "How many documents are about the lift?",
    "Who is the fastest sprinter in the world?",
    "What is wrong with the lift and how many documents have the theme parking?",
    "How many messages came last week?",
    "Is parking free?",
    "What do people complain about?",
    "hello",
)


QUESTION = QUESTIONS[0]

live = pytest.mark.live("valkey")


@pytest.fixture
def shared(valkey_url: str) -> dict[str, Any]:
    """Settings of a cache on a real Valkey."""
    return {"redis_url": valkey_url, "index_prefix": "t" + uuid.uuid4().hex[:12], "cache_timeout_s": 30}


@pytest.fixture(params=["memory", pytest.param("redis", marks=live)])
def where(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings of a cache in this process, or on a real Valkey."""
    found: dict[str, Any] = {} if request.param == "memory" else request.getfixturevalue("shared")
    return found


@pytest.fixture
def desk(tmp_path: Path, where: dict[str, Any]) -> Iterator[Desk]:
    with open_desk(tmp_path, **where) as opened:
        opened.load(ROWS)
        yield opened


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Desk]:
    """A desk whose cache is in this process."""
    with open_desk(tmp_path) as opened:
        opened.load(ROWS)
        yield opened


def asked(desk: Desk, question: str, tenant: Tenant = ACME, **options: Any) -> Outcome:
    return operations.ask(desk.service, tenant, question, **{"top_k": 10} | options)


def told(outcome: Outcome) -> str:
    """Everything a door shows of an outcome but its id, its times and its steps."""
    shown = rendering.ask_result(outcome)
    for name in ("runId", "seconds"):
        shown.pop(name)
    for name in ("runId", "steps", "budget", "createdAt"):
        shown["trace"].pop(name)  # type: ignore[union-attr]
    return json.dumps(shown)


def recalled(outcome: Outcome) -> bool:
    return [step.name for step in outcome.trace.steps] == ["cache"]


def looks(service: Service, kind: str = "answer") -> dict[str, int]:
    names = ("hit", "miss", "error", "rejected")
    values = {each: service.metrics.registry.get_sample_value("wa_cache_total", {"kind": kind, "outcome": each}) for each in names}
    return {name: int(value) for name, value in values.items() if value}


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_given_again_is_the_same_to_the_last_byte(desk: Desk, question: str) -> None:
    first, again = asked(desk, question), asked(desk, question)
    assert not recalled(first)
    assert recalled(again)
    assert told(again) == told(first)
    assert told(desk.ask(question)) == told(first)
    assert looks(desk.service) == {"miss": 1, "hit": 1}


def kept(desk: Desk) -> dict[tuple[Tenant, str], bytes]:
    """Everything in the cache, by tenant and name."""
    cache = desk.service.caching.cache
    if isinstance(cache, MemoryCache):
        return {key: value for key, (_, value) in cache._kept.items()}
    assert isinstance(cache, RedisCache)
    with redis.Redis.from_url(desk.service.settings.redis_url) as client:
        keys = client.keys(f"{desk.service.settings.index_prefix}:cache:*")
        found = {}
        for key in keys:
            _, _, tenant, name = key.decode().split(":")
            found[(tenant_named(tenant), name)] = client.get(key)
        return found


def the_one(desk: Desk, tenant: Tenant = ACME) -> tuple[str, bytes]:
    ((name, value),) = [(name, value) for (whose, name), value in kept(desk).items() if whose == tenant]
    return name, value


def entries_of(desk: Desk) -> Entries:
    entries = desk.service.caching.entries
    assert entries is not None
    return entries


def content(desk: Desk, entry: bytes) -> tuple[str, Any]:
    """What an entry is about, and what it says."""
    import zlib

    about = json.loads(zlib.decompress(entry[33:]))[0]
    return about, opened(entries_of(desk)._secret(), about, entry)


# What it takes to be given again


@pytest.mark.parametrize(
    "other",
    [
        {"question": QUESTION + " "},
        {"top_k": 9},
        {"filters": Filters(account_ids=("a1",))},
        {"filters": Filters(attributes=(("plan", True),))},
        {"time_zone": "Europe/Paris"},
        {"budget": "smaller"},
        {"tenant": BIRCH},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_request_is_another_entry(desk: Desk, other: dict[str, Any]) -> None:
    desk.load(ROWS, BIRCH)
    asked(desk, QUESTION)
    given = {"question": QUESTION} | other
    if "budget" in given:
        given["budget"] = budget_of(desk.service.settings, max_steps=20)
    outcome = asked(desk, **given)
    assert not recalled(outcome)
    assert looks(desk.service) == {"miss": 2}
    assert recalled(asked(desk, **given))


def test_a_value_and_its_look_alike_are_different_filters(alone: Desk) -> None:
    for value in (True, 1, 1.0, "1", "true"):
        assert not recalled(asked(alone, QUESTION, filters=Filters(attributes=(("plan", value),))))


def test_a_change_of_the_documents_is_seen_at_once(desk: Desk) -> None:
    before = asked(desk, QUESTION)
    desk.load([record("d9", "The lift makes a terrible noise at night.", "2026-11-20")])
    after = asked(desk, QUESTION)
    assert not recalled(after)
    assert "d9" in cited(after)
    assert "d9" not in cited(before)
    operations.delete(desk.service, ACME, doc_ids=["d9"])
    again = asked(desk, QUESTION)
    assert not recalled(again)
    assert told(again) != told(after)
    assert cited(again) == cited(before)


def test_what_another_tenant_does_changes_nothing(desk: Desk) -> None:
    asked(desk, QUESTION)
    desk.load(ROWS, BIRCH)
    assert recalled(asked(desk, QUESTION))


@live
def test_settings_that_decide_keep_entries_apart_and_others_do_not(tmp_path: Path, shared: dict[str, Any]) -> None:
    with open_desk(tmp_path, **shared) as first:
        first.load(ROWS)
        made = asked(first, QUESTION)
    for settings, shares in (
        ({"worker_concurrency": 7, "log_level": "ERROR"}, True),
        ({"min_support": 0.61}, False),
        ({"fusion": "weighted"}, False),
    ):
        with open_desk(tmp_path, **shared, **settings) as other:
            outcome = asked(other, QUESTION)
            assert recalled(outcome) is shares, settings
            if shares:
                assert told(outcome) == told(made)


@live
def test_another_store_of_the_same_name_shares_nothing(tmp_path: Path, shared: dict[str, Any]) -> None:
    with open_desk(tmp_path, **shared) as first:
        first.load(ROWS)
        asked(first, QUESTION)
    for file in tmp_path.glob("store.db*"):
        file.unlink()
    with open_desk(tmp_path, **shared) as second:
        second.load([replace_text(row, "lift", "shower") for row in ROWS])
        outcome = asked(second, QUESTION)
        assert looks(second.service) == {"rejected": 1}
        assert told(outcome) == told(second.ask(QUESTION))


def replace_text(row: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return row | {"text": row["text"].replace(old, new)}


# Time


def test_words_for_times_are_of_their_day(alone: Desk) -> None:
    question = "How many messages came last week?"
    first = asked(alone, question)
    alone.clock.instant += timedelta(hours=11)
    assert recalled(asked(alone, question))
    alone.clock.instant += timedelta(hours=1)
    tomorrow = asked(alone, question)
    assert not recalled(tomorrow)
    assert told(tomorrow) == told(alone.ask(question))
    alone.clock.instant += timedelta(days=7)
    assert told(asked(alone, question)) != told(first)


def test_a_day_is_one_of_the_zone_of_the_request(alone: Desk) -> None:
    question, zone = "How many messages came last week?", "Pacific/Auckland"
    asked(alone, question, time_zone=zone)
    alone.clock.instant = datetime(2026, 11, 30, 10, 59, tzinfo=UTC)
    assert not recalled(asked(alone, question, time_zone=zone))  # yesterday there
    alone.clock.instant = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)
    assert recalled(asked(alone, question, time_zone=zone))


def test_planning_sees_nothing_of_the_clock_but_the_local_day(alone: Desk) -> None:
    from grounding.budget import Spending

    answerer, zone = alone.service.answerer, zone_named("Pacific/Auckland")
    vocabulary = answerer._names.vocabulary(ACME, Spending.start(budget_of(alone.service.settings), alone.clock))
    day = datetime(2026, 11, 29, 11, tzinfo=UTC)
    for question in (
        *QUESTIONS,
        "How many came today?",
        "How many in the last 2 weeks?",
        "Is it worse than last month?",
        "What came since March?",
    ):
        plans = [
            plan(question, EVERYTHING, vocabulary, now=day + timedelta(seconds=at), zone=zone).as_json() for at in (0, 1, 43_200, 86_399)
        ]
        assert all(each == plans[0] for each in plans), question


def test_a_trend_up_to_now_is_not_kept_while_there_are_documents_of_the_future(alone: Desk) -> None:
    rows = [
        record(f"t{number}", f"The lift failed, report {number}.", f"2026-11-{number + 1:02d}", theme_id="lift") for number in range(20)
    ]
    alone.load(rows)
    question = "How did the theme lift develop per week?"
    first = asked(alone, question)
    assert first.trace.plan["intent"] == "trend"
    assert first.answer is not None
    assert recalled(asked(alone, question))
    alone.load([record("later", "The lift will fail.", "2026-12-24", theme_id="lift")])
    for _ in range(2):
        assert not recalled(asked(alone, question))
        alone.clock.instant += timedelta(minutes=1)
    asked(alone, QUESTION)
    assert recalled(asked(alone, QUESTION))


def test_what_a_clock_ahead_of_ours_kept_is_not_true_yet(alone: Desk) -> None:
    asked(alone, QUESTION)
    alone.clock.instant -= timedelta(seconds=1)
    assert not recalled(asked(alone, QUESTION))
    alone.clock.instant += timedelta(seconds=1)
    assert recalled(asked(alone, QUESTION))


def test_an_entry_ends_with_its_time_and_being_given_again_does_not_prolong_it(alone: Desk) -> None:
    asked(alone, QUESTION)
    alone.clock.elapsed_s += 200
    assert recalled(asked(alone, QUESTION))
    alone.clock.elapsed_s += 101
    assert not recalled(asked(alone, QUESTION))


# A run like any other


def test_it_is_a_run_of_its_own_with_a_step_that_says_where_it_is_from(desk: Desk) -> None:
    first, again = asked(desk, QUESTION), asked(desk, QUESTION)
    assert again.run_id != first.run_id
    stored = desk.service.traces.get(ACME, again.run_id)
    assert stored.claims == first.trace.claims
    assert stored.plan == json.loads(json.dumps(dict(first.trace.plan)))
    (step,) = stored.steps
    assert (step.name, step.outcome) == ("cache", "done")
    assert step.detail == {"generation": desk.service.engine.generation(ACME), "run_id": first.run_id}
    events = [event for event in desk.service.state.outbox(first=1000) if event.type == "answer.given"]
    assert {event.subject for event in events} == {first.run_id, again.run_id}
    count = desk.service.metrics.registry.get_sample_value
    assert count("wa_questions_total", {"outcome": "answered"}) == 2
    assert count("wa_ask_steps_total", {"step": "cache", "outcome": "done"}) == 1
    assert again.trace.budget["used"]["steps"] == 1


def test_only_doors_are_given_what_is_kept(alone: Desk) -> None:
    asked(alone, QUESTION)
    before = looks(alone.service)
    assert not recalled(alone.ask(QUESTION))
    assert looks(alone.service) == before


# What is not kept


def test_neither_what_ran_out_of_its_budget_nor_what_lost_a_part_is_kept(alone: Desk) -> None:
    small = budget_of(alone.service.settings, max_steps=2)
    for _ in range(2):
        outcome = asked(alone, QUESTION, budget=small)
        assert outcome.refusal is not None
        assert outcome.refusal.reason == "BUDGET_EXCEEDED"
    few = budget_of(alone.service.settings, max_tokens=20)
    for _ in range(2):
        assert "evidence" in asked(alone, QUESTION, budget=few).degraded
    assert kept(alone) == {}


def test_documents_that_change_while_it_is_answered_keep_it_from_being_kept(alone: Desk) -> None:
    class Meanwhile(AnswerCache):
        def look(self, asked_now: Any) -> Any:
            found = super().look(asked_now)
            alone.load([record(uuid.uuid4().hex, "The lift smells.")])
            return found

    caching = alone.service.caching
    answerer = alone.service.answerer
    answerer._cache = Meanwhile(alone.service.engine, entries_of(alone), caching.settled)
    assert not recalled(asked(alone, QUESTION))
    assert kept(alone) == {}


def test_with_a_language_model_nothing_is_kept(tmp_path: Path) -> None:
    with open_desk(tmp_path, llm_base_url="http://127.0.0.1:9", llm_model="m", llm_timeout_s=0.2, retry_attempts=1) as desk:
        desk.load(ROWS)
        for _ in range(2):
            assert not recalled(asked(desk, QUESTION))
        assert looks(desk.service) == {}
        assert kept(desk) == {}


def test_switched_off_nothing_is_kept_and_nothing_is_counted(tmp_path: Path) -> None:
    with open_desk(tmp_path, cache="off") as desk:
        desk.load(ROWS)
        for _ in range(2):
            assert not recalled(asked(desk, QUESTION))
            operations.by_theme(desk.service, ACME, None, EVERYTHING, 10)
        assert looks(desk.service) == looks(desk.service, "aggregate") == {}


# Lies


def other_tenants(desk: Desk) -> bytes:
    asked(desk, QUESTION, BIRCH)
    return the_one(desk, BIRCH)[1]


def of_another_question(desk: Desk) -> bytes:
    before = set(kept(desk))
    asked(desk, "Is parking free?")
    return next(value for key, value in kept(desk).items() if key not in before)


def of_an_earlier_generation(desk: Desk) -> bytes:
    _, entry = the_one(desk)
    desk.load([record("d9", "The lift makes a terrible noise at night.", "2026-11-20")])
    return entry


def resealed(desk: Desk, entry: bytes, value: Any) -> bytes:
    return sealed(entries_of(desk)._secret(), content(desk, entry)[0], value)


def signed(change: Callable[[Any], Any]) -> Callable[[Desk], bytes]:
    """What our own signature stands under, and is wrong all the same."""

    def lie(desk: Desk) -> bytes:
        _, entry = the_one(desk)
        made_at, body = content(desk, entry)[1]
        return resealed(desk, entry, change([made_at, body]))

    return lie


def changed(path: str, value: Any) -> Callable[[Any], Any]:
    def change(body: Any) -> Any:
        at = body[1]
        *names, last = path.split(".")
        for name in names:
            at = at[int(name)] if name.isdigit() else at[name]
        at[last] = value
        return body

    return change


LIES: dict[str, Callable[[Desk], bytes]] = {
    "one byte": lambda _: b"x",
    "truncated": lambda desk: the_one(desk)[1][:-5],
    "longer": lambda desk: the_one(desk)[1] + b"more",
    "much longer": lambda _: bytes(500_000),
    "pickle": lambda _: pickle.dumps({"answer": "anything"}),
    "JSON": lambda desk: json.dumps(content(desk, the_one(desk)[1])).encode(),
    "text": lambda _: b"OK",
    "a number": lambda _: b"42",
    "of another tenant": other_tenants,
    "of another question": of_another_question,
    "of an earlier generation": of_an_earlier_generation,
    "unsigned": lambda desk: the_one(desk)[1][:1] + bytes(32) + the_one(desk)[1][33:],
    "signed by another store": lambda desk: sealed(bytes(32), *content(desk, the_one(desk)[1])),
    "signed: null": signed(lambda _: None),
    "signed: a list": signed(lambda _: []),
    "signed: text": signed(lambda _: "answer"),
    "signed: no time": signed(lambda body: [7, body[1]]),
    "signed: no body": signed(lambda body: [body[0], None]),
    "signed: neither": signed(lambda body: changed("refusal", None)(changed("answer", None)(body))),
    "signed: a number for a text": signed(changed("answer.text", 7)),
    "signed: a claim of no kind": signed(changed("answer.claims.0.kind", "SONG")),
    "signed: a quote nobody wrote": signed(changed("answer.claims.0.citations.0.quote", "The lift is fine.")),
    "signed: a place beside it": signed(changed("answer.claims.0.citations.0.start", 1)),
    "signed: a document there is not": signed(changed("answer.claims.0.citations.0.doc_id", "d99")),
    "signed: another version": signed(changed("answer.claims.0.citations.0.version", 9)),
    "signed: a hit nobody wrote": signed(changed("hits.0.candidate.passage.text", "The lift is fine.")),
}


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_becomes_an_answer(desk: Desk, lie: str) -> None:
    desk.load([replace_text(row, "lift", "shower") for row in ROWS], BIRCH)
    asked(desk, QUESTION)
    told_before = LIES[lie](desk)
    truth = told(desk.ask(QUESTION))
    with_lie = desk.service.caching
    if lie == "of an earlier generation":
        asked(desk, QUESTION)
    names = [name for (whose, name) in kept(desk) if whose == ACME]
    for name in names:
        with_lie.cache.put(ACME, name, told_before)
    before = looks(desk.service).get("rejected", 0)
    outcome = asked(desk, QUESTION)
    assert told(outcome) == truth
    assert not recalled(outcome)
    assert not outcome.degraded
    assert looks(desk.service)["rejected"] == before + 1
    again = asked(desk, QUESTION)  # the lie was replaced by the truth
    assert recalled(again)
    assert told(again) == truth


def test_lies_about_counts_are_seen_through(desk: Desk) -> None:
    def counted() -> str:
        return json.dumps(rendering.theme_aggregate(operations.by_theme(desk.service, ACME, "lift", EVERYTHING, 10)))

    truth = counted()
    name, entry = the_one(desk)
    about, (made_at, body) = content(desk, entry)
    secret = entries_of(desk)._secret()
    for lie in (
        b"x",
        entry[:-1],
        sealed(secret, about, [made_at, body | {"total": "3"}]),
        sealed(secret, about, [made_at, body | {"generation": 10**6}]),
    ):
        desk.service.caching.cache.put(ACME, name, lie)
        assert counted() == truth
    assert looks(desk.service, "aggregate") == {"miss": 1, "rejected": 4}
    assert counted() == truth
    assert looks(desk.service, "aggregate")["hit"] == 1


# Aggregates


def test_counts_given_again_are_the_same_to_the_last_byte(desk: Desk) -> None:
    def counted() -> list[str]:
        service = desk.service
        context = operations.account_context(service, ACME, "a1", 5)
        assert context is not None
        shown = [
            rendering.theme_aggregate(operations.by_theme(service, ACME, "lift", EVERYTHING, 10)),
            rendering.trend(operations.trend(service, ACME, None, EVERYTHING, "week", "Europe/Paris")),
            rendering.account_context(context),
        ]
        return [json.dumps(each) for each in shown]

    first = counted()
    misses = looks(desk.service, "aggregate")["miss"]
    assert counted() == first
    hits = looks(desk.service, "aggregate")
    assert hits == {"miss": misses, "hit": hits["hit"]}
    desk.load([record("d9", "The lift again.", theme_id="lift", account_id="a1")])
    assert counted() != first
    assert "hit" in hits


# A cache that fails


class Broken:
    """A cache that does not answer; ``puts`` tells whether it takes entries all the same."""

    shared = True

    def __init__(self, inner: Cache, *, gets: bool, puts: bool) -> None:
        self._inner, self._gets, self._puts = inner, gets, puts

    def get(self, tenant: Tenant, name: str) -> bytes | None:
        if self._gets:
            return self._inner.get(tenant, name)
        raise Unavailable("Redis does not serve us", dependency="cache")

    def put(self, tenant: Tenant, name: str, value: bytes) -> None:
        if not self._puts:
            raise Unavailable("Redis does not serve us", dependency="cache")
        self._inner.put(tenant, name, value)

    def forget(self, _tenant: Tenant) -> int:
        raise Unavailable("Redis does not serve us", dependency="cache")

    def close(self) -> None:
        """Nothing to let go of."""


@pytest.mark.parametrize(("gets", "puts"), [(False, False), (True, False), (False, True)])
def test_a_broken_cache_costs_time_and_nothing_else(alone: Desk, *, gets: bool, puts: bool) -> None:
    truth = told(alone.ask(QUESTION))
    entries_of(alone).cache = Broken(MemoryCache(alone.clock, entries=9, ttl_s=300), gets=gets, puts=puts)
    for _ in range(2):
        outcome = asked(alone, QUESTION)
        assert (outcome.degraded.keys() == {"cache"}) is not gets
        assert told(replace(outcome, degraded={})) == truth
        assert operations.by_theme(alone.service, ACME, None, EVERYTHING, 10).total == len(ROWS)
    assert looks(alone.service)["error"] == 2
    assert "hit" not in looks(alone.service)


@live
def test_a_redis_that_dies_mid_run_is_named_and_comes_back_unaided(tmp_path: Path) -> None:
    with running_valkey() as server, open_desk(tmp_path, redis_url=server.url, cache_timeout_s=30, breaker_failures=1) as desk:
        desk.load(ROWS)
        truth = told(asked(desk, QUESTION))
        assert recalled(asked(desk, QUESTION))
        server.kill()
        for _ in range(3):
            outcome = asked(desk, QUESTION)
            assert set(outcome.degraded) == {"cache"}
            assert server.url not in outcome.degraded["cache"]
            assert told(replace(outcome, degraded={})) == truth
        assert operations.delete(desk.service, ACME, doc_ids=["d6"]).deleted == 1
        assert desk.service.metrics.registry.get_sample_value("wa_breaker_state", {"dependency": "cache"}) == 2
        server.start()
        desk.clock.elapsed_s += 60
        assert not asked(desk, QUESTION).degraded
        assert recalled(asked(desk, QUESTION))


@live
def test_a_key_of_another_type_costs_one_look(tmp_path: Path, valkey_url: str) -> None:
    prefix = "t" + uuid.uuid4().hex[:12]
    with (
        open_desk(tmp_path, redis_url=valkey_url, index_prefix=prefix, cache_timeout_s=30) as desk,
        redis.Redis.from_url(valkey_url) as client,
    ):
        desk.load(ROWS)
        truth = told(asked(desk, QUESTION))
        name, _ = the_one(desk)
        client.delete(f"{prefix}:cache:acme:{name}")
        client.hset(f"{prefix}:cache:acme:{name}", "field", "value")
        outcome = asked(desk, QUESTION)
        assert set(outcome.degraded) == {"cache"}
        assert told(replace(outcome, degraded={})) == truth


def test_a_store_that_has_no_secret_for_it_is_a_cache_that_fails(alone: Desk) -> None:
    def none() -> bytes:
        raise Unavailable("the store has no secret for the cache", dependency="cache")

    asked(alone, QUESTION)
    entries_of(alone)._secret = none
    outcome = asked(alone, QUESTION)
    assert set(outcome.degraded) == {"cache"}
    assert not recalled(outcome)


def test_an_engine_that_is_down_is_an_error_whatever_is_kept(alone: Desk) -> None:
    class Down:
        def __init__(self, engine: Any) -> None:
            self._engine = engine

        def __getattr__(self, name: str) -> Any:
            if name == "documents":
                raise Unavailable("the store is away", dependency="engine")
            return getattr(self._engine, name)

    asked(alone, QUESTION)
    cache = alone.service.answerer._cache
    assert cache is not None
    cache._engine = Down(cache._engine)  # type: ignore[assignment]
    with pytest.raises(Unavailable, match="the store is away"):
        asked(alone, QUESTION)


# Erasing


@pytest.mark.parametrize(
    "what", [{"doc_ids": ["d1"]}, {"account_id": "a1", "confirm": True}, {"confirm": True}], ids=["document", "account", "tenant"]
)
def test_nothing_of_what_is_erased_is_kept_or_given_again(desk: Desk, what: dict[str, Any]) -> None:
    desk.load(ROWS, BIRCH)
    for tenant in (ACME, BIRCH):
        asked(desk, QUESTION, tenant)
        operations.by_theme(desk.service, tenant, None, EVERYTHING, 10)
    operations.delete(desk.service, ACME, **what)
    assert {tenant for tenant, _ in kept(desk)} == {BIRCH}
    outcome = asked(desk, QUESTION)
    assert not recalled(outcome)
    assert '"d1' not in json.dumps(rendering.ask_result(outcome))
    assert recalled(asked(desk, QUESTION, BIRCH))


def test_a_tenant_that_comes_back_is_a_new_one(desk: Desk) -> None:
    empty = told(asked(desk, QUESTION, BIRCH))
    desk.load(ROWS, BIRCH)
    filled = told(asked(desk, QUESTION, BIRCH))
    operations.delete(desk.service, BIRCH, confirm=True)
    assert told(asked(desk, QUESTION, BIRCH)) == empty
    desk.load([replace_text(row, "stuck", "burning") for row in ROWS], BIRCH)
    assert "burning" in told(asked(desk, QUESTION, BIRCH))
    assert filled != empty


def test_an_entry_says_all_that_it_rests_on(alone: Desk) -> None:
    asked(alone, QUESTION, filters=Filters(account_ids=("a1",)))
    about, (made_at, _) = content(alone, the_one(alone)[1])
    for part in ("answer", "acme", QUESTION, "a1", "2026-11-30", "UTC", "min_support", "max_claims", "minilm", "sqlite"):
        assert part in about
    assert made_at == NOW.isoformat()


def test_no_secret_is_in_what_entries_are_about(tmp_path: Path) -> None:
    secrets = {
        "key_pepper": "p" * 20 + "epper" * 4,
        "llm_api_key": "k" * 20,
        "webhook_secret": "w" * 20,
        "redis_url": "redis://:r-secret@127.0.0.1:1/0",
    }
    with open_desk(tmp_path, **secrets, engine_password_file=tmp_path / "p-secret") as desk:
        about = entries_of(desk).key("answer", ACME, 1).text
    assert not [secret for secret in (*secrets.values(), "r-secret", "p-secret") if secret in about]


def test_everything_an_outcome_holds_is_written(alone: Desk) -> None:
    outcome = alone.ask(QUESTION)
    made = Made(outcome.run_id, outcome.trace.plan, outcome.answer, outcome.refusal, outcome.grounding, outcome.hits)
    assert {"answer", "refusal", "grounding", "hits"} <= as_json(made).keys()
