"""How well a document bears out a claim, in 0..1, from named features alone. A learned cross-encoder would add its logits to the features here."""

import functools
import importlib.resources
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic model with named features; the benchmark that calibrates it writes its file."""

    weights: Mapping[str, float]
    bias: float

    @classmethod
    def shipped(cls, name: str) -> "Logistic":
        """The weights that come with the package under ``grounding/NAME``."""
        stored = json.loads(importlib.resources.files("grounding").joinpath(name).read_text("utf-8"))
        return cls(stored["weights"], stored["bias"])

    def logit(self, features: Mapping[str, float]) -> float:
        """A feature the model does not know is ignored; one it knows must be there."""
        return self.bias + sum(weight * features[name] for name, weight in self.weights.items())

    def probability(self, features: Mapping[str, float]) -> float:
        """The logit in 0..1."""
        return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, self.logit(features)))))


@functools.cache
def support_model() -> Logistic:
    """The model of :func:`support`; ``benchmarks/verifier.py --write`` makes it."""
    return Logistic.shipped("support.json")


def support(features: Mapping[str, float]) -> float:
    """Probability that the claim is borne out, before vetoes; features as of ``grounding.bearing``."""
    return support_model().probability(features)
