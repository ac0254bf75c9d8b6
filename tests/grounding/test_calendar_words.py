from datetime import UTC, datetime

import pytest

from grounding.calendar_words import dates, times


def read(text: str) -> list[tuple[int | None, int | None, int | None]]:
    return [(date.year, date.month, date.day) for date in dates(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 3 September", [(None, 9, 3)]),
        ("3rd of September 2026", [(2026, 9, 3)]),
        ("Sept 3", [(None, 9, 3)]),
        ("September 3, 2026", [(2026, 9, 3)]),
        ("2026-09-03", [(2026, 9, 3)]),
        ("13/02/2025", [(2025, 2, 13)]),
        ("02/13/2025", [(2025, 2, 13)]),
        ("3.9.2026", [(2026, 3, 9)]),
        ("since the October update", [(None, 10, None)]),
        ("ordered in May", [(None, 5, None)]),
        ("it may 5 be", []),
        ("we march on", []),
        ("back in 2019", [(2019, None, None)]),
        ("2024 EUR", []),
        ("version 2.3.1", []),
    ],
)
def test_dates_are_read_as_people_write_them(text: str, expected: list[tuple[int | None, int | None, int | None]]) -> None:
    assert read(text) == expected


def bears_out(claim: str, said: str) -> bool:
    (claimed,) = dates(claim)
    return any(claimed.borne_out_by(date) for date in dates(said))


def test_a_date_bears_out_what_says_no_more() -> None:
    assert bears_out("in September", "on 3 September")
    assert bears_out("on 3 September", "2026-09-03")
    assert bears_out("on Friday", "moved to Friday")
    assert bears_out("on Sundays", "every Sunday")


def test_a_date_does_not_bear_out_another_or_a_closer_one() -> None:
    assert not bears_out("on 9 March", "on 3 September")
    assert not bears_out("on 3 September", "in September")
    assert not bears_out("on Sunday", "on Friday")
    assert not bears_out("in 2025", "in 2026")


def test_an_ambiguous_date_never_supports_a_month_by_name() -> None:
    assert not bears_out("on 3 April 2026", "03/04/2026")
    assert not bears_out("on 4 March 2026", "03/04/2026")
    assert bears_out("on 03/04/2026", "03/04/2026")


def test_a_date_without_year_takes_that_of_its_document() -> None:
    (date,) = dates("on 3 September", datetime(2026, 9, 4, tzinfo=UTC))
    assert date.year == 2026


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("at 6 am", {360}), ("6:30pm", {1110}), ("18:00", {1080}), ("6:30", {390, 1110}), ("at noon", {720}), ("6 o'clock", {360, 1080})],
)
def test_times_of_day_are_minutes(text: str, minutes: set[int]) -> None:
    assert [time.minutes for time in times(text)] == [minutes]


def test_a_morning_hour_is_not_borne_out_by_the_evening() -> None:
    assert not times("6 am")[0].borne_out_by(times("6 pm")[0])
    assert times("6 am")[0].borne_out_by(times("at 6:00")[0])
