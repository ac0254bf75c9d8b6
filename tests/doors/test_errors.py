"""The one table of errors, and how each door shows them."""

import inspect

import pytest

from api.casing import camel, snake, snake_keys
from api.errors import INTERNAL, TABLE, documented_rows, fault_of, http_fault, problem, treatment_of
from api.json_text import MAX_DEPTH, read_json, write_json
from api.json_values import number
from runtime import errors
from runtime.errors import CircuitOpen, InvalidRequest, Misconfigured, ServiceError, Unavailable


def test_every_error_of_the_tree_has_a_row_or_a_parent_with_one() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, ServiceError) and kind is not ServiceError]
    assert [kind.__name__ for kind in kinds if not any(base in TABLE for base in kind.__mro__)] == []


def test_a_kind_of_unavailable_is_treated_as_unavailable() -> None:
    assert treatment_of(CircuitOpen("closed for now")) is TABLE[Unavailable]


def test_only_errors_raised_on_purpose_keep_their_text() -> None:
    assert fault_of(Misconfigured("set WA_HOST")).message == "set WA_HOST"
    masked = fault_of(RuntimeError("secret path /etc/x"))
    assert masked.treatment is INTERNAL
    assert "secret" not in masked.message
    assert masked.error_id in masked.message


def test_the_field_to_blame_is_written_as_the_door_writes_it() -> None:
    error = InvalidRequest("is too low", field="filters.rating_min")
    assert fault_of(error).message == "filters.ratingMin: is too low"
    assert fault_of(error, casing=snake).message == "filters.rating_min: is too low"


def test_a_problem_document_names_status_code_field_and_correlation() -> None:
    body = problem(fault_of(InvalidRequest("is too low", field="top_k")), instance="/ask", correlation_id="c-1")
    assert body == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "detail": "topK: is too low",
        "instance": "/ask",
        "code": "BAD_USER_INPUT",
        "correlationId": "c-1",
        "field": "topK",
    }


def test_faults_of_http_itself_have_codes_too() -> None:
    assert (http_fault(404, "x").treatment.code, http_fault(413, "x").treatment.code) == ("NOT_FOUND", "BAD_USER_INPUT")


def test_the_documentation_has_a_row_for_each_class() -> None:
    rows = "\n".join(documented_rows())
    assert all(f"`{kind.__name__}`" in rows for kind in TABLE)


@pytest.mark.parametrize("name", ["top_k", "filters.rating_min", "doc_id", "max_calls_per_tool", "question"])
def test_names_survive_the_way_to_camel_case_and_back(name: str) -> None:
    assert snake(camel(name)) == name


def test_keys_that_are_the_users_own_are_left_alone() -> None:
    assert snake_keys({"docIds": [], "attributes": {"planName": "pro"}}) == {"doc_ids": [], "attributes": {"planName": "pro"}}


@pytest.mark.parametrize(
    "text",
    ["", "{", "NaN", '{"a": Infinity}', b"\xff", "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "[" * 100_000, "9" * 5000, "[-1e400]"],
)
def test_what_is_not_json_is_an_invalid_body(text: str | bytes) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_json(text)
    assert caught.value.field == "body"
    assert "sys." not in caught.value.reason


def test_half_a_character_leaves_as_a_question_mark() -> None:
    assert write_json({"a": "x\ud83dy"}) == b'{"a":"x?y"}'


def test_numbers_leave_finite_short_and_without_a_negative_zero() -> None:
    assert (number(1 / 3), str(number(-0.0)), number(2)) == (0.333333, "0.0", 2.0)
    with pytest.raises(ValueError, match="not finite"):
        number(float("nan"))
