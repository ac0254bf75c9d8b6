"""Counts over all documents, their ids, and pages of everything behind a count."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runtime.clock import SystemClock
from runtime.errors import InvalidRequest
from runtime.tenancy import tenant_named
from search.aggregation import account_context, by_theme, trend
from search.documents import EVERYTHING, DocumentWrite, Filters
from search.engines.embedded import EmbeddedEngine, open_embedded
from search.filters import filters_of
from search.listing import Listing, cursor_of, filters_as_json, filters_from_json, listing_of, page
from tests.contracts.writes import DIMENSION, MODEL, NOON, written

ACME = tenant_named("acme")
BIRCH = tenant_named("birch")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EmbeddedEngine]:
    with open_embedded(tmp_path / "store.db", model=MODEL, dimension=DIMENSION, clock=SystemClock()) as opened:
        yield opened


def store(engine: EmbeddedEngine, writes: Sequence[DocumentWrite]) -> None:
    for start in range(0, len(writes), 500):
        engine.write(ACME, writes[start : start + 500])
    engine.refresh(ACME)


def parcels(count: int, theme: str | None, *, prefix: str = "p", **fields: object) -> list[DocumentWrite]:
    return [
        written(f"{prefix}-{number:04d}", f"Parcel {number} came late", day=number % 28, theme_id=theme, **fields)
        for number in range(count)
    ]


def test_a_theme_is_counted_over_all_documents_and_its_cursor_pages_every_one(engine: EmbeddedEngine) -> None:
    store(engine, [*parcels(57, "late_delivery"), *parcels(23, "damaged_goods", prefix="d"), *parcels(4, None, prefix="n")])
    found = by_theme(engine, ACME)
    assert [(theme.theme_id, theme.count) for theme in found.themes] == [("late_delivery", 57), ("damaged_goods", 23)]
    assert (found.total, found.scope, found.without_theme, found.themes_total) == (84, 84, 4, 2)
    assert found.themes[0].share == 57 / 84
    ids: list[str] = []
    after: str | None = found.themes[0].cursor
    while after is not None:
        listed = page(engine, ACME, first=20, after=after)
        ids += [document.doc_id for document in listed.documents]
        after = listed.cursor
    assert len(ids) == len(set(ids)) == 57
    assert ids[:10] == list(found.themes[0].doc_ids)


def test_the_limit_cuts_the_list_and_not_the_counts(engine: EmbeddedEngine) -> None:
    store(engine, [*parcels(3, "a"), *parcels(2, "b", prefix="d"), *parcels(1, "c", prefix="n")])
    found = by_theme(engine, ACME, limit=2)
    assert ([theme.theme_id for theme in found.themes], found.themes_total, found.total) == (["a", "b"], 3, 6)


def test_a_query_limits_to_documents_with_every_word_and_the_scope_stays(engine: EmbeddedEngine) -> None:
    store(engine, [*parcels(5, "late"), written("x", "The lamp was broken", theme_id="late")])
    found = by_theme(engine, ACME, "late parcels")
    assert (found.total, found.scope) == (5, 6)
    listed = page(engine, ACME, after=found.themes[0].cursor)
    assert listed.total == 5


def test_an_unknown_tenant_counts_nothing(engine: EmbeddedEngine) -> None:
    store(engine, parcels(5, "late"))
    found = by_theme(engine, BIRCH)
    assert (found.themes, found.total, found.scope) == ((), 0, 0)
    assert trend(engine, BIRCH).points == ()
    assert account_context(engine, BIRCH, "a") is None


@pytest.mark.parametrize("limit", [0, -1, True, 2.5])
def test_a_bad_limit_is_named(engine: EmbeddedEngine, limit: object) -> None:
    with pytest.raises(InvalidRequest) as raised:
        by_theme(engine, ACME, limit=limit)  # type: ignore[arg-type]
    assert raised.value.field == "limit"


def test_an_enormous_limit_means_the_largest(engine: EmbeddedEngine) -> None:
    store(engine, parcels(3, "late"))
    assert len(by_theme(engine, ACME, limit=10**9).themes) == 1


def test_days_are_local_days_and_empty_ones_are_there(engine: EmbeddedEngine) -> None:
    moments = ("2026-07-01T02:30:00", "2026-07-01T02:59:59", "2026-07-01T03:00:00", "2026-07-01T12:00:00", "2026-07-02T02:10:00")
    store(engine, [written(f"T-{n}", "Outage", occurred_at=datetime.fromisoformat(at).replace(tzinfo=UTC)) for n, at in enumerate(moments)])
    zone = "America/Sao_Paulo"
    found = trend(engine, ACME, None, filters_of(since="2026-06-30", until="2026-07-02", time_zone=zone), "day", zone)
    assert [(point.key, point.count) for point in found.points] == [("2026-06-30", 2), ("2026-07-01", 3), ("2026-07-02", 0)]
    listed = page(engine, ACME, after=found.points[0].cursor)
    assert {document.doc_id for document in listed.documents} == {"T-0", "T-1"}


def test_weeks_begin_on_monday_and_their_cursor_keeps_the_given_range(engine: EmbeddedEngine) -> None:
    store(engine, [written(f"w-{day}", "Crash", occurred_at=NOON + timedelta(days=day)) for day in range(14)])
    found = trend(engine, ACME, None, filters_of(since="2026-03-05", until="2026-03-10"), "WEEK")
    assert [(point.key, point.count) for point in found.points] == [("2026-03-02", 4), ("2026-03-09", 2)]
    assert page(engine, ACME, after=found.points[0].cursor).total == 4


def test_months_are_named_by_year_and_month(engine: EmbeddedEngine) -> None:
    store(
        engine,
        [
            written("a", "x", occurred_at=datetime(2026, 1, 31, 23, tzinfo=UTC)),
            written("b", "x", occurred_at=datetime(2026, 3, 1, tzinfo=UTC)),
        ],
    )
    found = trend(engine, ACME, interval="month")
    assert [(point.key, point.count) for point in found.points] == [("2026-01", 1), ("2026-02", 0), ("2026-03", 1)]


@pytest.mark.parametrize(
    ("field", "arguments"),
    [("interval", {"interval": "year"}), ("time_zone", {"time_zone": "Mars/Olympus"}), ("interval", {"interval": None})],
)
def test_a_bad_interval_or_zone_is_named(engine: EmbeddedEngine, field: str, arguments: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest) as raised:
        trend(engine, ACME, **arguments)  # type: ignore[arg-type]
    assert raised.value.field == field


def test_an_account_is_summed_up_over_all_of_its_documents(engine: EmbeddedEngine) -> None:
    store(
        engine,
        [
            written("a-1", "Late", day=0, account_id="a", theme_id="late", rating=1.0),
            written("a-2", "Late again", day=5, account_id="a", theme_id="late", rating=2.0, source="review"),
            written("a-3", "Thanks", day=9, account_id="a"),
            written("b-1", "Late", day=3, account_id="b", theme_id="late"),
        ],
    )
    found = account_context(engine, ACME, "a", first=2)
    assert found is not None
    assert (found.documents, found.first_seen, found.last_seen) == (3, NOON, NOON + timedelta(days=9))
    assert [(named.name, named.count) for named in found.themes] == [("late", 2)]
    assert found.without_theme == 1
    assert {named.name: named.count for named in found.sources} == {"ticket": 2, "review": 1}
    assert (found.ratings.rated, found.ratings.mean, found.ratings.counts) == (2, 1.5, ((1.0, 1), (2.0, 1)))
    assert [document.doc_id for document in found.recent] == ["a-3", "a-2"]
    assert page(engine, ACME, after=found.cursor).total == 3


def test_an_account_without_a_name_is_an_error(engine: EmbeddedEngine) -> None:
    with pytest.raises(InvalidRequest) as raised:
        account_context(engine, ACME, "")
    assert raised.value.field == "account_id"


def test_the_first_day_of_a_large_account_is_found_beyond_what_is_read(engine: EmbeddedEngine) -> None:
    store(engine, [written(f"a-{n:05d}", f"Message {n}", occurred_at=NOON + timedelta(hours=n), account_id="a") for n in range(5_010)])
    found = account_context(engine, ACME, "a")
    assert found is not None
    assert (found.documents, found.first_seen, found.ratings.looked_at) == (5_010, NOON, 5_000)


class TestCursors:
    full = filters_of(
        since="2026-01-01",
        until="2026-02-01T10:00:00+01:00",
        sources=["chat"],
        theme_ids=["täglich"],
        account_ids=["a/b"],
        doc_ids=["x"],
        rating_min=1,
        rating_max=2.5,
        attributes={"plan": "pro", "seats": 3, "trial": True},
    )

    @pytest.mark.parametrize("filters", [EVERYTHING, full, replace(full, attributes=())])
    def test_filters_survive_the_journey(self, filters: Filters) -> None:
        assert filters_from_json(filters_as_json(filters)) == filters
        listing = Listing(filters, 'late "came late"', "abc")
        assert listing_of(cursor_of(listing)) == listing

    @pytest.mark.parametrize(
        "cursor",
        ["all.", "all.!!!", "all.e30x", "all.W10", "all.eyJmIjp7ImRvY19pZHMiOltdfX0", "all.eyJmIjp7InNpbmNlIjoibm93In19", "nonsense"],
    )
    def test_a_cursor_that_is_not_ours_is_an_error(self, engine: EmbeddedEngine, cursor: str) -> None:
        with pytest.raises(InvalidRequest) as raised:
            page(engine, ACME, after=cursor)
        assert raised.value.field == "after"

    def test_a_counts_cursor_does_not_take_other_filters(self, engine: EmbeddedEngine) -> None:
        cursor = cursor_of(Listing(Filters(theme_ids=("late",))))
        with pytest.raises(InvalidRequest) as raised:
            page(engine, ACME, Filters(account_ids=("a",)), after=cursor)
        assert raised.value.field == "after"

    def test_a_counts_cursor_shows_a_tenant_only_its_own(self, engine: EmbeddedEngine) -> None:
        store(engine, parcels(5, "late"))
        assert page(engine, BIRCH, after=by_theme(engine, ACME).themes[0].cursor).total == 0
