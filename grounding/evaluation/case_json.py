"""One case as JSON, read with the name of every field that is wrong, and written back."""

from collections.abc import Mapping, Sequence
from typing import Any

from grounding.answers import RefusalReason
from grounding.evaluation.cases import Case, Expected
from runtime.errors import InvalidRequest
from search.documents import EVERYTHING, Filters
from search.filters import filters_of, zone_named

Json = dict[str, Any]

MAX_CHARS = 20_000
MAX_ITEMS = 5_000

_CASE = frozenset({"id", "question", "filters", "kind", "language", "difficulty", "timeZone", "expected", "note"})
_EXPECTED = frozenset({"answered", "reasons", "documents", "facts", "absent", "count", "series"})
_FILTERS = {
    "since": "since",
    "until": "until",
    "sources": "sources",
    "themeIds": "theme_ids",
    "accountIds": "account_ids",
    "docIds": "doc_ids",
    "ratingMin": "rating_min",
    "ratingMax": "rating_max",
    "attributes": "attributes",
}


def case_from_json(body: Any) -> Case:
    """The case that ``body`` describes. ``note`` is for people and is not read.

    Raises:
        InvalidRequest: on the first field that is wrong, such as ``expected.count``.
    """
    fields = _object(body, "", _CASE)
    zone = None if fields.get("timeZone") is None else zone_named(fields["timeZone"]).key
    return Case(
        case_id=_text(fields.get("id"), "id", 200),
        question=_question(fields.get("question")),
        expected=_expected(fields.get("expected")),
        filters=_filters(fields.get("filters"), zone or "UTC"),
        kind=_text(fields.get("kind", "fact"), "kind", 60),
        language=_text(fields.get("language", "en"), "language", 60),
        difficulty=_text(fields.get("difficulty", "medium"), "difficulty", 60),
        time_zone=zone,
    )


def case_as_json(case: Case) -> Json:
    """The inverse of :func:`case_from_json`: what sets no limit is left out."""
    body: Json = {
        "id": case.case_id,
        "question": case.question,
        "kind": case.kind,
        "language": case.language,
        "difficulty": case.difficulty,
    }
    filters = _filters_as_json(case.filters)
    if filters:
        body["filters"] = filters
    if case.time_zone is not None:
        body["timeZone"] = case.time_zone
    return body | {"expected": expected_as_json(case.expected)}


def expected_as_json(expected: Expected) -> Json:
    """What is expected, without what is not."""
    body: Json = {"answered": expected.answered}
    if expected.reasons:
        body["reasons"] = sorted(expected.reasons)
    for name in ("documents", "facts", "absent"):
        if values := getattr(expected, name):
            body[name] = list(values)
    if expected.count is not None:
        body["count"] = expected.count
    return body | ({"series": dict(expected.series)} if expected.series else {})


def _expected(body: Any) -> Expected:
    fields = _object(body, "expected", _EXPECTED)
    answered = fields.get("answered")
    if not isinstance(answered, bool):
        raise InvalidRequest("must be true or false", field="expected.answered")
    expected = Expected(
        answered=answered,
        reasons=frozenset(_reason(name) for name in _texts(fields, "reasons")),
        documents=tuple(dict.fromkeys(_texts(fields, "documents"))),
        facts=_texts(fields, "facts"),
        absent=_texts(fields, "absent"),
        count=None if fields.get("count") is None else _whole(fields["count"], "expected.count"),
        series=_series(fields.get("series")),
    )
    _consistent(expected)
    return expected


def _consistent(expected: Expected) -> None:
    if expected.answered and expected.reasons:
        raise InvalidRequest("is for refusals; this case expects an answer", field="expected.reasons")
    for name in ("facts", "documents", "series"):
        if not expected.answered and getattr(expected, name):
            raise InvalidRequest("is for answers; this case expects a refusal", field=f"expected.{name}")
    if not expected.answered and expected.count is not None:
        raise InvalidRequest("is for answers; this case expects a refusal", field="expected.count")


def _question(value: Any) -> str:
    """Any text, also an empty one: what is no question must be refused."""
    if not isinstance(value, str):
        raise InvalidRequest("must be a text", field="question")
    if len(value) > MAX_CHARS:
        raise InvalidRequest(f"has {len(value)} characters; at most {MAX_CHARS} are allowed", field="question")
    return value


def _filters(body: Any, zone: str) -> Filters:
    if body is None:
        return EVERYTHING
    fields = _object(body, "filters", frozenset(_FILTERS))
    try:
        return filters_of(**{_FILTERS[name]: value for name, value in fields.items() if value is not None}, time_zone=zone)
    except InvalidRequest as error:
        raise InvalidRequest(error.reason, field=f"filters.{error.field}") from error


def _filters_as_json(filters: Filters) -> Json:
    values: Json = {
        "since": filters.since and filters.since.isoformat(),
        "until": filters.before and _last_instant(filters),
        "sources": filters.sources,
        "themeIds": filters.theme_ids,
        "accountIds": filters.account_ids,
        "docIds": filters.doc_ids,
        "ratingMin": filters.rating_min,
        "ratingMax": filters.rating_max,
        "attributes": dict(filters.attributes) or None,
    }
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items() if value is not None}


def _last_instant(filters: Filters) -> str:
    from search.filters import TICK

    assert filters.before is not None
    return (filters.before - TICK).isoformat()


def _object(body: Any, where: str, known: frozenset[str]) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise InvalidRequest("must be an object", field=where)
    unknown = sorted(str(name) for name in body if name not in known)
    if unknown:
        raise InvalidRequest(f"is not known; known are {', '.join(sorted(known))}", field=f"{where}.{unknown[0]}" if where else unknown[0])
    return body


def _text(value: Any, where: str, longest: int) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidRequest("must be a text that is not empty", field=where)
    if len(value) > longest:
        raise InvalidRequest(f"has {len(value)} characters; at most {longest} are allowed", field=where)
    return value.strip()


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = fields.get(name)
    where = f"expected.{name}"
    if values is None:
        return ()
    if isinstance(values, str) or not isinstance(values, Sequence) or len(values) > MAX_ITEMS:
        raise InvalidRequest(f"must be a list of at most {MAX_ITEMS} texts", field=where)
    return tuple(_text(value, where, MAX_CHARS) for value in values)


def _reason(name: str) -> RefusalReason:
    try:
        return RefusalReason(name)
    except ValueError:
        raise InvalidRequest(f"{name!r} is none of {', '.join(RefusalReason)}", field="expected.reasons") from None


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidRequest("must be a whole number of at least 0", field=where)
    return value


def _series(body: Any) -> dict[str, int]:
    if body is None:
        return {}
    if not isinstance(body, Mapping):
        raise InvalidRequest("must be an object of numbers by bucket", field="expected.series")
    return {str(bucket): _whole(value, f"expected.series.{bucket}") for bucket, value in body.items()}
