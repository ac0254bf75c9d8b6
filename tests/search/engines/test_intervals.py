from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runtime.errors import InvalidRequest
from search.documents import EVERYTHING, Filters
from search.engines.intervals import extent, instant, milliseconds, ranges

UTC_ZONE = ZoneInfo("UTC")
PARIS = ZoneInfo("Europe/Paris")
SAO_PAULO = ZoneInfo("America/Sao_Paulo")


def ms(text: str) -> int:
    return milliseconds(datetime.fromisoformat(text))


def keys(interval: str, first: str, last: str, zone: ZoneInfo = UTC_ZONE) -> list[str]:
    return [each.key for each in ranges(interval, ms(first), ms(last), zone)]  # type: ignore[arg-type]


def test_every_day_between_is_there_in_order() -> None:
    assert keys("day", "2024-02-28T23:59:59Z", "2024-03-01T00:00:00Z") == ["2024-02-28", "2024-02-29", "2024-03-01"]


def test_weeks_begin_on_monday_and_months_are_named_by_month() -> None:
    assert keys("week", "2026-01-01T12:00:00Z", "2026-01-05T00:00:00Z") == ["2025-12-29", "2026-01-05"]
    assert keys("month", "2025-12-31T12:00:00Z", "2026-02-01T00:00:00Z") == ["2025-12", "2026-01", "2026-02"]


def test_a_local_day_decides_and_not_the_day_in_utc() -> None:
    assert keys("day", "2026-06-30T22:30:00Z", "2026-06-30T22:30:00Z", PARIS) == ["2026-07-01"]
    assert keys("month", "2026-06-30T22:30:00Z", "2026-06-30T22:30:00Z", PARIS) == ["2026-07"]


def test_days_when_clocks_change_are_23_and_25_hours_long() -> None:
    hours = [(each.end_ms - each.start_ms) / 3_600_000 for each in ranges("day", ms("2026-03-28T12:00Z"), ms("2026-03-30T12:00Z"), PARIS)]
    assert hours == [24, 23, 24]
    (autumn,) = ranges("day", ms("2026-10-25T12:00Z"), ms("2026-10-25T12:00Z"), PARIS)
    assert autumn.end_ms - autumn.start_ms == 25 * 3_600_000


def test_a_day_whose_midnight_is_skipped_begins_with_the_change() -> None:
    (day,) = ranges("day", ms("2018-11-04T12:00Z"), ms("2018-11-04T12:00Z"), SAO_PAULO)
    assert instant(day.start_ms) == datetime(2018, 11, 4, 3, tzinfo=UTC)
    assert day.end_ms - day.start_ms == 23 * 3_600_000


def test_more_than_ten_thousand_intervals_are_refused() -> None:
    assert len(ranges("day", ms("2000-01-01T00:00Z"), ms("2000-01-01T00:00Z") + 9_999 * 86_400_000, UTC_ZONE)) == 10_000
    with pytest.raises(InvalidRequest) as raised:
        ranges("day", ms("2000-01-01T00:00Z"), ms("2000-01-01T00:00Z") + 10_000 * 86_400_000, UTC_ZONE)
    assert raised.value.field == "interval"


def around(text: str, zone: ZoneInfo) -> str:
    """``covered``, or the field that is refused."""
    try:
        (only,) = ranges("week", ms(text), ms(text), zone)
    except InvalidRequest as error:
        return error.field
    return "covered" if only.start_ms <= ms(text) < only.end_ms else "missed"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def test_the_ends_of_the_calendar_hold_or_are_refused_by_name(zone: str) -> None:
    for text in ("0001-01-01T00:00Z", "9999-12-31T23:59Z"):
        outcome = around(text, ZoneInfo(zone))
        assert outcome in ("covered", "time_zone")


def test_the_extent_is_the_filters_own_where_given_and_else_of_the_documents() -> None:
    since, before = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    assert extent(EVERYTHING, 5, 7) == (5, 7)
    assert extent(EVERYTHING, None, None) is None
    assert extent(Filters(since=since), None, None) is None
    assert extent(Filters(since=since, before=before), None, None) == (milliseconds(since), milliseconds(before) - 1)
    assert extent(Filters(since=before, before=since), 5, 7) is None


@given(
    st.sampled_from(["day", "week", "month"]),
    st.integers(-631_152_000_000, 4_102_444_800_000),
    st.integers(0, 400),
    st.sampled_from(["UTC", "Europe/Paris", "America/Sao_Paulo", "Asia/Kathmandu", "Pacific/Apia", "Africa/Monrovia"]),
)
def test_ranges_touch_without_gap_and_cover_both_ends(interval: str, first: int, days: int, zone: str) -> None:
    last = first + days * 86_400_000
    found = ranges(interval, first, last, ZoneInfo(zone))  # type: ignore[arg-type]
    assert found[0].start_ms <= first < found[0].end_ms
    assert found[-1].start_ms <= last < found[-1].end_ms
    assert all(before.end_ms == after.start_ms for before, after in pairwise(found))


@given(st.datetimes(timezones=st.just(UTC)))
def test_rounding_up_to_milliseconds_keeps_comparisons_with_whole_ones(aware: datetime) -> None:
    assume(2 <= aware.year <= 9998)
    rounded = milliseconds(aware)
    for near in (rounded - 1, rounded, rounded + 1):
        assert (instant(near) >= aware) == (near >= rounded)
    assert instant(rounded) - aware < timedelta(milliseconds=1)
