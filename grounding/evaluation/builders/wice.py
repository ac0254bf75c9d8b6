"""WiCE (Kamoi et al. 2023, arXiv 2303.01432): claims of Wikipedia against the page they cite. Only fully supported ones count as supported."""

import json
from collections.abc import Iterator
from pathlib import Path

from grounding.evaluation.builders.built import BuiltSet
from grounding.evaluation.builders.claims import JudgedClaim, claim_set


def build(data: Path) -> BuiltSet:
    """Every claim of ``dev`` over the sentences of its page; blank ones are left out."""
    return claim_set("wice", "page", _claims(data / "wice" / "data__entailment_retrieval__claim__dev.jsonl"))


def _claims(file: Path) -> Iterator[JudgedClaim]:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(line for line in lines if line.strip()):
            row = json.loads(line)
            evidence = "\n".join(sentence for sentence in row["evidence"] if sentence.strip())
            yield JudgedClaim(f"{number:04}", row["claim"], evidence, row["label"], row["label"] == "supported")
