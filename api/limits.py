"""What a GraphQL document may cost, measured on its syntax before anything is validated or run."""

from collections.abc import Iterable
from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
)

MAX_QUERY_CHARS = 262_144
MAX_TOKENS = 1000
MAX_DEPTH = 8
MAX_ALIASES = 15
MAX_DIRECTIVES = 50
MAX_ROOT_FIELDS = 10
MAX_REPORTED_ERRORS = 5


@dataclass(frozen=True, slots=True)
class Cost:
    """What a selection asks for, fragments included: levels of nesting, aliases, directives and fields at its top."""

    depth: int = 0
    aliases: int = 0
    directives: int = 0
    top_fields: int = 0

    def beside(self, other: "Cost") -> "Cost":
        """The cost of both next to each other."""
        return Cost(
            max(self.depth, other.depth),
            self.aliases + other.aliases,
            self.directives + other.directives,
            self.top_fields + other.top_fields,
        )


def over_limits(document: DocumentNode) -> list[GraphQLError]:
    """One error for every limit that an operation of the document exceeds."""
    measure = _Measure(document)
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    return [error for operation in operations for error in _exceeded(measure.operation(operation), operation)]


def _exceeded(cost: Cost, operation: OperationDefinitionNode) -> Iterable[GraphQLError]:
    found = {
        "levels of nesting": (cost.depth, MAX_DEPTH),
        "aliases": (cost.aliases, MAX_ALIASES),
        "directives": (cost.directives, MAX_DIRECTIVES),
        "root fields": (cost.top_fields, MAX_ROOT_FIELDS),
    }
    for what, (count, limit) in found.items():
        if count > limit:
            yield GraphQLError(f"The operation has {count} {what}; at most {limit} are allowed.", operation)


class _Measure:
    """Measures selections; every fragment once, however often it is spread. Cycles end here and are reported by validation."""

    def __init__(self, document: DocumentNode) -> None:
        self._fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
        self._known: dict[str, Cost] = {}
        self._open: set[str] = set()

    def operation(self, node: OperationDefinitionNode) -> Cost:
        """The cost of an operation with everything it spreads."""
        return self._selections(node.selection_set).beside(Cost(directives=len(node.directives or ())))

    def _selections(self, selections: SelectionSetNode | None) -> Cost:
        total = Cost()
        for node in selections.selections if selections else ():
            total = total.beside(self._selection(node)).beside(Cost(directives=len(node.directives or ())))
        return total

    def _selection(self, node: SelectionNode) -> Cost:
        if isinstance(node, FieldNode):
            return self._field(node)
        if isinstance(node, InlineFragmentNode):
            return self._selections(node.selection_set)
        assert isinstance(node, FragmentSpreadNode)
        return self._spread(node.name.value)

    def _field(self, node: FieldNode) -> Cost:
        inside = self._selections(node.selection_set)
        # Introspection nests deeper than any question and reads nothing; validation has a rule of its own for it.
        depth = 0 if node.name.value.startswith("__") else inside.depth + 1
        return Cost(depth, inside.aliases + (node.alias is not None), inside.directives, 1)

    def _spread(self, name: str) -> Cost:
        if name in self._open or name not in self._fragments:
            return Cost()
        if name not in self._known:
            self._open.add(name)
            self._known[name] = self._selections(self._fragments[name].selection_set)
            self._open.discard(name)
        return self._known[name]
