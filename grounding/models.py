"""The language models of a service, each in its role; none is needed."""

from dataclasses import dataclass

from grounding.ports import Drafter, Judge, Planner


@dataclass(frozen=True, slots=True)
class Models:
    """A role without a model is done by the rules, or not at all. ``writer`` drafts first; the drafter without a model stands behind it."""

    planner: Planner | None = None
    writer: Drafter | None = None
    judge: Judge | None = None


NO_MODELS = Models()
