"""Frozen dataclasses and named tuples as plain JSON values and back, where "back" takes nothing that is not exactly of the type it should be."""

import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from math import isfinite
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
Read = Callable[[Any], Any]


def as_json(value: Any) -> Any:
    """``value`` as lists, mappings and scalars. Fields that are left out of comparisons are left out.

    Raises:
        TypeError: something in it has no JSON of its own.
    """
    if isinstance(value, Enum):
        return value.value
    if value is None or type(value) in (str, int, float, bool):
        return value
    if _is_record(type(value)):
        return {name: as_json(getattr(value, name)) for name in _names(cast("Hashable", type(value)))}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    raise TypeError(f"a {type(value).__name__} has no JSON of its own")


def from_json(kind: type[T], body: Any) -> T:
    """The value of type ``kind`` whose JSON ``body`` is.

    Raises:
        ValueError: it is the JSON of something else.
    """
    return cast("T", _reader(cast("Hashable", kind))(body))


@cache
def _reader(kind: Any) -> Read:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _any_of([_reader(each) for each in arguments])
    if origin is Literal:
        return _one_of(arguments)
    if origin is tuple:
        return _all(_reader(arguments[0])) if arguments[-1] is ... else _each([_reader(argument) for argument in arguments])
    if origin is not None and issubclass(origin, Mapping):
        return _by_name(_reader(arguments[1]))
    if kind in _SCALARS:
        return _SCALARS[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    if isinstance(kind, type) and _is_record(kind):
        return lambda body: _record(kind, body)  # its fields are looked up late: a type may hold itself
    raise TypeError(f"{kind} cannot be read strictly")


def _record(kind: type, body: Any) -> Any:
    readers = _fields_of(kind)
    if not isinstance(body, dict) or body.keys() != readers.keys():
        raise ValueError(f"not a {kind.__name__}")
    return kind(**{name: reader(body[name]) for name, reader in readers.items()})


@cache
def _fields_of(kind: Any) -> Mapping[str, Read]:
    hints = get_type_hints(kind)
    return {name: _reader(hints[name]) for name in _names(kind)}


def _is_record(kind: type) -> bool:
    return is_dataclass(kind) or hasattr(kind, "_fields")


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind) if each.compare) if is_dataclass(kind) else kind._fields


def _any_of(readers: Sequence[Read]) -> Read:
    def read(body: Any) -> Any:
        for reader in readers:
            try:
                return reader(body)
            except ValueError:
                continue
        raise ValueError("of none of the types it may have")

    return read


def _one_of(values: Sequence[Any]) -> Read:
    def read(body: Any) -> Any:
        if not any(body == value and type(body) is type(value) for value in values):
            raise ValueError("not one of the values it may have")
        return body

    return read


def _all(reader: Read) -> Read:
    return lambda body: tuple(reader(item) for item in _list(body))


def _each(readers: Sequence[Read]) -> Read:
    return lambda body: tuple(reader(item) for reader, item in zip(readers, _list(body), strict=True))


def _by_name(reader: Read) -> Read:
    def read(body: Any) -> Any:
        if not isinstance(body, dict):
            raise ValueError("not an object")  # noqa: TRY004 (what is read is wrong, not the call)
        return {key: reader(item) for key, item in body.items()}

    return read


def _list(body: Any) -> list[Any]:
    if not isinstance(body, list):
        raise ValueError("not a list")  # noqa: TRY004
    return body


def _exactly(kind: type) -> Read:
    def read(body: Any) -> Any:
        if type(body) is not kind:
            raise ValueError(f"not a {kind.__name__}")
        return body

    return read


def _number(body: Any) -> Any:
    if type(body) not in (int, float) or not isfinite(body):
        raise ValueError("not a finite number")
    return body


def _moment(body: Any) -> datetime:
    found = datetime.fromisoformat(_exactly(str)(body))
    if found.tzinfo is None:
        raise ValueError("a time without an offset")
    return found.astimezone(UTC)


_SCALARS: Mapping[Any, Read] = {
    str: _exactly(str),
    int: _exactly(int),
    bool: _exactly(bool),
    type(None): _exactly(type(None)),
    float: _number,
    datetime: _moment,
    Any: lambda body: body,
}
