"""CLINC150 (Larson et al. 2019, EMNLP): short commands of 150 intents, and lines out of scope that must be refused as off topic.

Training lines are the documents, with the intent as theme. In-scope questions are those of ``test``; the documents of their intent are what answers.
"""

import json
from collections import defaultdict
from pathlib import Path

from grounding.answers import RefusalReason
from grounding.evaluation.builders.built import BuiltSet, document
from grounding.evaluation.cases import Case, Expected

OUT = Expected(answered=False, reasons=frozenset({RefusalReason.OFF_TOPIC, RefusalReason.NOT_ANSWERED}))


def build(data: Path) -> BuiltSet:
    """All training lines; every test line in and out of scope."""
    rows = json.loads((data / "clinc150" / "data__data_full.json").read_text("utf-8"))
    documents, by_intent = {}, defaultdict(list)
    for number, (text, intent) in enumerate(rows["train"]):
        doc_id = f"clinc-{number:05}"
        documents[doc_id] = document(doc_id, text, "command", themeId=intent)
        by_intent[intent].append(doc_id)
    inside = [
        Case(
            f"in-{number:05}",
            f"What do people say about: {text}",
            Expected(answered=True, documents=tuple(by_intent[intent])),
            kind="in_scope",
        )
        for number, (text, intent) in enumerate(rows["test"])
    ]
    outside = [
        Case(f"out-{number:05}", f"What do people say about: {text}", OUT, kind="out_of_scope")
        for number, (text, _) in enumerate(rows["oos_test"])
    ]
    return BuiltSet(documents, tuple(inside + outside))
