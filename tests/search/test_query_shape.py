"""Codes and quoted phrases, found in the question and in text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.query_shape import MAX_CODES, QueryShape, shape_of


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ("does SAVE20 still work?", ("save", "20")),
        ("save20", ("save", "20")),
        ("what is ERR_4012", ("err", "4012")),
        ("what is ERR-4012", ("err", "4012")),
        ("what is ERR 4012", ("err", "4012")),
        ("crash in v2.3.1", ("2.3.1",)),
        ("crash in 2.3.1", ("2.3.1",)),
        ("order 10423 is late", ("order", "10423")),
        ("where is 10423?", ("10423",)),
        ("RTX-4090 noise", ("rtx", "4090")),
    ],
)
def test_codes_are_found_however_they_are_written(query: str, runs: tuple[str, ...]) -> None:
    assert [code.runs for code in shape_of(query).codes] == [runs]
    assert shape_of(query).exact or not shape_of(query).codes[0].sure


@pytest.mark.parametrize(
    "query",
    [
        "why is it so slow",
        "the 2nd time in 3 weeks",
        "10k steps by 5pm",
        "in 2024",
        "on 2026-03-04 at 10:30",
        "paid 1200 dollars",
        "",
        "😀 ?!",
    ],
)
def test_ordinals_dates_sizes_and_plain_words_are_not_codes(query: str) -> None:
    assert [code for code in shape_of(query).codes if code.sure] == []


@pytest.mark.parametrize("quoted", ['"not working"', "\u201cnot working\u201d", "\u00abnot working\u00bb", "\u201enot working\u201c"])
def test_quoted_phrases_are_found_in_any_quotation_marks(quoted: str) -> None:
    assert shape_of(f"who says {quoted} today").phrases == ("not working",)


def test_an_unpaired_mark_or_an_apostrophe_quotes_nothing() -> None:
    assert shape_of("a 5\" screen that doesn't work, isn't it").phrases == ()
    assert not shape_of("a 5\" screen that doesn't work").exact


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ("Code save20 is gone", 1.0),
        ("SAVE-20!", 1.0),
        ("(SAVE_20)", 1.0),
        ("I want to save 20% of it", 0.5),
        ("SAVE200", 0.0),
        ("SAVE20.5", 0.0),
        ("XSAVE20", 0.0),
        ("SAVE2", 0.0),
    ],
)
def test_a_code_is_held_in_any_case_and_never_inside_a_longer_one(text: str, strength: float) -> None:
    assert shape_of("SAVE20").codes[0].strength(text) == strength


@pytest.mark.parametrize(
    ("text", "held"),
    [("V2.3.1.", 1.0), ("version 2.3.1 is out", 1.0), ("v2.3.10", 0.0), ("12.3.1", 0.0), ("1.2.3.1", 0.0), ("v2.3.1.4", 0.0)],
)
def test_a_version_is_itself_and_no_longer_version(text: str, held: float) -> None:
    assert shape_of("v2.3.1").codes[0].strength(text) == held


def test_a_code_written_with_a_space_is_held_by_every_spelling() -> None:
    code = shape_of("ERR 4012").codes[0]
    assert [code.strength(text) for text in ("ERR-4012", "err_4012", "ERR4012", "ERR 4012", "ERR 40125")] == [1.0, 1.0, 1.0, 1.0, 0.0]
    assert set(code.spellings) == {"err4012", "err-4012", "err_4012", "err 4012"}


def test_a_long_number_is_half_of_a_code_that_was_written_with_a_space() -> None:
    code = shape_of("order 10423").codes[0]
    assert [code.strength(text) for text in ("order #10423", "order number 10423", "order number 104231")] == [1.0, 0.5, 0.0]


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_has_a_bounded_shape(text: str) -> None:
    shape = shape_of(text)
    assert isinstance(shape, QueryShape)
    assert len(shape.codes) <= MAX_CODES
    assert all(code.strength(code.written) == 1.0 for code in shape.codes)


def test_a_very_long_question_is_read_in_time_linear_in_its_length() -> None:
    assert shape_of("A1 " * 200_000).codes[0].runs == ("a", "1")
    assert shape_of("a" * 2_000_000) == QueryShape()
    assert shape_of('"' * 100_000) == QueryShape()
