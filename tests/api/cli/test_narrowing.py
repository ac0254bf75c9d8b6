"""Filter options as people type them."""

from datetime import UTC, datetime

import pytest

from api.cli.narrowing import narrowed, zone_of
from api.cli.options import Narrowing
from runtime.errors import InvalidRequest
from search.documents import EVERYTHING


def test_no_option_is_no_filter() -> None:
    assert narrowed(Narrowing(), "UTC") == EVERYTHING


def test_days_are_local_and_both_ends_are_inclusive() -> None:
    filters = narrowed(Narrowing(since="2026-06-01", until="2026-06-30", time_zone="Europe/Paris"), "UTC")
    assert filters.since == datetime(2026, 5, 31, 22, tzinfo=UTC)
    assert filters.before == datetime(2026, 6, 30, 22, tzinfo=UTC)


def test_the_zone_of_the_settings_is_used_when_none_is_typed() -> None:
    assert narrowed(Narrowing(since="2026-01-01"), "Asia/Tokyo").since == datetime(2025, 12, 31, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("typed", "bounds"),
    [("1..2", (1.0, 2.0)), ("3", (3.0, 3.0)), ("4..", (4.0, None)), ("..2", (None, 2.0)), ("-1..0.5", (-1.0, 0.5)), ("0..0", (0.0, 0.0))],
)
def test_a_rating_is_a_range_with_open_ends(typed: str, bounds: tuple[float | None, float | None]) -> None:
    filters = narrowed(Narrowing(rating=typed), "UTC")
    assert (filters.rating_min, filters.rating_max) == bounds


@pytest.mark.parametrize("typed", ["", "..", "a..b", "2..1", "nan", "1..inf", "1-2"])
def test_an_unreadable_rating_names_its_option(typed: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        narrowed(Narrowing(rating=typed), "UTC")
    assert caught.value.field == "rating"


def test_repeated_values_are_alternatives() -> None:
    filters = narrowed(Narrowing(source=["zendesk", "appstore", "zendesk"], theme=["billing"], account=["a-1"]), "UTC")
    assert filters.sources == ("zendesk", "appstore")
    assert filters.theme_ids == ("billing",)
    assert filters.account_ids == ("a-1",)


def test_an_attribute_keeps_equals_signs_in_its_value() -> None:
    assert narrowed(Narrowing(attr=["plan=a=b"]), "UTC").attributes == (("plan", "a=b"),)


@pytest.mark.parametrize("typed", ["plan", "=pro", " =x"])
def test_an_attribute_without_a_name_or_value_names_its_option(typed: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        narrowed(Narrowing(attr=[typed]), "UTC")
    assert caught.value.field == "attr"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (Narrowing(since="yesterday"), "since"),
        (Narrowing(until="2026-02-30"), "until"),
        (Narrowing(since="0000-01-01"), "since"),
        (Narrowing(until="9999-12-31"), "until"),
        (Narrowing(since="2026-03-02", until="2026-03-01"), "since"),
        (Narrowing(time_zone="Mars/Olympus"), "time_zone"),
        (Narrowing(source=[""]), "sources"),
    ],
)
def test_what_cannot_be_a_filter_names_its_field(options: Narrowing, field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        narrowed(options, "UTC")
    assert caught.value.field == field


def test_the_zone_typed_wins_over_the_zone_set() -> None:
    assert zone_of(Narrowing(time_zone="Europe/Paris"), "UTC") == "Europe/Paris"
    assert zone_of(Narrowing(), "UTC") == "UTC"
