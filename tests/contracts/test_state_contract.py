"""What every state store must do. See :class:`search.ports.StateStore`."""

import pytest

from runtime.errors import Conflict, InvalidRequest
from runtime.tenancy import Tenant
from search.ports import StateEntry, StateStore


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
