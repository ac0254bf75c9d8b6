"""ExpertQA (Malaviya et al. 2024, arXiv 2309.07852): claims of answer engines with the evidence those cited, judged by experts.

The head ``[n] URL`` of each evidence and the marks ``[n]`` in claims are cut. Bare addresses (under 80 characters) are no evidence. ``Missing`` and ``N/A`` are
not asked: they have none.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grounding.evaluation.builders.built import BuiltSet
from grounding.evaluation.builders.claims import JudgedClaim, claim_set

LABELS = {"Complete": "complete", "Partial": "partial", "Incomplete": "incomplete"}
LEAST_CHARS = 80
_HEAD = re.compile(r"^\[\d+\]\s*\S+\s*")
_MARKS = re.compile(r"\s*\[\d+\]")


def build(data: Path) -> BuiltSet:
    """Every judged claim over its own evidence."""
    return claim_set("expertqa", "web", _claims(data / "expertqa" / "data__lfqa__rand_val.jsonl"))


def _claims(file: Path) -> Iterator[JudgedClaim]:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(line for line in lines if line.strip()):
            for system, answer in sorted(json.loads(line)["answers"].items()):
                yield from _of_answer(f"{number:03}-{system}", answer["claims"])


def _of_answer(prefix: str, claims: list[dict[str, Any]]) -> Iterator[JudgedClaim]:
    for place, claim in enumerate(claims):
        evidence = "\n\n".join(_HEAD.sub("", text) for text in claim["evidence"])
        label = LABELS.get(str(claim["support"]))
        if label and len(evidence) >= LEAST_CHARS:
            said = _MARKS.sub("", claim["claim_string"]).strip()
            yield JudgedClaim(f"{prefix}-{place:02}", said, evidence, label, label == "complete")
