import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grounding.evaluation.case_json import case_as_json, case_from_json
from grounding.evaluation.set_files import parse_set, read_set, write_cases
from grounding.evaluation.sets import shipped_set
from runtime.errors import InvalidRequest


def body(**fields: Any) -> dict[str, Any]:
    return {"id": "c-1", "question": "How many?", "expected": {"answered": True}} | fields


@pytest.mark.parametrize(
    ("fields", "field", "reason"),
    [
        ({"id": ""}, "id", "not empty"),
        ({"id": 7}, "id", "must be a text"),
        ({"question": None}, "question", "must be a text"),
        ({"question": "x" * 20_001}, "question", "at most 20000"),
        ({"expected": None}, "expected", "must be an object"),
        ({"expected": {}}, "expected.answered", "true or false"),
        ({"expected": {"answered": "yes"}}, "expected.answered", "true or false"),
        ({"expected": {"answered": False, "reasons": ["BORED"]}}, "expected.reasons", "is none of"),
        ({"expected": {"answered": True, "reasons": ["OFF_TOPIC"]}}, "expected.reasons", "is for refusals"),
        ({"expected": {"answered": False, "facts": ["a"]}}, "expected.facts", "is for answers"),
        ({"expected": {"answered": False, "count": 3}}, "expected.count", "is for answers"),
        ({"expected": {"answered": True, "count": -1}}, "expected.count", "at least 0"),
        ({"expected": {"answered": True, "count": True}}, "expected.count", "whole number"),
        ({"expected": {"answered": True, "facts": "a"}}, "expected.facts", "must be a list"),
        ({"expected": {"answered": True, "facts": [" "]}}, "expected.facts", "not empty"),
        ({"expected": {"answered": True, "series": {"2026-06": 1.5}}}, "expected.series.2026-06", "whole number"),
        ({"expected": {"answered": True, "count_": 1}}, "expected.count_", "is not known"),
        ({"answer": "x"}, "answer", "is not known"),
        ({"filters": {"since": "soon"}}, "filters.since", "must be a day"),
        ({"filters": {"theme": "a"}}, "filters.theme", "is not known"),
        ({"filters": {"sources": []}}, "filters.sources", "empty list"),
        ({"timeZone": "Mars/Base"}, "time_zone", "time zone"),
    ],
)
def test_every_wrong_field_is_named(fields: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        case_from_json(body(**fields))
    assert error.value.field == field
    assert reason in error.value.reason


def test_a_case_survives_being_written_and_read() -> None:
    case = case_from_json(
        body(
            filters={"since": "2026-06-01", "until": "2026-06-30", "sources": ["chat"], "ratingMin": 2, "attributes": {"plan": "pro"}},
            timeZone="Europe/Paris",
            kind="count",
            expected={"answered": True, "count": 3, "facts": ["a|b"], "absent": ["c"], "documents": ["d"], "series": {"x": 1}},
        )
    )
    assert case_from_json(case_as_json(case)) == case
    assert case_from_json(json.loads(json.dumps(case_as_json(case)))) == case


def test_lines_an_array_and_an_object_hold_the_same_cases() -> None:
    rows = [body(), body(id="c-2")]
    lines = "\n".join(json.dumps(row) for row in rows) + "\n\n"
    whole = json.dumps({"name": "mine", "description": "two", "cases": rows})
    assert parse_set(lines, "x").cases == parse_set(json.dumps(rows), "x").cases == parse_set(whole, "x").cases
    assert (parse_set(whole, "x").name, parse_set(whole, "x").description, parse_set(lines, "x").name) == ("mine", "two", "x")


def test_every_wrong_row_is_named_with_its_field_up_to_ten() -> None:
    lines = "\n".join(["nonsense", json.dumps(body()), json.dumps(body()), json.dumps(body(id="c-3", question=1))])
    with pytest.raises(InvalidRequest) as error:
        parse_set(lines, "x")
    assert error.value.field == "set"
    assert "row 1: is not JSON" in error.value.reason
    assert "row 3: id: 'c-1' is there twice" in error.value.reason
    assert "row 4: question: must be a text" in error.value.reason
    many = "\n".join("{}" for _ in range(12))
    with pytest.raises(InvalidRequest, match=r"\(and 2 more\)"):
        parse_set(many, "x")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"id":' * 100_000, "", "[]", '{"cases": []}', '{"cases": 3}'])
def test_a_set_without_cases_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_set(text, "x")


def test_files_and_folders_are_read_and_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    cases = parse_set(json.dumps([body()]), "x").cases
    write_cases(cases, tmp_path / "cases.jsonl")
    assert read_set(tmp_path).cases == cases
    assert read_set(tmp_path).name == tmp_path.name
    assert read_set(tmp_path / "cases.jsonl", "given").name == "given"
    (tmp_path / "latin.jsonl").write_bytes(b"\xe9")
    with pytest.raises(InvalidRequest, match="is not UTF-8"):
        read_set(tmp_path / "latin.jsonl")
    with pytest.raises(InvalidRequest, match="no such file"):
        read_set(tmp_path / "nothing.jsonl")


def test_the_digest_changes_with_any_case_and_with_nothing_else() -> None:
    eval_set = shipped_set("banking")
    again = parse_set("\n".join(json.dumps(case_as_json(case)) for case in eval_set.cases), "other")
    assert again.digest == eval_set.digest
    changed = [case_as_json(case) for case in eval_set.cases]
    changed[0]["question"] += " "
    assert parse_set(json.dumps(changed), "x").digest != eval_set.digest
    assert replace(eval_set.cases[0], kind="x") != eval_set.cases[0]
