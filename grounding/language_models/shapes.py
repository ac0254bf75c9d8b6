"""What a language model must answer with: one JSON object of a known shape, or it has not answered."""

from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["evidence", "count", "top", "trend", "compare", "account"]


class Shape(BaseModel):
    """A shape; members nobody asked for are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class WrittenClaim(Shape):
    """One sentence and the labels of the passages that are said to carry it."""

    text: str
    cites: list[str]


class WrittenDraft(Shape):
    """What a drafter writes."""

    claims: list[WrittenClaim]


class WishedPart(Shape):
    """How a planner reads one part."""

    kind: Kind
    search: str


class WishedPlan(Shape):
    """What a planner wishes, part by part."""

    parts: list[WishedPart]


class Opinion(Shape):
    """Whether a claim, counted from 1, is supported by its quotations."""

    claim: int = Field(ge=1)
    supported: bool


class Opinions(Shape):
    """What a judge thinks."""

    verdicts: list[Opinion]


S = TypeVar("S", bound=Shape)


def schema_of(shape: type[Shape]) -> dict[str, Any]:
    """The JSON schema of ``shape`` as strict servers want it: nothing beside what is named."""
    closed: dict[str, Any] = _closed(shape.model_json_schema())
    return closed


def _closed(node: Any) -> Any:
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    inner = {key: _closed(value) for key, value in node.items() if key not in ("title", "description", "minimum")}
    return inner | {"additionalProperties": False} if node.get("type") == "object" else inner
