"""Retention: whole months leave, by when documents occurred, and nothing else does."""

import threading
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from runtime.errors import InvalidRequest
from runtime.tenancy import tenant_named
from search.documents import EVERYTHING
from search.engines.opening import Store
from search.moving.ageing import count_older, remove_older
from search.moving.retention import OldMonth, applied, first_kept, planned
from tests.contracts.writes import written

ACME, OTHER = tenant_named("acme"), tenant_named("acme-2")
NOW = datetime(2026, 3, 15, tzinfo=UTC)
MONTHS = {
    "2025-12": datetime(2025, 12, 31, 23, 59, tzinfo=UTC),
    "2026-01": datetime(2026, 1, 1, tzinfo=UTC),
    "2026-02": datetime(2026, 2, 9, tzinfo=UTC),
}


def fill(store: Store) -> None:
    for tenant in (ACME, OTHER):
        for month, when in MONTHS.items():
            store.engine.write(
                tenant, [written(f"{month}-{n}", f"The card of {month} was late, number {n}", occurred_at=when) for n in range(3)]
            )
        store.engine.refresh(tenant)


def ids(store: Store, tenant=ACME) -> set[str]:  # type: ignore[no-untyped-def]
    store.engine.refresh(tenant)
    return {document.doc_id for document in store.engine.documents(tenant, EVERYTHING).documents}


def test_a_plan_names_months_documents_and_bytes_and_changes_nothing(store: Store) -> None:
    fill(store)
    before = store.engine.generation(ACME)
    plan = planned(store.engine, store.months, ACME, "2026-02")
    assert [(each.month, each.documents) for each in plan.months] == [("2025-12", 3), ("2026-01", 3)]
    assert all(each.size > 100 for each in plan.months)
    assert (plan.documents, plan.foreign) == (6, ())
    assert store.engine.generation(ACME) == before
    assert len(ids(store)) == 9


def test_applied_the_months_are_gone_and_later_ones_and_other_tenants_stay(store: Store) -> None:
    fill(store)
    before = store.engine.generation(ACME)
    assert applied(store.engine, store.state, store.months, planned(store.engine, store.months, ACME, "2026-02")) == 6
    assert ids(store) == {"2026-02-0", "2026-02-1", "2026-02-2"}
    assert len(ids(store, OTHER)) == 9
    assert store.engine.generation(ACME) != before
    assert planned(store.engine, store.months, ACME, "2026-02").months == ()
    assert list(store.months.held(ACME).sizes) == ["2026-02"]


def test_a_late_replay_does_not_bring_a_month_back_and_new_words_do(store: Store) -> None:
    fill(store)
    applied(store.engine, store.state, store.months, planned(store.engine, store.months, ACME, "2026-02"))
    again = written("2026-01-0", "The card of 2026-01 was late, number 0", occurred_at=MONTHS["2026-01"])
    assert store.engine.write(ACME, [again])[0].kind == "deleted_earlier"
    assert store.engine.stored(ACME, ["2026-01-0"])["2026-01-0"].deleted
    corrected = written("2026-01-0", "The card of January came back", occurred_at=MONTHS["2026-01"])
    assert store.engine.write(ACME, [corrected])[0].kind == "indexed"
    assert "2026-01-0" in ids(store)


def test_it_is_told_and_marked_as_any_other_deletion(store: Store) -> None:
    fill(store)
    store.state.put(ACME, "trace", "run-1", {"answer": "…"})
    store.state.settle(store.state.outbox(first=1000))
    applied(store.engine, store.state, store.months, planned(store.engine, store.months, ACME, "2026-01"))
    (event,) = store.state.outbox()
    assert (event.type, event.tenant) == ("documents.deleted", ACME)
    assert {document["id"] for document in event.body["documents"]} == {"2025-12-0", "2025-12-1", "2025-12-2"}
    assert len(store.state.entries(ACME, "erasure")[0]) == 1


def test_applying_again_after_an_interruption_finishes_the_rest(store: Store) -> None:
    fill(store)
    plan = planned(store.engine, store.months, ACME, "2026-02")

    def interrupted(month: str, deleted: int, documents: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        applied(store.engine, store.state, store.months, plan, interrupted)
    rest = planned(store.engine, store.months, ACME, "2026-02")
    assert rest.documents == 3
    assert applied(store.engine, store.state, store.months, rest) == 3
    assert store.months.held(ACME).sizes.keys() == {"2026-02"}


@pytest.mark.live("opensearch")
@pytest.mark.parametrize("store", ["opensearch"], indirect=True)
def test_an_index_that_we_did_not_make_is_named_and_left(store: Store, opensearch_url: str) -> None:
    fill(store)
    prefix = store.months._prefix  # type: ignore[attr-defined]
    strangers = [f"{prefix}-acme-202501-000001", f"{prefix}-acme-202502", f"{prefix}-acme-notes"]
    with httpx.Client(base_url=opensearch_url, timeout=60) as client:
        for name in strangers:
            client.put(f"/{name}", json={"settings": {"number_of_replicas": 0}}).raise_for_status()
        plan = planned(store.engine, store.months, ACME, "2026-02")
        assert plan.foreign == tuple(strangers)
        assert [each.month for each in plan.months] == ["2025-12", "2026-01"]
        applied(store.engine, store.state, store.months, plan)
        assert not store.months.held(ACME).sizes.get("2025-12")
        assert all(client.head(f"/{name}").status_code == 200 for name in strangers)


def test_a_month_with_live_documents_is_not_dropped(store: Store) -> None:
    fill(store)
    assert not store.months.drop(ACME, "2026-01")
    assert len(ids(store)) == 9
    assert store.engine.write(ACME, [written("late", "A late one", occurred_at=MONTHS["2026-01"])])[0].kind == "indexed"


def test_the_first_month_kept_is_counted_from_the_present_one() -> None:
    assert first_kept(NOW, 1, None) == "2026-03"
    assert first_kept(NOW, 3, None) == "2026-01"
    assert first_kept(NOW, 4, None) == "2025-12"
    assert first_kept(NOW, None, "2026-03") == "2026-03"


@pytest.mark.parametrize(
    ("keep", "before"), [(None, None), (3, "2026-01"), (0, None), (None, "2026-13"), (None, "2026-1"), (None, "2026-04")]
)
def test_what_is_no_month_is_refused(keep: int | None, before: str | None) -> None:
    with pytest.raises(InvalidRequest):
        first_kept(NOW, keep, before)


def test_a_plan_adds_up() -> None:
    from search.moving.retention import RetentionPlan

    plan = RetentionPlan(ACME, "2026-02", (OldMonth("2025-12", 3, 10), OldMonth("2026-01", 0, 5)))
    assert (plan.documents, plan.size) == (3, 15)


def test_records_older_than_a_moment_are_counted_and_removed_and_nothing_else(store: Store) -> None:
    """More than a page of them; those of another kind or tenant, and newer ones, stay."""
    for number in range(1203):
        store.state.put(ACME, "trace", f"old-{number}", {"n": number})
    store.state.put(ACME, "digest", "other", {})
    store.state.put(OTHER, "trace", "theirs", {})
    entry = store.state.get(ACME, "digest", "other")
    assert entry is not None
    boundary = entry.created_at + timedelta(milliseconds=1)
    threading.Event().wait(0.01)
    store.state.put(ACME, "trace", "new", {})
    assert count_older(store.state, ACME, "trace", boundary) == 1203
    assert remove_older(store.state, ACME, "trace", boundary) == 1203
    assert remove_older(store.state, ACME, "trace", boundary) == 0
    assert [each.entry_id for each in store.state.entries(ACME, "trace")[0]] == ["new"]
    assert store.state.get(ACME, "digest", "other") == entry
    assert store.state.get(OTHER, "trace", "theirs") is not None
