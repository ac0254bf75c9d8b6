"""JSON is read back as exactly the type it was written from, or not at all."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from grounding.answers import Answer, Claim, ClaimKind, Proof
from search.caching.strict import as_json, from_json
from search.documents import EVERYTHING, Filters, Passage, Source
from search.ranking import Bucket, Buckets, Candidate

PROOF = Proof(
    "documents", Filters(since=datetime(2026, 1, 1, tzinfo=UTC), attributes=(("plan", True),)), "lift", "UTC", 1, 2, ("d",), None, 7
)
CLAIM = Claim(
    "It is so.", ClaimKind.COUNT, 1.0, (), proof=Proof("week", EVERYTHING, None, "UTC", 3, 3, (), "all.x", 7, None, (("w", 3),), PROOF)
)
CANDIDATE = Candidate(
    Passage("d#0", "d", 0, 0, 2, "ab"),
    Source("mail"),
    datetime(2026, 1, 1, 0, 0, 0, 5000, tzinfo=UTC),
    "g",
    1,
    attributes={"a": 1, "b": 1.0, "c": "1", "d": True},
)
BUCKETS = Buckets((Bucket("k", 2, ("a", "b")),), 2, 3, 0, 9)


@pytest.mark.parametrize("value", [CLAIM, CANDIDATE, BUCKETS, Answer("t", (CLAIM,), "m")], ids=lambda value: type(value).__name__)
def test_what_is_written_is_read_as_it_was(value: Any) -> None:
    read = from_json(type(value), json.loads(json.dumps(as_json(value))))
    assert read == value
    assert repr(read) == repr(value)


WRONG: tuple[Any, ...] = (
    None, 1, 1.5, "text", True, [], {}, [[]], {"buckets": []}, [as_json(BUCKETS)],
    as_json(CLAIM),
    as_json(BUCKETS) | {"total": "2"},
    as_json(BUCKETS) | {"total": True},
    as_json(BUCKETS) | {"total": 2.0},
    as_json(BUCKETS) | {"total": None},
    as_json(BUCKETS) | {"buckets": {}},
    as_json(BUCKETS) | {"buckets": [["k", 2, ["a"]]]},
    as_json(BUCKETS) | {"buckets": [{"key": "k", "count": 2, "doc_ids": "ab"}]},
    as_json(BUCKETS) | {"buckets": [{"key": "k", "count": 2, "doc_ids": [1]}]},
    as_json(BUCKETS) | {"more": 1},
)  # fmt: skip


@pytest.mark.parametrize("body", WRONG, ids=repr)
def test_another_type_is_refused(body: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(Buckets, body)


@pytest.mark.parametrize(
    ("name", "lie"),
    [
        ("kind", "SONG"),
        ("support", float("nan")),
        ("support", "1"),
        ("support", True),
        ("citations", None),
        ("document_count", 1.5),
        ("proof", 0),
    ],
)
def test_a_field_of_another_type_is_refused(name: str, lie: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(Claim, as_json(CLAIM) | {name: lie})


@pytest.mark.parametrize("moment", ["2026-01-01T00:00:00", "yesterday", 1, None])
def test_a_time_without_an_offset_is_none(moment: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(datetime, moment)


def test_what_has_no_json_of_its_own_is_not_written() -> None:
    for value in (b"bytes", {1: "number as a name"}, {"set": {1}}, object()):
        with pytest.raises(TypeError):
            as_json(value)
