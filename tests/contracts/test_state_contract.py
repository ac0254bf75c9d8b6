"""What every state store must do. See :class:`search.ports.StateStore`."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from runtime.errors import Conflict, InvalidRequest
from runtime.events import Event, event_id
from runtime.tenancy import Tenant
from search.ports import StateEntry, StateStore
from search.state_facts import Fact


def all_ids(state: StateStore, tenant: Tenant, kind: str, size: int, **labels: str) -> list[str]:
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page, cursor = state.entries(tenant, kind, labels=labels or None, first=size, after=cursor)
        assert len(page) <= size
        seen += [entry.entry_id for entry in page]
        if cursor is None:
            return seen


def test_an_entry_comes_back_as_last_put_at_once(state: StateStore, tenant: Tenant) -> None:
    body = {"text": "ä 👍 \u2028", "number": 1.5, "list": [1, None, True, {"deep": []}], "": 0}
    put = state.put(tenant, "trace", "run/1?#*,", body, labels={"refused": "true"})
    assert (put.version, dict(put.body), dict(put.labels)) == (1, body, {"refused": "true"})
    assert state.get(tenant, "trace", "run/1?#*,") == put


def test_a_second_put_replaces_and_counts_the_version(state: StateStore, tenant: Tenant) -> None:
    first = state.put(tenant, "trace", "a", {"n": 1}, labels={"x": "1"})
    second = state.put(tenant, "trace", "a", {"m": 2})
    assert (second.version, dict(second.body), dict(second.labels)) == (2, {"m": 2}, {})
    assert second.created_at == first.created_at
    assert state.get(tenant, "trace", "a") == second


FACTS: dict[str, Fact] = {
    "at": datetime(2026, 3, 1, 12, 0, 0, 5000, UTC),
    "outcome": "answered",
    "degraded": ("vector_leg", "ä 👍"),
    "refused": False,
    "seconds": 1.0,
    "groundedness": 1 / 3,
    "claims": 2**53,
}
"""One of every type, with whole numbers where there may be fractions."""


def test_facts_come_back_as_put_by_every_way_and_are_replaced_with_the_body(state: StateStore, tenant: Tenant) -> None:
    put = state.put(tenant, "trace", "a", {"n": 1}, facts=FACTS)
    assert dict(put.facts) == FACTS
    assert [type(value) for value in put.facts.values()] == [type(value) for value in FACTS.values()]
    assert state.get(tenant, "trace", "a") == put
    assert state.entries(tenant, "trace")[0] == (put,)
    assert [entry for owner, entry in state.scan("trace") if owner == tenant] == [put]
    assert dict(state.put(tenant, "trace", "a", {"n": 2}, facts={"claims": 0}).facts) == {"claims": 0}
    assert dict(state.put(tenant, "trace", "a", {"n": 3}).facts) == {}


@pytest.mark.parametrize(
    "facts",
    [
        {"question": "what?"},
        {"seconds": "1.5"},
        {"seconds": float("nan")},
        {"seconds": True},
        {"claims": 1.5},
        {"claims": 2**63},
        {"refused": 1},
        {"at": datetime(2026, 3, 1)},  # noqa: DTZ001 (without a zone is what is refused)
        {"at": 1},
        {"outcome": "x" * 501},
        {"outcome": None},
        {"degraded": ("x",) * 51},
        {"degraded": (1,)},
    ],
)
def test_facts_that_are_not_declared_so_are_refused(state: StateStore, tenant: Tenant, facts: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        state.put(tenant, "trace", "a", {}, facts=facts)
    assert refused.value.field == "facts"
    assert state.get(tenant, "trace", "a") is None


def test_an_entry_never_put_is_none(state: StateStore, tenant: Tenant) -> None:
    assert state.get(tenant, "trace", "a") is None
    assert state.entries(tenant, "trace") == ((), None)


def test_insisting_on_creation_fails_on_an_existing_entry(state: StateStore, tenant: Tenant) -> None:
    assert state.put(tenant, "digest", "window-1", {"by": "one"}, expected=0).version == 1
    with pytest.raises(Conflict):
        state.put(tenant, "digest", "window-1", {"by": "two"}, expected=0)
    assert dict(state.get(tenant, "digest", "window-1").body) == {"by": "one"}  # type: ignore[union-attr]


def test_compare_and_set_writes_only_over_the_version_that_was_read(state: StateStore, tenant: Tenant) -> None:
    state.put(tenant, "monitor", "m", {"n": 1})
    assert state.put(tenant, "monitor", "m", {"n": 2}, expected=1).version == 2
    with pytest.raises(Conflict):
        state.put(tenant, "monitor", "m", {"n": 3}, expected=1)
    with pytest.raises(Conflict):
        state.put(tenant, "monitor", "never", {"n": 3}, expected=1)
    assert dict(state.get(tenant, "monitor", "m").body) == {"n": 2}  # type: ignore[union-attr]


def test_entries_of_other_kinds_and_tenants_are_apart(state: StateStore, tenant: Tenant, other_tenant: Tenant) -> None:
    for owner in (tenant, other_tenant):
        for kind in ("trace", "monitor"):
            state.put(owner, kind, "same", {"owner": owner, "kind": kind})
    assert dict(state.get(tenant, "trace", "same").body) == {"owner": tenant, "kind": "trace"}  # type: ignore[union-attr]
    assert state.remove(tenant, "trace", ["same"]) == 1
    assert state.get(other_tenant, "trace", "same") is not None
    assert state.get(tenant, "monitor", "same") is not None


@pytest.mark.parametrize("size", [1, 2, 3, 5, 50])
def test_entries_are_paged_newest_first_without_gap_or_repeat(state: StateStore, tenant: Tenant, size: int) -> None:
    made = [state.put(tenant, "trace", f"e{number}", {"n": number}) for number in range(5)]
    expected = [entry.entry_id for entry in sorted(made, key=lambda entry: (-entry.created_at.timestamp(), entry.entry_id))]
    assert all_ids(state, tenant, "trace", size) == expected


def test_replacing_an_entry_keeps_its_place(state: StateStore, tenant: Tenant) -> None:
    for number in range(3):
        state.put(tenant, "trace", f"e{number}", {"n": number})
    before = all_ids(state, tenant, "trace", 50)
    state.put(tenant, "trace", "e0", {"n": 9})
    assert all_ids(state, tenant, "trace", 50) == before


def test_all_labels_must_be_equal(state: StateStore, tenant: Tenant) -> None:
    state.put(tenant, "trace", "a", {}, labels={"refused": "true", "reason": "OFF_TOPIC"})
    state.put(tenant, "trace", "b", {}, labels={"refused": "true"})
    state.put(tenant, "trace", "c", {}, labels={"refused": "false"})
    state.put(tenant, "trace", "d", {})
    assert sorted(all_ids(state, tenant, "trace", 1, refused="true")) == ["a", "b"]
    assert all_ids(state, tenant, "trace", 1, refused="true", reason="OFF_TOPIC") == ["a"]
    assert all_ids(state, tenant, "trace", 1, refused="maybe") == []
    assert sorted(all_ids(state, tenant, "trace", 2)) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("cursor", ["", "nonsense", "e30=", "\ud83d"])
def test_an_unreadable_cursor_is_refused(state: StateStore, tenant: Tenant, cursor: str) -> None:
    state.put(tenant, "trace", "a", {})
    with pytest.raises(InvalidRequest) as refused:
        state.entries(tenant, "trace", after=cursor)
    assert refused.value.field == "after"


def test_removed_entries_are_counted_and_gone(state: StateStore, tenant: Tenant) -> None:
    for name in "abc":
        state.put(tenant, "trace", name, {})
    assert state.remove(tenant, "trace", iter(["a", "b", "never"])) == 2
    assert state.remove(tenant, "trace", []) == 0
    assert all_ids(state, tenant, "trace", 50) == ["c"]
    assert state.put(tenant, "trace", "a", {}, expected=0).version == 1


def test_erasing_removes_every_kind_of_one_tenant(state: StateStore, tenant: Tenant, other_tenant: Tenant) -> None:
    state.put(tenant, "trace", "a", {})
    state.put(tenant, "monitor", "b", {})
    state.put(other_tenant, "trace", "a", {})
    assert state.erase(tenant) == 2
    assert state.erase(tenant) == 0
    assert state.entries(tenant, "trace") == ((), None)
    assert isinstance(state.get(other_tenant, "trace", "a"), StateEntry)


def test_a_body_over_a_megabyte_or_without_json_form_is_refused(state: StateStore, tenant: Tenant) -> None:
    bodies: list[dict[str, object]] = [{"text": "x" * 1_000_001}, {"set": {1, 2}}, {"number": float("nan")}]
    for body in bodies:
        with pytest.raises(InvalidRequest) as refused:
            state.put(tenant, "trace", "a", body)
        assert refused.value.field == "body"
    assert state.get(tenant, "trace", "a") is None


def told(tenant: Tenant, subject: str, **body: object) -> Event:
    """An event of this tenant about ``subject``."""
    identity = event_id("monitor.transitioned", tenant, subject)
    return Event(identity, "monitor.transitioned", tenant, datetime(2026, 3, 1, 12, 0, 0, 1234, UTC), subject, body)


def waiting(state: StateStore, *tenants: Tenant) -> list[Event]:
    """What of these tenants is in the outbox, in its order."""
    return [event for event in state.outbox(first=1000) if event.tenant in tenants]


@pytest.fixture(autouse=True)
def _empty_outbox(state: StateStore, tenant: Tenant, other_tenant: Tenant) -> Iterator[None]:
    yield
    state.settle(waiting(state, tenant, other_tenant))


def test_an_event_waits_with_its_entry_until_it_is_settled(state: StateStore, tenant: Tenant) -> None:
    event = told(tenant, "m", to="firing", n=3, nested={"ids": ["a", "ä"]})
    state.put(tenant, "monitor", "m", {"n": 1}, event=event)
    assert waiting(state, tenant) == [event]
    assert state.get(tenant, "monitor", "m") is not None
    state.settle([event])
    assert waiting(state, tenant) == []
    state.settle([event, told(tenant, "never")])
    entry = state.get(tenant, "monitor", "m")
    assert entry is not None
    assert (entry.version, dict(entry.body)) == (1, {"n": 1})


def test_a_conflict_keeps_neither_entry_nor_event(state: StateStore, tenant: Tenant) -> None:
    state.put(tenant, "monitor", "m", {"n": 1})
    with pytest.raises(Conflict):
        state.put(tenant, "monitor", "m", {"n": 2}, expected=0, event=told(tenant, "m"))
    assert waiting(state, tenant) == []
    assert dict(state.get(tenant, "monitor", "m").body) == {"n": 1}  # type: ignore[union-attr]


def test_the_outbox_is_oldest_first_across_tenants_and_in_pages(state: StateStore, tenant: Tenant, other_tenant: Tenant) -> None:
    events = [told((tenant, other_tenant)[number % 2], f"m{number % 3}-{number}") for number in range(7)]
    for number, event in enumerate(events):
        state.put(event.tenant, "monitor", f"m{number % 3}", {"n": number}, event=event)
    assert waiting(state, tenant, other_tenant) == events
    assert len(state.outbox(first=2)) == 2
    assert state.outbox(first=3) == state.outbox(first=1000)[:3]
    state.settle(events[:3])
    assert waiting(state, tenant, other_tenant) == events[3:]


@pytest.mark.parametrize("first", [0, 1001])
def test_a_page_of_the_outbox_has_bounds(state: StateStore, first: int) -> None:
    with pytest.raises(InvalidRequest):
        state.outbox(first=first)


def test_events_of_one_entry_queue_up_and_settle_one_by_one(state: StateStore, tenant: Tenant) -> None:
    events = [told(tenant, str(number)) for number in range(3)]
    for event in events:
        state.put(tenant, "monitor", "m", {}, event=event)
    state.put(tenant, "monitor", "m", {"without": "event"})
    assert waiting(state, tenant) == events
    state.settle([events[1]])
    assert waiting(state, tenant) == [events[0], events[2]]


def test_an_event_that_waits_already_is_kept_once(state: StateStore, tenant: Tenant) -> None:
    event = told(tenant, "m")
    for entry_id in ("a", "a", "b"):
        state.put(tenant, "monitor", entry_id, {}, event=event)
    assert waiting(state, tenant) == [event]
    state.settle([event])
    assert waiting(state, tenant) == []


def test_an_event_outlives_its_entry(state: StateStore, tenant: Tenant) -> None:
    event = told(tenant, "m")
    state.put(tenant, "monitor", "m", {"n": 1}, labels={"x": "1"}, event=event)
    assert state.remove(tenant, "monitor", ["m"]) == 1
    assert state.remove(tenant, "monitor", ["m"]) == 0
    assert state.get(tenant, "monitor", "m") is None
    assert state.entries(tenant, "monitor") == ((), None)
    assert [entry for owner, entry in state.scan("monitor") if owner == tenant] == []
    assert waiting(state, tenant) == [event]
    assert state.put(tenant, "monitor", "m", {}, expected=0).version == 1
    assert waiting(state, tenant) == [event]
    state.settle([event])
    assert waiting(state, tenant) == []
    assert state.get(tenant, "monitor", "m") is not None


def test_an_event_of_a_removed_entry_settles_and_leaves_nothing(state: StateStore, tenant: Tenant) -> None:
    event = told(tenant, "m")
    state.put(tenant, "monitor", "m", {}, event=event)
    state.remove(tenant, "monitor", ["m"])
    state.settle([event])
    assert waiting(state, tenant) == []
    assert state.get(tenant, "monitor", "m") is None
    assert state.erase(tenant) == 0


def test_erasing_takes_the_events_of_one_tenant_along(state: StateStore, tenant: Tenant, other_tenant: Tenant) -> None:
    state.put(tenant, "monitor", "m", {}, event=told(tenant, "m"))
    state.put(tenant, "monitor", "gone", {}, event=told(tenant, "gone"))
    state.remove(tenant, "monitor", ["gone"])
    kept = told(other_tenant, "m")
    state.put(other_tenant, "monitor", "m", {}, event=kept)
    assert state.erase(tenant) == 1
    assert waiting(state, tenant, other_tenant) == [kept]


def test_settling_loses_no_put_of_the_same_moment(state: StateStore, tenant: Tenant) -> None:
    events = [told(tenant, str(number)) for number in range(12)]

    def put(event: Event) -> None:
        state.put(tenant, "monitor", "m", {"last": event.subject}, event=event)
        state.settle([event])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(put, events))
    entry = state.get(tenant, "monitor", "m")
    assert entry is not None
    assert entry.version == len(events)
    assert waiting(state, tenant) == []


def test_an_event_of_another_tenant_or_too_long_is_refused(state: StateStore, tenant: Tenant, other_tenant: Tenant) -> None:
    for event in (told(other_tenant, "m"), told(tenant, "m", text="x" * 1_000_001)):
        with pytest.raises(InvalidRequest) as refused:
            state.put(tenant, "monitor", "m", {}, event=event)
        assert refused.value.field == "event"
    assert state.get(tenant, "monitor", "m") is None
    assert waiting(state, tenant, other_tenant) == []


def test_a_scan_walks_a_kind_of_all_tenants_in_order(state: StateStore, tenant: Tenant, other_tenant: Tenant) -> None:
    owners = sorted([tenant, other_tenant])
    for owner in owners:
        for name in ("b", "a", "c"):
            state.put(owner, "monitor", name, {"owner": owner}, labels={"paused": "true" if name == "b" else "false"})
        state.put(owner, "digest", "a", {})
    seen = [(owner, entry.entry_id, entry.body["owner"]) for owner, entry in state.scan("monitor") if owner in owners]
    assert seen == [(owner, name, owner) for owner in owners for name in "abc"]
    running = [(owner, entry.entry_id) for owner, entry in state.scan("monitor", labels={"paused": "false"}) if owner in owners]
    assert running == [(owner, name) for owner in owners for name in "ac"]
    assert list(state.scan("never")) == []


def test_a_scan_longer_than_a_page_repeats_and_loses_nothing(state: StateStore, tenant: Tenant) -> None:
    kind = f"many-{tenant}"
    names = [f"{number:04}" for number in range(1003)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: state.put(tenant, kind, name, {}), names))
    assert [entry.entry_id for _, entry in state.scan(kind)] == names
    state.erase(tenant)
