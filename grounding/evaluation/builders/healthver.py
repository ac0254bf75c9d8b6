"""HealthVer (Sarrouti et al. 2021, Findings of EMNLP): health claims against passages of abstracts: supported, refuted, or neither."""

import csv
from collections.abc import Iterator
from pathlib import Path

from grounding.evaluation.builders.built import BuiltSet
from grounding.evaluation.builders.claims import JudgedClaim, claim_set

LABELS = {"Supports": "supported", "Refutes": "refuted", "Neutral": "neutral"}


def build(data: Path) -> BuiltSet:
    """Every pair of claim and passage."""
    return claim_set("healthver", "abstract", _claims(data / "healthver" / "data__healthver_dev.csv"))


def _claims(file: Path) -> Iterator[JudgedClaim]:
    with file.open(encoding="utf-8", newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines)):
            label = LABELS[row["label"]]
            yield JudgedClaim(f"{number:05}", row["claim"], row["evidence"], label, label == "supported")
