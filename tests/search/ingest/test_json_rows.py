"""JSON lines, arrays, and objects one after another."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.ingest.json_rows import json_lines, json_values, starts_like_json_lines
from search.ingest.rows import Row


def outline(rows: list[Row]) -> list[object]:
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    return [row.values if row.problem is None else row.problem.reason for row in rows]


def lines(text: str, limit: int = 1_000_000) -> list[object]:
    return outline(list(json_lines(io.StringIO(text, newline=""), limit)))


def values(text: str, limit: int = 1_000_000) -> list[object]:
    return outline(list(json_values(io.StringIO(text), limit)))


def test_every_line_is_a_row_and_blank_lines_are_none() -> None:
    assert lines('\ufeff{"a": 1}\r\n\n  {"a": "\\ud83d"}  \n\ufeff{}') == [{"a": 1}, {"a": "\ud83d"}, {}]


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "nonsense",
        "[1]",
        "5",
        "null",
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1} {"a": 2}',
        '{"a": ' + "9" * 5_000 + "}",
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"a": "x\udcff"}',
        '{"a": "' + "x" * 2_000_000 + '"}',
    ],
)
def test_a_bad_line_is_named_and_the_next_one_read(bad: str) -> None:
    result = lines(f'{{"a": 1}}\n{bad}\n{{"a": 2}}\n')
    assert [result[0], result[2]] == [{"a": 1}, {"a": 2}]
    assert isinstance(result[1], str)
    assert len(result[1]) < 200


TWICE = "is not JSON that can be taken: 'text' is given twice with different values"


def test_a_name_given_twice_with_different_values_costs_its_row_and_is_named() -> None:
    bad = ['{"text": "a", "text": "b"}', '{"x": {"text": 1, "text": true}}', '{"x": [{"text": [], "y": 0, "text": {}}]}']
    for each in bad:
        assert lines(f'{{"a": 1}}\n{each}\n{{"a": 2}}') == [{"a": 1}, TWICE, {"a": 2}]
        assert values(f'[{{"a": 1}}, {each}, {{"a": 2}}]') == [{"a": 1}, TWICE, {"a": 2}]


def test_a_name_given_twice_with_the_same_value_is_one() -> None:
    assert lines('{"a": {"b": [1]}, "a": {"b": [1]}}') == [{"a": {"b": [1]}}]


def test_the_elements_of_an_array_are_rows() -> None:
    assert values(' [ {"a": 1},\n {"a": {"b": [2]}} ]\n') == [{"a": 1}, {"a": {"b": [2]}}]
    assert values("[]") == []
    assert values("") == []


def test_objects_one_after_another_are_rows() -> None:
    assert values('{"a":\n 1}\n{"a": 2}{"a": 3}') == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_an_element_that_is_no_object_is_named() -> None:
    assert values('[1, {"a": 1}, "x"]') == [
        "is JSON, but not an object of names and values",
        {"a": 1},
        "is JSON, but not an object of names and values",
    ]


def test_a_broken_element_ends_the_rows_and_says_so() -> None:
    result = values('[{"a": 1}, {"a": oops}, {"a": 3}]')
    assert result[0] == {"a": 1}
    assert "nothing behind it could be read" in str(result[1])
    assert len(result) == 2


def test_numbers_that_cannot_be_taken_cost_one_element_of_an_array() -> None:
    result = values('[{"a": NaN}, {"a": 1}, {"a": ' + "9" * 5_000 + '}, {"a": 2}]')
    assert result == [
        "is not JSON that can be taken: NaN is not JSON",
        {"a": 1},
        "is not JSON that can be taken: it holds a number of 5,000 digits",
        {"a": 2},
    ]


def test_an_array_that_is_cut_off_says_so() -> None:
    assert values('[{"a": 1},') == [{"a": 1}, "the array is cut off here"]
    assert values('[{"a": 1}, {"a"')[0] == {"a": 1}


def test_an_array_much_larger_than_what_is_read_at_once_is_read() -> None:
    elements = [{"n": n, "text": "x" * 5_000} for n in range(300)]
    assert values(json.dumps(elements)) == elements


def test_an_element_larger_than_the_limit_is_given_up() -> None:
    result = values('[{"a": "' + "x" * 1_000_000 + '"}]', limit=100_000)
    assert len(result) == 1
    assert isinstance(result[0], str)


def test_json_lines_are_told_from_an_indented_object() -> None:
    assert starts_like_json_lines('\n{"a": 1}\n{"a": 2}\n')
    assert starts_like_json_lines('{"a": NaN, "b": ' + "9" * 5_000 + "}")
    assert starts_like_json_lines('{"a": oops}\n\n{"a": 2}\n{"a": ')
    assert not starts_like_json_lines('{\n "a": 1\n}')
    assert not starts_like_json_lines(json.dumps({"a": [{"b": 1}, {}]}, indent=1))
    assert not starts_like_json_lines('[{"a": 1}]')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=4), max_size=8))
def test_what_was_written_as_json_is_read_back(documents: list[dict[str, object]]) -> None:
    assert lines("\n".join(map(json.dumps, documents))) == documents
    assert values(json.dumps(documents)) == documents
