"""The GraphQL schema: the files are the source of truth, everything is described, every field is reachable."""

from collections.abc import Iterator

import httpx
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLObjectType,
    build_client_schema,
    build_schema,
    get_introspection_query,
    print_schema,
)
from graphql.type import specified_scalar_types

from api.graphql_schema import SCHEMA_FOLDER, executable_schema


def _committed() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(SCHEMA_FOLDER.glob("*.graphql")))


def test_what_is_served_is_what_is_committed(http: httpx.Client) -> None:
    served = build_client_schema(http.post("/graphql", json={"query": get_introspection_query()}).json()["data"])
    assert print_schema(served) == print_schema(build_schema(_committed()))


def test_every_type_field_argument_and_value_has_a_description() -> None:
    assert [name for name, described in _described() if not described] == []


def test_every_field_of_the_roots_has_a_resolver() -> None:
    schema = executable_schema()
    assert schema.query_type is not None
    assert schema.mutation_type is not None
    fields = {**schema.query_type.fields, **schema.mutation_type.fields}
    assert [name for name, field in fields.items() if field.resolve is None] == []


def test_arguments_with_a_default_are_not_nullable_so_that_null_never_reaches_the_core() -> None:
    schema = executable_schema()
    assert schema.query_type is not None
    arguments = [(field, name, arg) for field, item in schema.query_type.fields.items() for name, arg in item.args.items()]
    assert [f"{field}.{name}" for field, name, arg in arguments if arg.default is not None and not str(arg.type).endswith("!")] == []


def _described() -> Iterator[tuple[str, str | None]]:
    for kind in executable_schema().type_map.values():
        if kind.name.startswith("__") or kind.name in specified_scalar_types:
            continue
        yield kind.name, kind.description
        if isinstance(kind, GraphQLEnumType):
            yield from ((f"{kind.name}.{name}", value.description) for name, value in kind.values.items())
        if isinstance(kind, GraphQLInputObjectType | GraphQLObjectType):
            yield from ((f"{kind.name}.{name}", field.description) for name, field in kind.fields.items())
        if isinstance(kind, GraphQLObjectType):
            yield from (
                (f"{kind.name}.{name}({arg})", item.description) for name, field in kind.fields.items() for arg, item in field.args.items()
            )
