"""Local days and lists of names become exact filters."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from runtime.errors import InvalidRequest
from search.documents import EVERYTHING
from search.filters import day_start, filters_of, narrowed


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


def test_nothing_given_limits_nothing() -> None:
    assert filters_of() == EVERYTHING


def test_days_are_whole_local_days_and_both_belong_to_the_range() -> None:
    found = filters_of(since="2026-06-30", until="2026-07-01", time_zone="America/Sao_Paulo")
    assert (found.since, found.before) == (utc(2026, 6, 30, 3), utc(2026, 7, 2, 3))


def test_a_single_day_is_a_range_of_one_day() -> None:
    found = filters_of(since=date(2026, 9, 30), until=date(2026, 9, 30))
    assert (found.since, found.before) == (utc(2026, 9, 30), utc(2026, 10, 1))


def test_an_instant_is_itself_and_an_upper_instant_still_belongs() -> None:
    found = filters_of(since="2026-09-30T12:00:00+02:00", until="2026-09-30T23:00:00Z")
    assert found.since == utc(2026, 9, 30, 10)
    assert found.before == datetime(2026, 9, 30, 23, 0, 0, 1000, tzinfo=UTC)


def test_an_instant_without_offset_is_local_to_the_zone() -> None:
    assert filters_of(since="2026-01-01T00:00", time_zone="Asia/Tokyo").since == utc(2025, 12, 31, 15)


@pytest.mark.parametrize(
    ("zone", "day", "expected"),
    [
        ("Europe/Paris", date(2026, 3, 29), utc(2026, 3, 28, 23)),
        ("Africa/Cairo", date(2026, 4, 24), utc(2026, 4, 23, 22)),  # midnight does not exist: clocks go from 0:00 to 1:00
        ("America/Havana", date(2026, 11, 1), utc(2026, 11, 1, 4)),  # midnight comes twice: the first one counts
    ],
)
def test_a_day_begins_at_its_first_instant_also_when_clocks_change(zone: str, day: date, expected: datetime) -> None:
    assert day_start(day, ZoneInfo(zone)) == expected


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("since", {"since": "yesterday"}),
        ("since", {"since": "2026-13-01"}),
        ("until", {"until": "2026-09-31"}),
        ("until", {"until": "9999-12-31"}),
        ("since", {"since": "0001-01-01", "time_zone": "Asia/Tokyo"}),
        ("since", {"since": "2026-09-30", "until": "2026-09-01"}),
        ("since", {"since": "2026-09-30T12:00:01Z", "until": "2026-09-30T12:00:00Z"}),
        ("time_zone", {"time_zone": "Mars/Olympus"}),
        ("time_zone", {"time_zone": "../etc/passwd"}),
        ("account_ids", {"account_ids": []}),
        ("sources", {"sources": ["chat", ""]}),
        ("theme_ids", {"theme_ids": "billing"}),
        ("doc_ids", {"doc_ids": [str(number) for number in range(1001)]}),
        ("rating_min", {"rating_min": float("nan")}),
        ("rating_max", {"rating_max": True}),
        ("rating_min", {"rating_min": 4, "rating_max": 2}),
        ("attributes", {"attributes": {"plan": None}}),
        ("attributes", {"attributes": [("plan", "pro"), ("plan", "free")]}),
        ("attributes", {"attributes": [("", "pro")]}),
    ],
)
def test_what_is_wrong_is_named(field: str, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest) as raised:
        filters_of(**arguments)  # type: ignore[arg-type]
    assert raised.value.field == field


def test_repeated_values_count_once_and_attributes_keep_their_types() -> None:
    found = filters_of(sources=["chat", "chat", "mail"], attributes={"plan": "pro", "seats": 3, "trial": False})
    assert found.sources == ("chat", "mail")
    assert found.attributes == (("plan", "pro"), ("seats", 3), ("trial", False))


def test_narrowing_keeps_the_tighter_bounds() -> None:
    base = filters_of(since="2026-01-01", until="2026-12-31", sources=["chat"])
    found = narrowed(base, utc(2026, 3, 1), utc(2027, 3, 1))
    assert (found.since, found.before, found.sources) == (utc(2026, 3, 1), utc(2027, 1, 1), ("chat",))


def test_ranges_that_do_not_meet_leave_an_empty_one() -> None:
    found = narrowed(filters_of(since="2026-05-01"), None, utc(2026, 4, 1))
    assert found.since == found.before
