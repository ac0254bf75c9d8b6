"""What a step expects, checked against what a door sent. Every kind of expectation is one function; an unknown one is an error, not a pass."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from api.casing import snake
from tests.cases.doors import Result, dumped

FIELD_NAMES = {"timezone": "time_zone", "occurred_from": "since", "occurred_to": "until"}
PIPELINE = {"plan", "count", "prove", "retrieve", "relevance", "answerability", "draft", "verify", "repair", "judge", "finalize"}
"""The steps a run may take; which ones is settled before a record is read."""

Check = Callable[[Result, Any, "Texts"], None]
Texts = Mapping[str, str]
"""Stored text by document id, to re-read quotes."""


def check(result: Result, expected: Mapping[str, Any], texts: Texts) -> None:
    """Every expectation must hold."""
    if "error" in result and not {"error", "error_names"} & expected.keys():
        raise AssertionError(f"an error nobody expected: {result}")
    for name, value in expected.items():
        CHECKS[name](result, value, texts)


def citations(result: Result) -> list[dict[str, Any]]:
    """Every citation of every claim."""
    return [citation for claim in result["answer"]["claims"] for citation in claim["citations"]]


def cited(result: Result) -> set[str]:
    """Ids of all cited documents."""
    return {citation["docId"] for citation in citations(result)}


def hit_ids(result: Result) -> list[str]:
    """Ids of all documents a search found; copies grouped under a hit included."""
    return [doc_id for hit in result["hits"] for doc_id in (hit["groupDocIds"] or [hit["docId"]])]


def same(name: str) -> Check:
    """Expect a member of the result to equal a value."""

    def equal(result: Result, value: Any, _: Texts) -> None:
        assert result[name] == value, result

    return equal


def refused(result: Result, value: bool, _: Texts) -> None:
    assert result["answer"]["refused"] == value, dumped(result["answer"])


def reason_in(result: Result, value: list[str], _: Texts) -> None:
    assert result["answer"]["refusal"], dumped(result["answer"])
    assert result["answer"]["refusal"]["reason"] in value, dumped(result["answer"])


def must_cite(result: Result, value: list[str], _: Texts) -> None:
    assert set(value) <= cited(result), dumped(result["answer"])


def must_cite_any(result: Result, value: list[str], _: Texts) -> None:
    assert set(value) & cited(result), dumped(result["answer"])


def must_not_cite(result: Result, value: list[str], _: Texts) -> None:
    assert not set(value) & cited(result), dumped(result["answer"])


def must_show_contradiction_with(result: Result, value: list[str], _: Texts) -> None:
    claims = result["answer"]["claims"]
    shown = {citation["docId"] for claim in claims for citation in claim["counterEvidence"]}
    assert set(value) <= shown, dumped(result["answer"])


def must_not_say(result: Result, value: list[str], _: Texts) -> None:
    said = dumped({key: item for key, item in result.items() if key not in ("question", "runId")})
    for words in value:
        assert words not in re.sub(r'"[a-zA-Z]*(?:Ms|ms|seconds|Score|score|At|Generation|Id)": [^,}]*', "", said), f"{words!r} in {said}"


def must_not_claim(result: Result, value: list[str], _: Texts) -> None:
    said = " ".join([result["answer"]["text"], *(claim["text"] for claim in result["answer"]["claims"])]).lower()
    assert not [words for words in value if words.lower() in said], said


def must_state_number(result: Result, value: int, _: Texts) -> None:
    assert re.search(rf"(?<!\d){value}(?!\d)", result["answer"]["text"]), result["answer"]["text"]
    assert value in [claim["proof"]["value"] for claim in result["answer"]["claims"] if claim["proof"]]


def denominator(result: Result, value: int, _: Texts) -> None:
    assert value in [claim["proof"]["denominator"] for claim in result["answer"]["claims"] if claim["proof"]]


def quotes_exact(result: Result, value: bool, texts: Texts) -> None:
    for citation in citations(result):
        assert (texts[citation["docId"]][citation["start"] : citation["end"]] == citation["quote"]) is value


def quote_contains(result: Result, value: str, _: Texts) -> None:
    assert any(value in citation["quote"] for citation in citations(result)), dumped(result["answer"])


def nearest_shown(result: Result, value: bool, _: Texts) -> None:
    assert bool(result["answer"]["refusal"]["nearest"]) is value


def names_language(result: Result, value: str, _: Texts) -> None:
    refusal = result["answer"]["refusal"]
    assert f"({value})" in refusal["message"] + refusal["hint"], refusal


def max_claims(result: Result, value: int, _: Texts) -> None:
    assert len(result["answer"]["claims"]) <= value, dumped(result["answer"])


def claim_groups(result: Result, value: list[dict[str, Any]], _: Texts) -> None:
    for wanted in value:
        assert any(_group_matches(claim, wanted) for claim in result["answer"]["claims"]), dumped(result["answer"])


def _group_matches(claim: dict[str, Any], wanted: dict[str, Any]) -> bool:
    ids = {citation["docId"] for citation in claim["citations"]}
    some = bool(ids & set(wanted["cites_any"])) if "cites_any" in wanted else True
    return some and set(wanted.get("cites_all", ())) <= ids and claim["documentCount"] >= wanted.get("count_at_least", 1)


def no_tool_called(result: Result, value: bool, _: Texts) -> None:
    steps = {step["name"] for step in result["trace"]["steps"]}
    assert (steps <= PIPELINE) is value, steps


def verdicts(result: Result, value: list[dict[str, Any]], _: Texts) -> None:
    assert len(result["verdicts"]) == len(value)
    for place, (found, wanted) in enumerate(zip(result["verdicts"], value, strict=True)):
        problem = f"verdict {place}: {dumped(found)} instead of {wanted}"
        for key, item in wanted.items():
            if key == "supported_any":
                assert found["supported"] in item, problem
            elif key == "cites":
                assert {citation["docId"] for citation in found["citations"]} == set(item), problem
            else:
                assert found[key] == item, problem


def ids_in_output_subset_of(result: Result, value: list[str], _: Texts) -> None:
    assert {citation["docId"] for verdict in result["verdicts"] for citation in verdict["citations"]} <= set(value)


def report(result: Result, value: dict[str, int], _: Texts) -> None:
    assert {key: result["report"][key] for key in value} == value, result


def report_reconciles(result: Result, value: bool, _: Texts) -> None:
    found = result["report"]
    parts = ("indexed", "unchanged", "updated", "duplicate", "rejected")
    assert (found["received"] == sum(found[part] for part in parts)) is value, found


def report_warns_of(result: Result, value: str, _: Texts) -> None:
    assert any(value in warning for warning in result["report"]["warnings"]), result["report"]


def rejected(result: Result, value: list[dict[str, Any]], _: Texts) -> None:
    names = {"id": "docId", "row": "row", "field": "field"}
    found = [one | {"field": snake(one["field"])} for one in result["report"]["rejections"]]
    for wanted in value:
        assert any(all(one[names[key]] == item for key, item in wanted.items()) for one in found), found


def rejected_fields_in(result: Result, value: list[str], _: Texts) -> None:
    assert {snake(one["field"]) for one in result["report"]["rejections"]} <= set(value)


def indexed_at_least(result: Result, value: int, _: Texts) -> None:
    assert result["report"]["indexed"] >= value


def ends_within_s(result: Result, value: float, _: Texts) -> None:
    assert result["report"]["seconds"] <= value


def no_field_name_contains(result: Result, value: str, _: Texts) -> None:
    assert not [name for name in result["columns"] if value in name]


def hits(result: Result, value: list[str], _: Texts) -> None:
    assert set(hit_ids(result)) == set(value), hit_ids(result)


def hits_include(result: Result, value: list[str], _: Texts) -> None:
    assert set(value) <= set(hit_ids(result)), hit_ids(result)


def hits_exclude(result: Result, value: list[str], _: Texts) -> None:
    assert not set(value) & set(hit_ids(result)), hit_ids(result)


def first(result: Result, value: str, _: Texts) -> None:
    assert hit_ids(result)[:1] == [value], hit_ids(result)


def total(result: Result, value: int, _: Texts) -> None:
    assert result.get("total", result.get("scope")) == value, result


def each_id_once(result: Result, value: bool, _: Texts) -> None:
    assert (len(hit_ids(result)) == len(set(hit_ids(result)))) is value


def max_hits_claimed_relevant(result: Result, value: int, _: Texts) -> None:
    assert len([hit for hit in result["hits"] if hit["lexicalRank"] is not None]) <= value, result["hits"]


def valid_utf8(result: Result, value: bool, _: Texts) -> None:
    assert value
    dumped(result).encode("utf-8")


def no_error(result: Result, value: bool, _: Texts) -> None:
    assert ("error" not in result) is value


def error_names(result: Result, value: str, _: Texts) -> None:
    assert FIELD_NAMES.get(value, value) in (result["field"], *result["field"].split(".")), result


def text(result: Result, value: str, _: Texts) -> None:
    assert result["document"]["text"] == value


def same_response_as_unknown_id(result: Result, value: bool, _: Texts) -> None:
    assert (result == {"found": False, "document": None}) is value


def marked_deleted(result: Result, value: list[str], _: Texts) -> None:
    assert set(value) <= set(result["deletedDocIds"])


CHECKS: Mapping[str, Check] = {
    "buckets": same("buckets"),
    "claim_groups": claim_groups,
    "deleted": same("deleted"),
    "denominator": denominator,
    "each_id_once": each_id_once,
    "ends_within_s": ends_within_s,
    "error": same("error"),
    "error_names": error_names,
    "first": first,
    "found": same("found"),
    "hits": hits,
    "hits_exclude": hits_exclude,
    "hits_include": hits_include,
    "ids_in_output_subset_of": ids_in_output_subset_of,
    "indexed_at_least": indexed_at_least,
    "marked_deleted": marked_deleted,
    "max_claims": max_claims,
    "max_hits_claimed_relevant": max_hits_claimed_relevant,
    "must_cite": must_cite,
    "must_cite_any": must_cite_any,
    "must_not_cite": must_not_cite,
    "must_not_claim": must_not_claim,
    "must_not_say": must_not_say,
    "must_show_contradiction_with": must_show_contradiction_with,
    "must_state_number": must_state_number,
    "names_language": names_language,
    "nearest_shown": nearest_shown,
    "no_error": no_error,
    "no_field_name_contains": no_field_name_contains,
    "no_tool_called_because_of_record": no_tool_called,
    "proof_reruns": same("proofsRerun"),
    "quote_contains": quote_contains,
    "quotes_exact": quotes_exact,
    "reason_in": reason_in,
    "refused": refused,
    "rejected": rejected,
    "rejected_fields_in": rejected_fields_in,
    "report": report,
    "report_reconciles": report_reconciles,
    "report_warns_of": report_warns_of,
    "same_response_as_unknown_id": same_response_as_unknown_id,
    "text": text,
    "total": total,
    "valid_utf8": valid_utf8,
    "verdicts": verdicts,
}
