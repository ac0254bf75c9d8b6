"""Sets that come with the product. ``banking`` asks about the sample corpus; see ``README.md`` for how its cases were made."""

from importlib.resources import files

from grounding.evaluation.cases import EvalSet
from grounding.evaluation.gate import ScoreGate
from grounding.evaluation.gate_files import gate_from_text
from grounding.evaluation.set_files import parse_set

SHIPPED = ("banking",)


def shipped_set(name: str) -> EvalSet:
    """One of :data:`SHIPPED`."""
    return parse_set(_text(f"{name}.jsonl"), name)


def shipped_gate(name: str) -> ScoreGate:
    """The gate that belongs to it."""
    return gate_from_text(_text(f"{name}_gate.toml"), "toml")


def _text(file: str) -> str:
    return files(__name__).joinpath(file).read_text(encoding="utf-8")
