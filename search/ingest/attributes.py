"""Everything a document says beyond the known fields: flat, bounded, never dropped in silence."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from runtime.errors import InvalidRequest
from search.documents import Scalar
from search.ingest.cleaning import cleaned, has_control, one_line, shown

FIELD = "attributes"
MAX_ATTRIBUTES = 100
MAX_NAME_CHARS = 200
MAX_VALUE_BYTES = 8_000
_MAX_DEPTH = 20
_LARGEST_INTEGER = 2**63 - 1

LEFT_OUT = f"is longer than {MAX_VALUE_BYTES} bytes and was left out"
AS_JSON = "holds a list or an object; it was kept as JSON text"


@dataclass(slots=True)
class Attributes:
    """The attributes of one document while they are gathered. ``notes`` pairs a column with what was done to it."""

    values: dict[str, Scalar] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)


def gathered(given: object, columns: Mapping[str, object]) -> Attributes:
    """The document's ``attributes`` together with its ``columns`` that are no field of a document.

    Given attributes hold text, numbers, true or false; a list is kept as JSON text; objects inside are refused. A column may hold anything: lists
    and objects are kept as JSON text, and what is too long is left out and noted. Absent values (null, blank) are no attributes.

    Raises:
        InvalidRequest: on ``attributes``.
    """
    found = Attributes()
    for key, value in _entries(given):
        if isinstance(value, Mapping):
            raise InvalidRequest(f"{shown(key)} holds an object; attributes are flat", field=FIELD)
        _keep(found, key, value, lenient=False)
    for key, value in columns.items():
        _keep(found, key, value, lenient=True)
    if len(found.values) > MAX_ATTRIBUTES:
        raise InvalidRequest(f"has {len(found.values)} entries; at most {MAX_ATTRIBUTES} are kept", field=FIELD)
    return found


def _entries(given: object) -> Iterable[tuple[object, object]]:
    if given is None or given == "":
        return ()
    if isinstance(given, str):
        given = _from_json(given)
    if isinstance(given, Mapping):
        return given.items()
    raise InvalidRequest(f"{shown(given)} is not an object of names and values", field=FIELD)


def _from_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("is text that is not a JSON object", field=FIELD) from error


def _keep(found: Attributes, key: object, value: object, *, lenient: bool) -> None:
    label = _label(key)
    kept = _scalar(found, label, value)
    if kept is None:
        return
    if isinstance(kept, str) and len(kept.encode()) > MAX_VALUE_BYTES:
        if not lenient:
            raise InvalidRequest(f"{shown(label)} is longer than {MAX_VALUE_BYTES} bytes", field=FIELD)
        found.notes.append((label, LEFT_OUT))
        return
    if found.values.setdefault(label, kept) != kept:
        raise InvalidRequest(f"{shown(label)} is given twice with different values", field=FIELD)


def _label(key: object) -> str:
    label = one_line(key).text if isinstance(key, str) else ""
    if not label or len(label) > MAX_NAME_CHARS or has_control(label):
        raise InvalidRequest(f"{shown(key)} is not a name of 1 to {MAX_NAME_CHARS} characters", field=FIELD)
    return label


def _scalar(found: Attributes, label: str, value: object) -> Scalar | None:
    if isinstance(value, str):
        storable = cleaned(value)
        found.notes += [(label, change) for change in storable.changes]
        return storable.text or None
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _integer(label, value)
    if isinstance(value, float):
        return _finite(label, value)
    if isinstance(value, Mapping | list | tuple):
        found.notes.append((label, AS_JSON))
        return _as_json(label, value)
    raise InvalidRequest(f"{shown(label)} is neither text, a number, true nor false", field=FIELD)


def _integer(label: str, value: int) -> int:
    if abs(value) > _LARGEST_INTEGER:
        raise InvalidRequest(f"{shown(label)} is a number beyond 64 bits; send it as text", field=FIELD)
    return value


def _finite(label: str, value: float) -> float:
    if not math.isfinite(value):
        raise InvalidRequest(f"{shown(label)} is not a finite number", field=FIELD)
    return value


def _as_json(label: str, value: object) -> str:
    if any(depth > _MAX_DEPTH for depth in _depths(value)):
        raise InvalidRequest(f"{shown(label)} is nested more than {_MAX_DEPTH} levels deep", field=FIELD)
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InvalidRequest(f"{shown(label)} holds something that JSON cannot", field=FIELD) from error
    return cleaned(text).text


def _depths(value: object) -> Iterator[int]:
    """The depth of every list and object inside ``value``, without recursion."""
    waiting = [(value, 1)]
    while waiting:
        inside, depth = waiting.pop()
        yield depth
        members = inside.values() if isinstance(inside, Mapping) else inside
        assert isinstance(members, Iterable)
        waiting += [(member, depth + 1) for member in members if isinstance(member, Mapping | list | tuple)]
