"""How well a span bears out a claim, in 0..1, from features alone. A learned cross-encoder would add its logits to the features here."""

import functools
import importlib.resources
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from grounding.matching import Overlap


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic model with named features; ``benchmarks/verifier.py`` writes its file."""

    weights: Mapping[str, float]
    bias: float

    @classmethod
    def shipped(cls, name: str) -> "Logistic":
        """The weights that come with the package under ``grounding/NAME``."""
        stored = json.loads(importlib.resources.files("grounding").joinpath(name).read_text("utf-8"))
        return cls(dict(zip(stored["features"], stored["weights"], strict=True)), stored["bias"])

    def probability(self, features: Mapping[str, float]) -> float:
        """In 0..1. A feature the model does not know is ignored; one it knows must be there."""
        return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, self.bias + sum(self.weights[name] * features[name] for name in self.weights)))))


@functools.cache
def support_model() -> Logistic:
    """The model of :func:`support`."""
    return Logistic.shipped("support.json")


def features(found: Overlap, clause: float, cosine: float) -> dict[str, float]:
    """``clause`` is the recall of the claim's worst clause, ``cosine`` between claim and span. All in 0..1 but cosine in -1..1."""
    return {
        "recall": found.recall,
        "clause": clause,
        "pairs": found.pairs,
        "order": found.order,
        "cosine": cosine,
        "missing": found.missing,
    }


def support(found: Overlap, clause: float, cosine: float) -> float:
    """Probability that the span bears the claim out, before vetoes."""
    return support_model().probability(features(found, clause, cosine))
