"""Changes of documents are told whenever the process dies: neither a change without its event nor an event without its change."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from runtime.clock import SettableClock
from runtime.errors import Unavailable
from runtime.events import Event
from runtime.tenancy import Tenant
from search.documents import EVERYTHING
from search.engines.embedded import EmbeddedEngine, open_embedded
from search.engines.told import ToldEngine
from search.engines.write_intents import KIND, OPEN_FOR, WriteIntents
from tests.contracts.writes import DIMENSION, MODEL, written
from worker.events.log import EventLog

ACME = Tenant("acme")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Killed(BaseException):
    """The process ends here."""


class Dying:
    """A part that ends its process before or after one of its methods."""

    def __init__(self, part: Any, method: str, *, after: bool) -> None:
        self._part = part
        self._method = method
        self._after = after

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)
        return self._dying(method) if name == self._method else method

    def _dying(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._after:
                method(*args, **kwargs)
            raise Killed

        return call


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(NOW)


@pytest.fixture
def engine(tmp_path: Path, clock: SettableClock) -> Iterator[EmbeddedEngine]:
    with open_embedded(tmp_path / "store.db", model=MODEL, dimension=DIMENSION, clock=clock) as opened:
        yield opened


@pytest.fixture
def told(engine: EmbeddedEngine, clock: SettableClock) -> ToldEngine:
    return ToldEngine(engine, engine.state, clock)


def events(engine: EmbeddedEngine) -> list[Event]:
    return list(engine.state.outbox(first=1000))


def ids(event: Event) -> list[str]:
    return [document["id"] for document in event.body["documents"]]


def recover(engine: EmbeddedEngine, clock: SettableClock) -> int:
    """What the recovery duty does, once the time is up; how many intents it found."""
    clock.instant += OPEN_FOR + timedelta(seconds=1)
    intents = WriteIntents(engine.state, clock)
    stale = intents.stale()
    for tenant, entry in stale:
        intents.recover(tenant, entry, engine, EventLog(engine.state).told_since(tenant, entry.created_at - OPEN_FOR))
    return len(stale)


def test_new_documents_are_told_with_what_is_counted_of_them(told: ToldEngine, engine: EmbeddedEngine) -> None:
    told.write(ACME, [written("a", "one", theme_id="billing"), written("b", "two", occurred_at=datetime(2026, 3, 4, 23, 30, tzinfo=UTC))])
    (event,) = events(engine)
    assert (event.type, event.tenant) == ("documents.indexed", ACME)
    first, second = event.body["documents"]
    assert (first["id"], first["version"], first["theme"], "before" in first) == ("a", 1, "billing", False)
    assert (second["day"], "theme" in second) == ("2026-03-04", False)
    assert "one" not in str(event.body)


def test_an_update_tells_what_it_replaces_and_an_equal_document_tells_nothing(told: ToldEngine, engine: EmbeddedEngine) -> None:
    told.write(ACME, [written("a", "one", theme_id="billing"), written("b", "two")])
    told.write(ACME, [written("a", "changed", theme_id="cards"), written("b", "two")])
    told.write(ACME, [written("a", "changed", theme_id="cards")])
    _, event = events(engine)
    (document,) = event.body["documents"]
    assert (document["id"], document["version"], document["theme"], document["before"]["theme"]) == ("a", 2, "cards", "billing")
    assert list(engine.state.scan(KIND, labels={"state": "open"})) == []


def test_deletes_tell_only_what_was_there(told: ToldEngine, engine: EmbeddedEngine) -> None:
    told.write(ACME, [written("a", "one", theme_id="billing"), written("b", "two")])
    assert told.delete(ACME, ["a", "never", "a"]) == ("a",)
    assert told.delete(ACME, ["a", "never"]) == ()
    _, event = events(engine)
    assert (event.type, ids(event), event.body["documents"][0]["theme"]) == ("documents.deleted", ["a"], "billing")


def test_what_was_there_before_the_first_told_change_is_kept_as_a_baseline(told: ToldEngine, engine: EmbeddedEngine) -> None:
    engine.write(ACME, [written("a", "one", theme_id="billing"), written("b", "two", occurred_at=datetime(1999, 1, 1, tzinfo=UTC))])
    told.write(ACME, [written("c", "three")])
    entry = engine.state.get(ACME, "counts_baseline", "counts_baseline")
    assert entry is not None
    assert (entry.body["documents"], entry.body["themes"], entry.body["days"]["1999-01-01"]) == (2, {"billing": 1}, 1)
    assert sum(entry.body["days"].values()) == sum(entry.body["sources"].values()) == 2
    told.write(ACME, [written("d", "four")])
    assert engine.state.get(ACME, "counts_baseline", "counts_baseline") == entry


@pytest.mark.parametrize("after", [False, True])
def test_a_writer_killed_around_the_write_leaves_events_of_what_is_stored(
    told: ToldEngine, engine: EmbeddedEngine, clock: SettableClock, after: bool
) -> None:
    told.write(ACME, [written("old", "one")])
    dying = ToldEngine(Dying(engine, "write", after=after), engine.state, clock)
    with pytest.raises(Killed):
        dying.write(ACME, [written("old", "changed"), written("new", "two")])
    assert len(events(engine)) == 1
    assert recover(engine, clock) == 1
    assert recover(engine, clock) == 0
    engine.refresh(ACME)
    stored = {document.doc_id for document in engine.documents(ACME, EVERYTHING).documents}
    assert stored == ({"old", "new"} if after else {"old"})
    assert [ids(event) for event in events(engine)] == ([["old"], ["old", "new"]] if after else [["old"]])


@pytest.mark.parametrize("after", [False, True])
def test_a_deleter_killed_around_the_delete_leaves_events_of_what_is_gone(
    told: ToldEngine, engine: EmbeddedEngine, clock: SettableClock, after: bool
) -> None:
    told.write(ACME, [written("a", "one"), written("b", "two")])
    dying = ToldEngine(Dying(engine, "delete", after=after), engine.state, clock)
    with pytest.raises(Killed):
        dying.delete(ACME, ["a"])
    recover(engine, clock)
    assert [(event.type, ids(event)) for event in events(engine)][1:] == ([("documents.deleted", ["a"])] if after else [])


def test_a_crash_before_the_intent_changes_nothing(engine: EmbeddedEngine, told: ToldEngine, clock: SettableClock) -> None:
    told.write(ACME, [written("a", "one")])
    with pytest.raises(Killed):
        ToldEngine(engine, Dying(engine.state, "put", after=False), clock).write(ACME, [written("b", "two")])
    assert recover(engine, clock) == 0
    assert "b" not in engine.stored(ACME, ["b"])


def test_a_writer_that_comes_late_tells_only_what_its_recovery_did_not(
    engine: EmbeddedEngine, told: ToldEngine, clock: SettableClock
) -> None:
    class Slow:
        """Stores one document, sleeps until it is thought dead and recovered, then stores the other."""

        def __getattr__(self, name: str) -> Any:
            return getattr(engine, name)

        def write(self, tenant: Tenant, writes: Any) -> Any:
            first = engine.write(tenant, writes[:1])
            recover(engine, clock)
            return (*first, *engine.write(tenant, writes[1:]))

    told.write(ACME, [written("z", "zero")])
    ToldEngine(Slow(), engine.state, clock).write(ACME, [written("a", "one"), written("b", "two")])
    assert [ids(event) for event in events(engine)] == [["z"], ["a"], ["b"]]


def test_a_document_overwritten_before_its_crashed_writer_is_recovered_counts_once(
    engine: EmbeddedEngine, told: ToldEngine, clock: SettableClock
) -> None:
    told.write(ACME, [written("z", "zero")])
    with pytest.raises(Killed):
        ToldEngine(Dying(engine, "write", after=True), engine.state, clock).write(ACME, [written("a", "one", theme_id="billing")])
    told.write(ACME, [written("a", "two", theme_id="cards")])
    recover(engine, clock)
    balance: dict[str, int] = {}
    for event in events(engine):
        for document in event.body["documents"]:
            for facts, sign in ((document, 1), (document.get("before"), -1)):
                if facts is not None and "theme" in facts:
                    balance[facts["theme"]] = balance.get(facts["theme"], 0) + sign
    assert balance == {"billing": 0, "cards": 1}


def test_a_state_store_that_goes_away_after_the_write_is_no_failure_of_the_write(
    engine: EmbeddedEngine, told: ToldEngine, clock: SettableClock
) -> None:
    class Leaving:
        """A state store that is gone once the engine has written."""

        def __getattr__(self, name: str) -> Any:
            if name == "put" and "a" in engine.stored(ACME, ["a"]):
                raise Unavailable("gone", dependency="state")
            return getattr(engine.state, name)

    told.write(ACME, [written("z", "zero")])
    outcomes = ToldEngine(engine, Leaving(), clock).write(ACME, [written("a", "one")])
    assert [outcome.kind for outcome in outcomes] == ["indexed"]
    recover(engine, clock)
    assert [ids(event) for event in events(engine)] == [["z"], ["a"]]


def test_long_ids_are_told_in_events_that_fit_an_entry(told: ToldEngine, engine: EmbeddedEngine) -> None:
    writes = [written(f"{number:03}" + "é" * 190, f"text {number}", theme_id="ü" * 190) for number in range(400)]
    outcomes = told.write(ACME, writes)
    assert [outcome.doc_id for outcome in outcomes] == [write.document.doc_id for write in writes]
    found = events(engine)
    assert len(found) > 1
    assert [doc_id for event in found for doc_id in ids(event)] == [write.document.doc_id for write in writes]


def test_recovered_intents_are_forgotten_after_a_day(engine: EmbeddedEngine, told: ToldEngine, clock: SettableClock) -> None:
    told.write(ACME, [written("z", "zero")])
    with pytest.raises(Killed):
        ToldEngine(Dying(engine, "write", after=True), engine.state, clock).write(ACME, [written("a", "one")])
    recover(engine, clock)
    intents = WriteIntents(engine.state, clock)
    intents.forget_recovered()
    assert len(list(engine.state.scan(KIND, labels={"state": "recovered"}))) == 1
    clock.instant += timedelta(days=1)
    intents.forget_recovered()
    assert list(engine.state.scan(KIND, labels={"state": "recovered"})) == []


class Between:
    """An engine in which somebody else does something just before a write."""

    def __init__(self, engine: EmbeddedEngine, does: Callable[[], object]) -> None:
        self._engine = engine
        self._does = does

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def write(self, tenant: Tenant, writes: Any) -> Any:
        self._does()
        return self._engine.write(tenant, writes)


def told_documents(engine: EmbeddedEngine) -> int:
    signs = {"documents.indexed": 1, "documents.deleted": -1}
    return sum(signs[event.type] * (1 - ("before" in each)) for event in events(engine) for each in event.body["documents"])


@pytest.mark.parametrize("here", [False, True])
@pytest.mark.parametrize(
    "does",
    [
        lambda told: told.write(ACME, [written("a", "by another")]),
        lambda told: told.write(ACME, [written("a", "mine")]),
        lambda told: told.delete(ACME, ["a"]),
        lambda told: (told.write(ACME, [written("a", "by another")]), told.delete(ACME, ["a"])),
        lambda told: (told.delete(ACME, ["a"]), told.write(ACME, [written("a", "by another")])),
    ],
)
@pytest.mark.parametrize("text", ["old", "mine"])
def test_writers_that_come_between_one_another_leave_the_right_number_of_documents(
    told: ToldEngine, engine: EmbeddedEngine, clock: SettableClock, does: Callable[[ToldEngine], object], text: str, *, here: bool
) -> None:
    if here:
        told.write(ACME, [written("a", "old")])
    late = ToldEngine(Between(engine, lambda: does(told)), engine.state, clock)
    late.write(ACME, [written("a", text), written("b", "new")])
    assert told_documents(engine) == engine.corpus(ACME).documents
    assert list(engine.state.scan(KIND, labels={"state": "open"})) == []


def test_a_write_that_was_to_change_nothing_and_did_is_told(told: ToldEngine, engine: EmbeddedEngine, clock: SettableClock) -> None:
    told.write(ACME, [written("a", "one")])
    late = ToldEngine(Between(engine, lambda: told.write(ACME, [written("a", "two")])), engine.state, clock)
    late.write(ACME, [written("a", "one")])
    assert [event.body["documents"][0]["version"] for event in events(engine)] == [1, 2, 3]


@pytest.mark.parametrize("method", ["write", "delete"])
@pytest.mark.parametrize("after", [False, True])
def test_what_a_killed_writer_began_and_somebody_else_did_counts_once(
    told: ToldEngine, engine: EmbeddedEngine, clock: SettableClock, method: str, *, after: bool
) -> None:
    told.write(ACME, [written("z", "zero")])
    dying = ToldEngine(Dying(engine, method, after=after), engine.state, clock)

    def act(on: ToldEngine) -> None:
        on.write(ACME, [written("a", "one")]) if method == "write" else on.delete(ACME, ["z"])

    for _ in range(2):
        with suppress(Killed):
            act(dying)
    act(told)
    if method == "write":
        told.write(ACME, [written("a", "two")])
    assert recover(engine, clock) >= 1
    assert told_documents(engine) == engine.corpus(ACME).documents


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    "then",
    [
        lambda told, _: told.write(ACME, [written("a", "two")]),
        lambda told, _: (told.write(ACME, [written("a", "two")]), told.write(ACME, [written("a", "three")])),
        lambda told, _: (told.write(ACME, [written("a", "two")]), told.delete(ACME, ["a"]), told.write(ACME, [written("a", "three")])),
        lambda told, _: (told.delete(ACME, ["a"]), told.write(ACME, [written("a", "two")])),
        lambda told, dying: (told.write(ACME, [written("a", "two")]), dying.delete(ACME, ["a"]), told.write(ACME, [written("a", "three")])),
        lambda _, dying: dying.write(ACME, [written("a", "two")]),
        lambda told, dying: (dying.write(ACME, [written("a", "two")]), told.write(ACME, [written("a", "three")])),
    ],
    ids=["new", "new, newer", "new, deleted, new", "deleted, new", "new, killed, new", "killed", "killed, newer"],
)
def test_what_a_killed_deleter_did_is_told_though_the_document_came_back_at_once(
    told: ToldEngine, engine: EmbeddedEngine, clock: SettableClock, then: Callable[[ToldEngine, Any], object], *, after: bool
) -> None:
    class Surviving:
        """A writer that is killed between acting and telling, and whose death ends nobody else."""

        def __getattr__(self, name: str) -> Any:
            def call(*arguments: Any) -> None:
                with suppress(Killed):
                    getattr(ToldEngine(Dying(engine, name, after=True), engine.state, clock), name)(*arguments)

            return call

    told.write(ACME, [written("a", "one"), written("z", "zero")])
    with pytest.raises(Killed):
        ToldEngine(Dying(engine, "delete", after=after), engine.state, clock).delete(ACME, ["a"])
    then(told, Surviving())
    recover(engine, clock)
    recover(engine, clock)
    assert told_documents(engine) == engine.corpus(ACME).documents
    assert list(engine.state.scan(KIND, labels={"state": "open"})) == []
