"""What every engine's exact counts must be. See :class:`search.ranking.Buckets`."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

import pytest

from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Filters
from search.ports import Engine
from search.ranking import BucketQuery
from tests.contracts.writes import written

Put = Callable[..., object]
Row = tuple[str, int, tuple[str, ...]]


def rows(engine: Engine, tenant: Tenant, query: BucketQuery) -> list[Row]:
    return [(bucket.key, bucket.count, bucket.doc_ids) for bucket in engine.aggregate(tenant, query).buckets]


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


class TestByField:
    @pytest.fixture
    def corpus(self, put: Put) -> None:
        put(
            written("a", "card declined", day=0, theme_id="cards", account_id="x"),
            written("b", "card lost", day=2, theme_id="cards", account_id="y", source="review"),
            written("c", "card slow", day=2, theme_id="cards", account_id="x"),
            written("d", "parcel late", day=40, theme_id="parcels"),
            written("e", "parcel lost", day=41, theme_id="banks", source="review"),
            written("f", "card untold", day=80),
        )

    @pytest.mark.usefixtures("corpus")
    def test_buckets_come_by_count_then_key_with_the_newest_ids_first(self, engine: Engine, tenant: Tenant) -> None:
        found = engine.aggregate(tenant, BucketQuery("theme", EVERYTHING))
        assert [(bucket.key, bucket.count, bucket.doc_ids) for bucket in found.buckets] == [
            ("cards", 3, ("b", "c", "a")),
            ("banks", 1, ("e",)),
            ("parcels", 1, ("d",)),
        ]
        assert (found.total, found.scope, found.without) == (6, 6, 1)
        assert found.generation == engine.generation(tenant)

    @pytest.mark.usefixtures("corpus")
    def test_sources_and_accounts_are_counted_alike(self, engine: Engine, tenant: Tenant) -> None:
        assert rows(engine, tenant, BucketQuery("source", EVERYTHING)) == [("ticket", 4, ("f", "d", "c", "a")), ("review", 2, ("e", "b"))]
        assert rows(engine, tenant, BucketQuery("account", EVERYTHING)) == [("x", 2, ("c", "a")), ("y", 1, ("b",))]
        assert engine.aggregate(tenant, BucketQuery("account", EVERYTHING)).without == 3

    @pytest.mark.usefixtures("corpus")
    def test_the_match_limits_the_total_and_the_filters_the_scope(self, engine: Engine, tenant: Tenant) -> None:
        found = engine.aggregate(tenant, BucketQuery("theme", EVERYTHING, match="lost"))
        assert [(bucket.key, bucket.count) for bucket in found.buckets] == [("banks", 1), ("cards", 1)]
        assert (found.total, found.scope, found.without) == (2, 6, 0)
        found = engine.aggregate(tenant, BucketQuery("theme", Filters(account_ids=("x", "y")), match="cards"))
        assert (found.total, found.scope) == (3, 3)

    @pytest.mark.usefixtures("corpus")
    @pytest.mark.parametrize("count", [0, 1, 2, 10])
    def test_no_more_ids_than_asked_for(self, engine: Engine, tenant: Tenant, count: int) -> None:
        first = rows(engine, tenant, BucketQuery("theme", EVERYTHING, ids_per_bucket=count))[0]
        assert first == ("cards", 3, ("b", "c", "a")[:count])

    def test_counts_go_beyond_any_page_or_depth(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(*[written(f"d{number:03}", f"text {number}", theme_id="same", day=number % 90) for number in range(300)])
        found = engine.aggregate(tenant, BucketQuery("theme", EVERYTHING, ids_per_bucket=3))
        assert [(bucket.key, bucket.count) for bucket in found.buckets] == [("same", 300)]
        assert found.buckets[0].doc_ids == ("d089", "d179", "d269")

    def test_many_values_are_all_counted(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(*[written(f"d{number}", "text", account_id=f"account-{number:03}") for number in range(150)])
        found = rows(engine, tenant, BucketQuery("account", EVERYTHING))
        assert [key for key, _, _ in found] == [f"account-{number:03}" for number in range(150)]

    def test_nothing_to_count_gives_no_buckets(self, engine: Engine, tenant: Tenant) -> None:
        found = engine.aggregate(tenant, BucketQuery("theme", EVERYTHING))
        assert (found.buckets, found.total, found.scope, found.without, found.generation) == ((), 0, 0, 0, 0)


class TestByTime:
    def test_empty_days_between_are_included(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "x", occurred_at=utc(2026, 3, 4, 1)), written("b", "x", occurred_at=utc(2026, 3, 7, 23)))
        put(written("c", "x", occurred_at=utc(2026, 3, 7, 2)))
        assert rows(engine, tenant, BucketQuery("day", EVERYTHING)) == [
            ("2026-03-04", 1, ("a",)),
            ("2026-03-05", 0, ()),
            ("2026-03-06", 0, ()),
            ("2026-03-07", 2, ("b", "c")),
        ]

    def test_the_bounds_of_the_filters_are_covered(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "x", occurred_at=utc(2026, 3, 4, 1)))
        bounded = Filters(since=utc(2026, 3, 3), before=utc(2026, 3, 6))
        assert [(key, count) for key, count, _ in rows(engine, tenant, BucketQuery("day", bounded))] == [
            ("2026-03-03", 0),
            ("2026-03-04", 1),
            ("2026-03-05", 0),
        ]
        assert [key for key, _, _ in rows(engine, tenant, BucketQuery("day", replace(bounded, before=None)))] == [
            "2026-03-03",
            "2026-03-04",
        ]
        assert [key for key, _, _ in rows(engine, tenant, BucketQuery("day", replace(bounded, since=None)))] == ["2026-03-04", "2026-03-05"]

    def test_bounds_without_any_document_give_empty_buckets(self, engine: Engine, tenant: Tenant) -> None:
        bounded = Filters(since=utc(2026, 3, 3), before=utc(2026, 3, 5))
        assert rows(engine, tenant, BucketQuery("day", bounded)) == [("2026-03-03", 0, ()), ("2026-03-04", 0, ())]
        assert rows(engine, tenant, BucketQuery("day", EVERYTHING)) == []

    def test_weeks_begin_on_monday_and_months_on_the_first(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("sunday", "x", occurred_at=utc(2026, 3, 1, 12)), written("monday", "x", occurred_at=utc(2026, 3, 2)))
        put(written("april", "x", occurred_at=utc(2026, 4, 30, 23, 59, 59)))
        weeks = [(key, count) for key, count, _ in rows(engine, tenant, BucketQuery("week", EVERYTHING)) if count]
        assert weeks == [("2026-02-23", 1), ("2026-03-02", 1), ("2026-04-27", 1)]
        months = [(key, count) for key, count, _ in rows(engine, tenant, BucketQuery("month", EVERYTHING))]
        assert months == [("2026-03", 2), ("2026-04", 1)]

    @pytest.mark.parametrize(
        ("zone", "instants", "expected"),
        [
            ("Europe/Paris", [utc(2026, 6, 30, 21, 59), utc(2026, 6, 30, 22)], [("2026-06-30", 1), ("2026-07-01", 1)]),
            ("America/New_York", [utc(2026, 3, 8, 4, 59), utc(2026, 3, 9, 3, 59)], [("2026-03-07", 1), ("2026-03-08", 1)]),
            (
                "Europe/Berlin",
                [utc(2026, 3, 28, 23), utc(2026, 3, 29, 21, 59), utc(2026, 3, 29, 22)],
                [("2026-03-29", 2), ("2026-03-30", 1)],
            ),
            (
                "Europe/Berlin",
                [utc(2026, 10, 24, 22), utc(2026, 10, 25, 22, 59), utc(2026, 10, 25, 23)],
                [("2026-10-25", 2), ("2026-10-26", 1)],
            ),
            ("Asia/Kathmandu", [utc(2026, 1, 1, 18, 14), utc(2026, 1, 1, 18, 15)], [("2026-01-01", 1), ("2026-01-02", 1)]),
            ("America/Sao_Paulo", [utc(2018, 11, 4, 2, 59), utc(2018, 11, 4, 3)], [("2018-11-03", 1), ("2018-11-04", 1)]),
        ],
    )
    def test_days_are_local_whatever_the_clocks_do(
        self, engine: Engine, tenant: Tenant, put: Put, zone: str, instants: list[datetime], expected: list[tuple[str, int]]
    ) -> None:
        put(*[written(f"d{number}", "x", occurred_at=instant) for number, instant in enumerate(instants)])
        assert [(key, count) for key, count, _ in rows(engine, tenant, BucketQuery("day", EVERYTHING, time_zone=zone))] == expected

    def test_local_months_follow_the_zone(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "x", occurred_at=utc(2026, 6, 30, 22)))
        assert rows(engine, tenant, BucketQuery("month", EVERYTHING, time_zone="Europe/Paris"))[0][0] == "2026-07"

    def test_a_match_counts_only_what_it_matches_over_the_same_days(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "card", occurred_at=utc(2026, 3, 4)), written("b", "parcel", occurred_at=utc(2026, 3, 5)))
        found = engine.aggregate(tenant, BucketQuery("day", EVERYTHING, match="card"))
        assert [(bucket.key, bucket.count) for bucket in found.buckets] == [("2026-03-04", 1)]
        assert (found.total, found.scope, found.without) == (1, 2, 0)

    @pytest.mark.parametrize("interval", ["day", "week", "month"])
    def test_an_unknown_time_zone_is_refused(self, engine: Engine, tenant: Tenant, interval: Literal["day", "week", "month"]) -> None:
        for zone in ("Mars/Olympus", "", "../etc/passwd", "europe/paris"):
            with pytest.raises(InvalidRequest) as refused:
                engine.aggregate(tenant, BucketQuery(interval, EVERYTHING, time_zone=zone))
            assert refused.value.field == "time_zone"

    def test_more_than_ten_thousand_buckets_are_refused(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "x", occurred_at=utc(1990, 1, 1)), written("b", "x", occurred_at=utc(2026, 1, 1)))
        with pytest.raises(InvalidRequest) as refused:
            engine.aggregate(tenant, BucketQuery("day", EVERYTHING))
        assert refused.value.field == "interval"
        assert sum(count for _, count, _ in rows(engine, tenant, BucketQuery("month", EVERYTHING))) == 2
