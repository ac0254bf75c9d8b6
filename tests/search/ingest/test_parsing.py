"""One row to one document: what is taken, what is refused and by which field."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from runtime.errors import InvalidRequest
from runtime.settings import Settings
from search.documents import Source
from search.ingest.parsing import Defaults, Notice, ParsedDocument, parse_document

DEFAULTS = Defaults(now=datetime(2026, 11, 30, 12, tzinfo=UTC))
ROW = {"doc_id": "t-1", "text": "Checkout froze", "source": "zendesk", "occurred_at": "2026-11-12T09:30:00Z"}


def parsed(**changes: object) -> ParsedDocument:
    return parse_document({**ROW, **changes}, DEFAULTS)


def refused(**changes: object) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        parsed(**changes)
    return caught.value


def messages(result: ParsedDocument) -> list[str]:
    return [f"{notice.field}: {notice.message}" for notice in result.warnings]


def test_camel_case_and_snake_case_say_the_same() -> None:
    camel = {
        "docId": "t-1042",
        "source": "zendesk",
        "text": "The card was declined.",
        "occurredAt": "2026-03-04T09:12:00+01:00",
        "title": None,
        "themeId": "billing",
        "accountId": "a-77",
        "rating": 2,
        "language": "en",
        "url": None,
        "version": 3,
        "attributes": {"plan": "pro"},
    }
    snake = {
        {"docId": "doc_id", "occurredAt": "occurred_at", "themeId": "theme_id", "accountId": "account_id"}.get(k, k): v
        for k, v in camel.items()
    }
    result = parse_document(camel, DEFAULTS)
    assert result == parse_document(snake, DEFAULTS)
    assert result.asked_version == 3
    assert result.document.occurred_at == datetime(2026, 3, 4, 8, 12, tzinfo=UTC)
    assert result.document.attributes == {"plan": "pro"}
    assert (result.document.theme_id, result.document.account_id, result.document.rating) == ("billing", "a-77", 2.0)


def test_a_field_given_under_both_names_must_agree() -> None:
    assert parsed(docId="t-1").document.doc_id == "t-1"
    assert refused(docId="t-2").field == "doc_id"


def test_id_stands_in_for_a_missing_doc_id_only() -> None:
    row = {key: value for key, value in ROW.items() if key != "doc_id"}
    assert parse_document({**row, "id": 17}, DEFAULTS).document.doc_id == "17"
    kept = parsed(id="other")
    assert (kept.document.doc_id, kept.document.attributes) == ("t-1", {"id": "other"})


def test_a_row_without_id_gets_the_same_one_every_time() -> None:
    row = {key: value for key, value in ROW.items() if key != "doc_id"}
    first, again = parse_document(row, DEFAULTS), parse_document({**row, "theme_id": "billing"}, DEFAULTS)
    assert first.document.doc_id == again.document.doc_id
    assert first.document.doc_id.startswith("d-")
    assert parse_document({**row, "text": "Other"}, DEFAULTS).document.doc_id != first.document.doc_id


@pytest.mark.parametrize(
    "text", [None, "", "   \u200b\n", "\u200b\u200d\ufeff", "\x00\x01", "\u2800\u3164", "\u0301", 5, True, ["a"], {"a": 1}]
)
def test_text_that_shows_nothing_is_refused(text: object) -> None:
    assert refused(text=text).field == "text"


def test_a_row_without_text_is_refused() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_document({"source": "x"}, DEFAULTS)
    assert caught.value.field == "text"


def test_text_beyond_the_limit_is_refused_by_field_and_names_the_setting() -> None:
    error = refused(text="z" * 5_000_000)
    assert error.field == "text"
    assert "WA_MAX_TEXT_CHARS" in error.reason
    assert len(parsed(text="z" * 200_000).document.text) == 200_000


def test_control_characters_go_with_a_warning_and_line_ends_become_one() -> None:
    result = parsed(text="\ufeff one\x00\r\ntwo\tthree\rfour\x1b[31m ")
    assert result.document.text == "one\ntwo\tthree\nfour[31m"
    assert messages(result) == ["text: control characters were removed"]


def test_carriage_returns_alone_are_no_warning() -> None:
    assert parsed(text="one\r\ntwo").warnings == ()


def test_half_an_emoji_is_replaced_with_a_warning_and_two_halves_are_joined() -> None:
    result = parsed(text="Great update \ud83d but the map is gone")
    assert result.document.text == "Great update \ufffd but the map is gone"
    assert messages(result) == ["text: half of a character (a lone surrogate) was replaced by U+FFFD"]
    assert parsed(text="\ud83d\ude00 nice").document.text == "😀 nice"


@pytest.mark.parametrize(
    "text",
    [
        "Latency < 200 ms was promised, but the export <b>never</b> finishes for files > 2 GB.",
        "Export fails &lt;script&gt;alert(1)&lt;/script&gt; with a blank page",
        "<p>Export&nbsp;hangs at 99&nbsp;%</p>",
        "שלום 你好 🗺️",
        "\U0001fae8",
        "?!",
    ],
)
def test_all_other_text_is_stored_as_given(text: str) -> None:
    assert parsed(text=text).document.text == text


@pytest.mark.parametrize(("rating", "stored"), [("4.5", 4.5), ("4,5", 4.5), (3, 3.0), (-1.5, -1.5), ("", None), ("  ", None), (None, None)])
def test_ratings_are_numbers_or_text_that_is_one(rating: object, stored: float | None) -> None:
    assert parsed(rating=rating).document.rating == stored


@pytest.mark.parametrize(
    "rating", ["five", "NaN", "inf", float("nan"), float("inf"), True, "1_0", "5/5", "1,000", [5], 10**400, "9" * 500, "٤"]
)
def test_other_ratings_are_refused(rating: object) -> None:
    assert refused(rating=rating).field == "rating"


@pytest.mark.parametrize(("version", "asked"), [(3, 3), ("3", 3), (3.0, 3), ("", None), (None, None)])
def test_versions_are_whole_numbers(version: object, asked: int | None) -> None:
    result = parsed(version=version)
    assert (result.asked_version, result.document.version) == (asked, asked or 1)


@pytest.mark.parametrize("version", [0, -1, 1.5, "v2", True, 2**63, "9" * 400, [1]])
def test_other_versions_are_refused(version: object) -> None:
    assert refused(version=version).field == "version"


@pytest.mark.parametrize("doc_id", ["a/b?c#d*e,f g", "../x", "*", "票-1", "x" * 400, "ü" * 200, "🗺️", "%2e%2e"])
def test_ids_may_hold_anything_printable(doc_id: str) -> None:
    assert parsed(doc_id=doc_id).document.doc_id == doc_id


@pytest.mark.parametrize("doc_id", ["x" * 401, "ü" * 201, "a\nb", "a\x00b", "a\ud83db", True, 1.5, ["a"], {"a": 1}])
def test_other_ids_are_refused(doc_id: object) -> None:
    assert refused(doc_id=doc_id).field == "doc_id"


@pytest.mark.parametrize("field", ["theme_id", "account_id", "language", "source", "title", "url"])
def test_a_name_that_is_too_long_is_refused_by_its_field(field: str) -> None:
    assert refused(**{field: "k" * 40_000}).field == field


@pytest.mark.parametrize("field", ["theme_id", "account_id", "language", "title", "url"])
def test_blank_optional_fields_are_absent(field: str) -> None:
    assert getattr(parsed(**{field: "  "}).document, field) is None


def test_names_are_kept_on_one_line() -> None:
    result = parsed(theme_id=" Billing\n and\u00a0more ", title="A\x00B", account_id=77)
    assert (result.document.theme_id, result.document.title, result.document.account_id) == ("Billing and more", "AB", "77")
    assert messages(result) == ["title: control characters were removed"]


def test_an_address_that_runs_code_is_refused() -> None:
    assert refused(url=" javascript:alert(1)").field == "url"
    assert parsed(url="https://example.org/t/1").document.url == "https://example.org/t/1"


def test_a_source_may_be_described() -> None:
    described = parsed(source={"kind": "zendesk", "name": "EU desk", "weight": "0.9"}).document.source
    assert described == Source("zendesk", "EU desk", 0.9)
    assert parsed(source={"kind": "zendesk"}).document.source == Source("zendesk")


@pytest.mark.parametrize(
    "source",
    [None, "", {}, {"kind": ""}, {"kind": "x", "weight": 2}, {"kind": "x", "weight": "much"}, {"kind": "x", "wieght": 1}, ["x"], True],
)
def test_a_source_that_says_nothing_usable_is_refused(source: object) -> None:
    assert refused(source=source).field == "source"


def test_the_default_source_fills_in() -> None:
    row = {key: value for key, value in ROW.items() if key != "source"}
    defaults = Defaults.of(Settings(), source="survey")
    assert parse_document(row, defaults).document.source == Source("survey")


def test_a_missing_date_names_the_way_out() -> None:
    error = refused(occurred_at=None)
    assert error.field == "occurred_at"
    assert "--map occurred_at=COLUMN" in error.reason


def test_a_blank_date_is_no_question_of_columns() -> None:
    error = refused(occurred_at=" ")
    assert (error.field, "--map" in error.reason) == ("occurred_at", False)


def test_a_date_without_zone_is_read_in_the_default_zone_with_a_notice() -> None:
    defaults = Defaults(zone=ZoneInfo("America/New_York"))
    result = parse_document({**ROW, "occurred_at": "2026-11-12"}, defaults)
    assert result.document.occurred_at == datetime(2026, 11, 12, 5, tzinfo=UTC)
    assert messages(result) == ["occurred_at: has no time zone; read as local to America/New_York"]


def test_the_future_is_taken_with_a_notice() -> None:
    assert parsed(occurred_at="2026-12-01T11:00:00Z").warnings == ()
    assert parsed(occurred_at="2027-01-01T00:00:00Z").warnings == (Notice("occurred_at", "lies more than a day in the future"),)


def test_an_unknown_time_zone_is_refused() -> None:
    for name in ("Mars/Olympus", "../etc/passwd", "", "x" * 10_000):
        with pytest.raises(InvalidRequest) as caught:
            Defaults.of(Settings(time_zone="UTC"), time_zone=name or "\x00")
        assert caught.value.field == "time_zone"


def test_unknown_columns_become_attributes_and_are_named() -> None:
    result = parsed(plan="pro", seats=5, trial=False, empty="", nothing=None)
    assert result.document.attributes == {"plan": "pro", "seats": 5, "trial": False}
    assert result.extra == ("plan", "seats", "trial")


def test_the_first_wrong_field_is_named() -> None:
    assert refused(text="", rating="five").field == "text"
