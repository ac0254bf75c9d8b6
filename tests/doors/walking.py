"""Everything that can be asked, read from the schema and the routes themselves, with arguments made from ids that somebody knows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLObjectType,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
)

MAX_LEVELS = 8
EACH = 2
"""Ids of one kind that are tried."""

KINDS: Mapping[str, str] = {
    **{
        name: name
        for name in (
            "docId accountId themeId batchId monitorId digestId jobId runId reportId scheduleId keyId letterId receiptId cursor source setName".split()
        )
    },
    "after": "cursor",
    "beforeId": "reportId",
    "afterId": "reportId",
    "baselineId": "reportId",
    "lastReportId": "reportId",
    "scheduleName": "setName",
}
"""Which kind of id a member or argument holds, by its name in camelCase and in the singular."""

PLAIN: Mapping[str, Any] = {
    "query": "declined card",
    "match": "declined",
    "question": "How many documents say that a card was declined?",
    "name": "of the caller",
    "text": "My card was declined.",
    "title": "A title",
    "language": "en",
    "url": "https://caller.example/1",
    "occurredAt": "2026-03-01T00:00:00Z",
    "since": "2020-01-01",
    "until": "2126-01-01",
    "timeZone": "UTC",
    "target": "https://caller.example/hook",
    "key": "team",
    "value": "a",
    "interval": "week",
    "of": "theme",
    "expiresAt": "2126-01-01T00:00:00Z",
    "windowStart": "2026-03-01T00:00:00Z",
    "fusion": "rrf",
    "direction": "either",
}
"""Texts that are no ids."""


@dataclass(slots=True)
class Known:
    """Ids by kind, in the order in which they were met."""

    of_kind: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    def learn(self, value: Any, name: str = "") -> None:
        """Take in every id of a JSON value."""
        if isinstance(value, Mapping):
            for key, item in value.items():
                self.learn(item, str(key))
        elif isinstance(value, list):
            for item in value:
                self.learn(item, name)
        elif isinstance(value, str) and (kind := kind_of(name)) and value:
            self.of_kind[kind][value] = None

    def some(self, kind: str) -> list[str]:
        """A few ids of that kind.

        Raises:
            LookupError: there are none, so that nothing could be tried.
        """
        found = list(self.of_kind.get(kind, ()))[:EACH]
        if not found:
            raise LookupError(f"nobody knows an id of kind {kind}")
        return found

    def all(self) -> set[str]:
        """Every id."""
        return {each for ids in self.of_kind.values() for each in ids}


def kind_of(name: str) -> str | None:
    """The kind of id that something of this name holds."""
    head, *rest = name.split("_")
    camel = head + "".join(part.title() for part in rest)
    return KINDS.get(camel) or KINDS.get(camel.removesuffix("s"))


def texts(name: str, known: Known) -> list[Any]:
    """What to try for a text of this name.

    Raises:
        LookupError: it is neither a known kind of id nor listed as plain.
    """
    kind = kind_of(name)
    if kind is not None:
        return list(known.some(kind))
    head, *rest = name.split("_")
    camel = head + "".join(part.title() for part in rest)
    if camel not in PLAIN:
        raise LookupError(f"nobody knows what to try for {name}")
    return [PLAIN[camel]]


def selection(kind: Any, level: int = 2, seen: tuple[str, ...] = ()) -> str:
    """Every field of a type, as deep as is allowed; a type is not entered again below itself."""
    named = get_named_type(kind)
    if not isinstance(named, GraphQLObjectType):
        return ""
    parts = []
    for name, item in named.fields.items():
        if any(is_required_argument(argument) for argument in item.args.values()):
            raise LookupError(f"{named.name}.{name} needs arguments")
        inner = get_named_type(item.type)
        if is_leaf_type(inner):
            parts.append(name)
        elif level < MAX_LEVELS and inner.name not in seen:
            below = selection(inner, level + 1, (*seen, named.name, inner.name))
            parts += [f"{name} {below}"] if below else []
    return f"{{ {' '.join(parts)} }}" if parts else ""


def calls(item: GraphQLField, known: Known) -> Iterator[dict[str, Any]]:
    """Arguments for a field: what must be there, and then each of the others beside it."""
    required = {name: argument for name, argument in item.args.items() if is_required_argument(argument)}
    for base in _together(required, known):
        yield base
        for name, argument in item.args.items():
            if name not in required:
                yield from (base | {name: value} for value in values(argument.type, name, known))


def values(kind: Any, name: str, known: Known) -> list[Any]:
    """What to try for an argument or a member of an input."""
    bare = get_nullable_type(kind)
    if isinstance(bare, GraphQLList):
        found = values(bare.of_type, name, known)
        return [found] if not isinstance(get_named_type(bare), GraphQLInputObjectType) else [[each] for each in found]
    if isinstance(bare, GraphQLEnumType):
        return [next(iter(bare.values))]
    if isinstance(bare, GraphQLInputObjectType):
        return list(_objects(bare, known))
    if bare.name in ("Int", "Float", "Version"):
        return [1]
    if bare.name == "Boolean":
        return [True]
    return [{"team": "a"}] if bare.name == "Attributes" else texts(name, known)


def _objects(kind: GraphQLInputObjectType, known: Known) -> Iterator[dict[str, Any]]:
    required = {name: item for name, item in kind.fields.items() if is_required_input_field(item)}
    for base in _together(required, known):
        yield base
        for name, item in kind.fields.items():
            if name not in required:
                yield from (base | {name: value} for value in values(item.type, name, known))


def _together(required: Mapping[str, GraphQLArgument | GraphQLInputField], known: Known) -> Iterator[dict[str, Any]]:
    tried = {name: values(item.type, name, known) for name, item in required.items()}
    for turn in range(max((len(each) for each in tried.values()), default=1)):
        yield {name: each[turn % len(each)] for name, each in tried.items()}


def query_text(operation: str, name: str, item: GraphQLField, given: Mapping[str, Any]) -> str:
    """The operation that asks for every field of one root field."""
    declared = ", ".join(f"${each}: {item.args[each].type}" for each in given)
    passed = ", ".join(f"{each}: ${each}" for each in given)
    head = f"{operation}({declared})" if given else operation
    return f"{head} {{ {name}{f'({passed})' if given else ''} {selection(item.type)} }}"


def json_calls(schema: Mapping[str, Any], known: Known) -> Iterator[dict[str, Any]]:
    """Arguments for a JSON schema of an object: what must be there, and then each of the others beside it."""
    definitions, needed = schema.get("$defs", {}), schema.get("required", [])
    members: Mapping[str, Any] = schema.get("properties", {})
    tried = {name: list(json_values(members[name], name, known, definitions)) for name in needed}
    for turn in range(max((len(each) for each in tried.values()), default=1)):
        base = {name: each[turn % len(each)] for name, each in tried.items()}
        yield base
        for name, member in members.items():
            if name not in needed:
                yield from (base | {name: value} for value in json_values(member, name, known, definitions))


def json_values(schema: Mapping[str, Any], name: str, known: Known, definitions: Mapping[str, Any]) -> Iterable[Any]:
    """What to try for a member."""
    if "$ref" in schema:
        return json_values(definitions[schema["$ref"].rsplit("/", 1)[-1]], name, known, definitions)
    if "anyOf" in schema:
        return json_values(next(each for each in schema["anyOf"] if each.get("type") != "null"), name, known, definitions)
    if "enum" in schema:
        return list(schema["enum"][:1])
    kind = schema.get("type", "any")
    if kind == "object":
        if "properties" not in schema:
            return [{"team": "a"}]
        return list(json_calls({**schema, "$defs": definitions}, known))
    if kind == "array":
        found = list(json_values(schema.get("items", {}), name, known, definitions))
        return [[each] for each in found]
    if kind == "any":
        return [{"docId": each, "source": "x", "text": PLAIN["text"], "occurredAt": PLAIN["occurredAt"]} for each in known.some("docId")]
    plain: Mapping[str, list[Any]] = {"integer": [1], "number": [1.0], "boolean": [True]}
    return plain.get(kind) or texts(name, known)
