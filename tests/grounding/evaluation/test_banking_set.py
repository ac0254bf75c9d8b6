"""The set of the sample corpus, checked by plain Python over the file: nothing here calls what is being evaluated."""

import json
import re
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest

from api.sample import sample_documents
from grounding.evaluation import sets
from grounding.evaluation.sets import shipped_set

DOCUMENTS = list(sample_documents())
BY_ID = {row["doc_id"]: row for row in DOCUMENTS}
CASES = [json.loads(line) for line in files(sets).joinpath("banking.jsonl").read_text("utf-8").splitlines()]


def selected(
    theme: str | list[str] | None = None,
    regex: str | None = None,
    source: str | None = None,
    account: str | None = None,
    since: str = "",
    until: str = "9999",
    by: str = "",
) -> list[dict[str, Any]]:
    """The messages a note speaks of."""
    themes = [theme] if isinstance(theme, str) else theme
    return [
        row
        for row in DOCUMENTS
        if (themes is None or row["theme_id"] in themes)
        and (regex is None or re.search(regex, row["text"], re.IGNORECASE))
        and (source is None or row["source"] == source)
        and (account is None or row["account_id"] == account)
        and since <= row["occurred_at"][:10] <= until
    ]


def noted(name: str) -> list[Any]:
    found = [pytest.param(case, id=case["id"]) for case in CASES if name in case["note"]]
    assert found
    return found


def test_there_are_cases_of_every_kind() -> None:
    kinds = Counter(case.kind for case in shipped_set("banking").cases)
    assert sum(kinds.values()) >= 150
    assert kinds.keys() == {
        *("fact negation near_duplicate code count trend unanswered off_topic no_question empty_filter too_few language".split())
    }
    refusing = sum(not case["expected"]["answered"] for case in CASES)
    assert 0.3 <= refusing / len(CASES) <= 0.5


def test_every_case_says_where_its_expectation_comes_from() -> None:
    assert not [case["id"] for case in CASES if not case.get("note")]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES if isinstance(case["note"].get("documents"), dict)])
def test_the_documents_of_a_case_are_those_its_note_selects(case: dict[str, Any]) -> None:
    assert sorted(row["doc_id"] for row in selected(**case["note"]["documents"])) == case["expected"]["documents"]


@pytest.mark.parametrize("case", noted("count"))
def test_a_count_is_what_plain_python_counts(case: dict[str, Any]) -> None:
    found = len(selected(**case["note"]["count"]))
    assert found == case["expected"]["count"] if case["expected"]["answered"] else found < 5


@pytest.mark.parametrize("case", noted("series"))
def test_a_series_is_what_plain_python_counts(case: dict[str, Any]) -> None:
    by = case["note"]["series"]["by"]
    found = Counter(row["occurred_at"][:7] if by == "month" else row[by] for row in selected(**case["note"]["series"]))
    assert dict(found) == case["expected"]["series"]


@pytest.mark.parametrize("case", noted("facts"))
def test_both_sides_of_a_comparison_are_counted(case: dict[str, Any]) -> None:
    counts = [str(len(selected(**side))) for side in case["note"]["facts"]]
    assert [fact.split("|")[0] for fact in case["expected"]["facts"]] == counts


def test_every_document_that_is_named_is_in_the_sample() -> None:
    named = {doc_id for case in CASES for doc_id in case["expected"].get("documents", ())}
    assert named <= BY_ID.keys()


def test_a_fact_of_a_case_stands_in_one_of_its_documents() -> None:
    from grounding.evaluation.texts import holds

    missing = [
        (case["id"], fact)
        for case in CASES
        for fact in case["expected"].get("facts", ())
        if case["expected"].get("documents") and not any(holds(BY_ID[doc_id]["text"], fact) for doc_id in case["expected"]["documents"])
    ]
    assert not missing


def test_codes_that_are_said_to_be_absent_are_absent() -> None:
    for code in ("ERR_4012", "TX-99812", "XJ-500", "A1773"):
        assert not [row for row in DOCUMENTS if code.lower() in row["text"].lower()]


def test_filters_that_leave_nothing_leave_nothing() -> None:
    sources, themes = {row["source"] for row in DOCUMENTS}, {row["theme_id"] for row in DOCUMENTS}
    days = [row["occurred_at"] for row in DOCUMENTS]
    assert "fax" not in sources
    assert not {"spaceships", "nothing"} & themes
    assert "acct-999" not in {row["account_id"] for row in DOCUMENTS}
    assert min(days) > "2020-12-31"
    assert max(days) < "2027"
