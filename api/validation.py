"""What pydantic finds wrong with a request, in our words: the field, then the rule; never the value."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from runtime.errors import InvalidRequest

_WORDS = {
    "missing": "is required",
    "extra_forbidden": "is not a known field",
    "string_type": "must be a text",
    "string_unicode": "holds half a character (a lone surrogate)",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "finite_number": "must be a finite number",
}
MAX_SHOWN = 5


def invalid_request(error: ValidationError) -> InvalidRequest:
    """All problems in one error; its ``field`` is the first one's."""
    found = [(_name(detail["loc"]), _rule(detail)) for detail in error.errors(include_url=False, include_input=False)]
    first, others = found[0], found[1:MAX_SHOWN]
    more = "".join(f"; {name}: {rule}" if name else f"; {rule}" for name, rule in others)
    hidden = f"; and {len(found) - MAX_SHOWN} more" if len(found) > MAX_SHOWN else ""
    return InvalidRequest(first[1] + more + hidden, field=first[0])


def _name(location: Sequence[str | int]) -> str:
    return ".".join(str(part) for part in location if not _is_branch(part))


def _is_branch(part: str | int) -> bool:
    """Whether pydantic put the name of a union's branch into the location."""
    return isinstance(part, str) and ("[" in part or part in ("str", "int", "float", "bool"))


def _rule(detail: Mapping[str, Any]) -> str:
    known = _WORDS.get(detail["type"])
    if known:
        return known
    message = str(detail["msg"]).removeprefix("Value error, ").replace("Input should be", "must be").replace("String should", "must")
    return message[0].lower() + message[1:]
