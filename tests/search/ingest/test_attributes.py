"""Attributes are flat, bounded, and nothing is dropped in silence."""

import pytest

from runtime.errors import InvalidRequest
from search.ingest.attributes import AS_JSON, LEFT_OUT, gathered


def nested(levels: int) -> object:
    value: object = "x"
    for _ in range(levels):
        value = [value]
    return value


def test_scalars_are_kept_and_absent_values_left_out() -> None:
    found = gathered({"plan": " pro ", "seats": 5, "ratio": 0.5, "trial": True, "none": None, "blank": " "}, {})
    assert found.values == {"plan": "pro", "seats": 5, "ratio": 0.5, "trial": True}


def test_a_list_is_kept_as_json_text_and_noted() -> None:
    found = gathered({"tags": ["a", "ü", 1]}, {})
    assert found.values == {"tags": '["a","ü",1]'}
    assert found.notes == [("tags", AS_JSON)]


def test_a_column_that_holds_an_object_is_kept_as_json_text() -> None:
    assert gathered(None, {"via": {"channel": "email"}}).values == {"via": '{"channel":"email"}'}


@pytest.mark.parametrize(
    "given",
    [
        {"a": {"b": 1}},
        {"": 1},
        {"x" * 201: 1},
        {"a": float("nan")},
        {"a": 10**30},
        {"a": "x" * 9_000},
        {"a": object()},
        {"a": [float("nan")]},
        {"a": nested(10_000)},
        {f"k{n}": n for n in range(101)},
        {1: "a"},
        ["a"],
        5,
        True,
        "not json",
        "[" * 100_000,
    ],
)
def test_other_attributes_are_refused_by_field(given: object) -> None:
    with pytest.raises(InvalidRequest) as caught:
        gathered(given, {})
    assert caught.value.field == "attributes"


def test_a_column_of_attributes_may_hold_json_text() -> None:
    assert gathered('{"plan": "pro"}', {}).values == {"plan": "pro"}


def test_a_column_that_is_too_long_is_left_out_and_noted() -> None:
    found = gathered({}, {"reply": "x" * 9_000, "plan": "pro"})
    assert found.values == {"plan": "pro"}
    assert found.notes == [("reply", LEFT_OUT)]


def test_a_column_and_an_attribute_of_one_name_must_agree() -> None:
    assert gathered({"plan": "pro"}, {"plan": "pro"}).values == {"plan": "pro"}
    with pytest.raises(InvalidRequest, match="given twice"):
        gathered({"plan": "pro"}, {"plan": "free"})


def test_lone_surrogates_and_control_characters_do_not_get_in() -> None:
    found = gathered({"a": "x\ud83dy\x00"}, {"b": ["\ud83d"]})
    assert found.values == {"a": "x\ufffdy", "b": '["\ufffd"]'}
