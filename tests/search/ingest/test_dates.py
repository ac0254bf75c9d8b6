"""Dates as people write them; each either one instant or a named reason."""

from contextlib import suppress
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import InvalidRequest
from search.ingest.date_order import UNSETTLED, ColumnOrder, OrderEvidence, order_shown
from search.ingest.dates import read_moment

PARIS = ZoneInfo("Europe/Paris")
EIGHT_TWELVE = "2026-03-04T08:12:00+00:00"
MIDNIGHT = "2026-03-03T23:00:00+00:00"


def read(value: object, order: ColumnOrder = UNSETTLED) -> str:
    return read_moment(value, PARIS, order).instant.isoformat()


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-04T09:12:00+01:00",
        "2026-03-04T08:12:00Z",
        "2026-03-04T08:12:00.000000000z",
        "20260304T081200Z",
        "2026-03-04 08:12:00 UTC",
        "2026-03-04T09:12:00,0+0100",
        "Wed, 04 Mar 2026 09:12:00 +0100",
        "Wed, 4 Mar 2026 08:12:00 GMT",
        "Wed Mar 04 2026 09:12:00 GMT+0100 (Central European Standard Time)",
        "Wed Mar 04 08:12:00 +0000 2026",
        "March 4, 2026 at 3:12 AM EST",
        "04 March 2026 08:12 Z",
        1772611920,
        1772611920.0,
        "1772611920",
        1772611920000,
        "1772611920000",
    ],
)
def test_an_instant_with_its_zone_is_read(value: object) -> None:
    moment = read_moment(value, PARIS)
    assert moment.instant.isoformat() == EIGHT_TWELVE
    assert moment.zoned


@pytest.mark.parametrize("value", ["2026-03-04T09:12:00", "2026-03-04 9:12", "4.3.2026 09:12", "2026/03/04 09:12:00", "4 Mar 2026, 09:12"])
def test_a_time_without_zone_is_local_and_says_so(value: str) -> None:
    moment = read_moment(value, PARIS)
    assert moment.instant.isoformat() == EIGHT_TWELVE
    assert not moment.zoned


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-04",
        "20260304",
        "2026/3/4",
        "2026.03.04",
        "4.3.2026",
        "04. 03. 2026",
        "4 March 2026",
        "4th of March 2026",
        "Mar 4, 2026",
        "4-Mar-2026",
    ],
)
def test_a_date_alone_is_its_local_midnight(value: str) -> None:
    assert read(value) == MIDNIGHT


def test_fractions_are_cut_to_milliseconds() -> None:
    assert read("2026-03-04T08:12:00.123999Z") == "2026-03-04T08:12:00.123000+00:00"
    assert read(1772611920123) == "2026-03-04T08:12:00.123000+00:00"


def test_a_leap_second_is_the_second_after_it() -> None:
    assert read("2016-12-31T23:59:60Z") == "2017-01-01T00:00:00+00:00"


def test_a_local_time_that_a_clock_change_skips_is_still_an_instant() -> None:
    assert read("2026-03-29T02:30:00") == "2026-03-29T01:30:00+00:00"


@pytest.mark.parametrize(
    "value",
    [
        "yesterday-ish",
        "0000-01-01",
        "0000-01-01T00:00:00Z",
        "10000-01-01",
        "9999-12-31T23:59:59-05:00",
        "2026-02-30",
        "2026-13-01",
        "2026-03-04T25:00:00",
        "32.01.2026",
        "25/26/2026",
        "13:30 PM 4 March 2026",
        "March 4, 2026 13:30 PM",
        "04/03/26",
        "2026-03",
        "20260304999",
        "",
        "x" * 10_000,
        "\x00",
        20260304,
        0,
        -5,
        10**400,
        float("nan"),
        float("inf"),
        True,
        None,
        [2026, 3, 4],
    ],
)
def test_nonsense_is_refused_by_field(value: object) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read(value)
    assert caught.value.field == "occurred_at"
    assert len(str(caught.value)) < 300


@given(st.one_of(st.text(max_size=40), st.from_regex(r"[0-9]{1,4}[-/. ][0-9]{1,2}[-/. ][0-9]{1,4}( [0-9:]{1,8})?", fullmatch=True)))
def test_whatever_is_read_lies_in_utc_between_the_years_1_and_9999(value: str) -> None:
    with suppress(InvalidRequest):
        moment = read_moment(value, PARIS)
        assert moment.instant.tzinfo is UTC
        assert moment.instant.microsecond % 1000 == 0


@given(st.datetimes(timezones=st.just(UTC)))
def test_iso_dates_come_back_as_they_were(instant: datetime) -> None:
    instant = instant.replace(microsecond=instant.microsecond // 1000 * 1000)
    assert read_moment(instant.isoformat(), PARIS).instant == instant


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("17/04/2026", "dmy"),
        ("04/17/2026 10:15", "mdy"),
        ("03-04-2026", "either"),
        ("04/04/2026", None),
        ("2026-04-03", None),
        ("3.4.2026", None),
        ("25/26/2026", None),
        (5, None),
    ],
)
def test_what_one_date_shows_about_its_column(value: object, shown: str | None) -> None:
    assert order_shown(value) == shown


def test_one_telling_row_settles_the_column() -> None:
    evidence = OrderEvidence()
    for number, value in enumerate(["03/04/2026", "17/04/2026", "05/04/2026"], start=1):
        evidence.look_at(number, value)
    assert read("03/04/2026", evidence.settled()) == read("2026-04-03")


def test_an_unsettled_date_is_refused_and_names_the_way_out() -> None:
    with pytest.raises(InvalidRequest, match=r"--date-order dmy or --date-order mdy"):
        read("03/04/2026")


def test_a_column_that_contradicts_itself_settles_nothing_and_names_both_rows() -> None:
    evidence = OrderEvidence()
    for number, value in enumerate(["17/04/2026", "04/17/2026", "03/04/2026"], start=1):
        evidence.look_at(number, value)
    with pytest.raises(InvalidRequest, match=r"row 1 puts the day first and row 2 the month"):
        read("03/04/2026", evidence.settled())
    assert read("17/04/2026", evidence.settled()) == read("2026-04-17")


def test_a_date_against_the_order_of_its_column_is_refused() -> None:
    with pytest.raises(InvalidRequest, match=r"no month 17"):
        read("04/17/2026", ColumnOrder("dmy"))
    with pytest.raises(InvalidRequest, match=r"no month 17"):
        read("17/04/2026", ColumnOrder("mdy"))


def test_equal_day_and_month_need_no_order() -> None:
    assert read("04/04/2026") == read("2026-04-04")
