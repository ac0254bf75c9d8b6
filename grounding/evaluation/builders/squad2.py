"""SQuAD 2.0 (Rajpurkar et al. 2018, arXiv 1806.03822): every question over its own paragraph. Half were made impossible on purpose and must be refused.

An answer is right when it holds one of the gold spans. ``plausible_answers`` are traps: an impossible question has no gold.
"""

import json
from pathlib import Path

from grounding.answers import RefusalReason
from grounding.evaluation.builders.built import BuiltSet, document
from grounding.evaluation.cases import Case, Expected
from search.documents import Filters

REASONS = frozenset({RefusalReason.NOT_ANSWERED, RefusalReason.UNSUPPORTED, RefusalReason.OFF_TOPIC})


def build(data: Path) -> BuiltSet:
    """All paragraphs, and every question filtered to its own."""
    articles = json.loads((data / "squad2" / "data__dev-v2.0.json").read_text("utf-8"))["data"]
    documents, cases, needs = {}, [], {}
    for article in articles:
        for number, paragraph in enumerate(article["paragraphs"]):
            doc_id = f"squad-{article['title'].lower().replace(' ', '_')}-{number:03}"
            documents[doc_id] = document(doc_id, paragraph["context"], "article", themeId=article["title"])
            for row in paragraph["qas"]:
                expected = _expected(doc_id, row["is_impossible"], [answer["text"] for answer in row["answers"]])
                kind = "impossible" if row["is_impossible"] else "answerable"
                cases.append(Case(row["id"], row["question"].strip(), expected, Filters(doc_ids=(doc_id,)), kind=kind))
                needs[row["id"]] = (doc_id,)
    return BuiltSet(documents, tuple(cases), needs)


def _expected(doc_id: str, impossible: bool, answers: list[str]) -> Expected:  # noqa: FBT001 (a column of the data)
    if impossible:
        return Expected(answered=False, reasons=REASONS)
    spans = [answer.replace("|", " ") for answer in dict.fromkeys(answers) if answer.strip()]
    return Expected(answered=True, documents=(doc_id,), facts=("|".join(spans),) if spans else ())
