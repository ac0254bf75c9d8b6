"""SubjQA (Bjerva et al. 2020, arXiv 2004.14283): questions on one real review, with an answer span or none.

Only pairs on which both judges agree are asked, as one judge predicts the other no better than .65; train and dev are pooled, for they overlap.
Every review ends with a literal mark that gives the answer away: it is cut. Spans are tokenised (``it 's``); facts are compared without spaces.
"""

import csv
import hashlib
import re
from collections import defaultdict
from pathlib import Path

from grounding.answers import RefusalReason
from grounding.evaluation.builders.built import BuiltSet, document
from grounding.evaluation.cases import Case, Expected
from search.documents import Filters

DOMAINS = ("electronics", "restaurants")
NO_ANSWER = "ANSWERNOTFOUND"
REASONS = frozenset({RefusalReason.NOT_ANSWERED, RefusalReason.UNSUPPORTED, RefusalReason.OFF_TOPIC})
_MARK = re.compile(r"\s*ANSWERNOTFOUND\s*$")
_Pair = tuple[str, str, str]


def build(data: Path) -> BuiltSet:
    """One review a document; every question filtered to its review."""
    documents, cases, needs = {}, [], {}
    for domain in DOMAINS:
        for (question, review, item), spans in sorted(_judged(data, domain).items()):
            answered = [span for span in spans if span != NO_ANSWER]
            if len(spans) < 2 or 0 < len(answered) < len(spans):
                continue
            doc_id = f"{domain}-{_digest(review)}"
            documents[doc_id] = document(doc_id, review, "review", accountId=item, themeId=domain)
            case_id = f"{doc_id}-{_digest(question)}"
            cases.append(Case(case_id, question, _expected(doc_id, answered), Filters(doc_ids=(doc_id,)), kind=domain))
            needs[case_id] = (doc_id,)
    return BuiltSet(documents, tuple(cases), needs)


def _judged(data: Path, domain: str) -> dict[_Pair, list[str]]:
    """The spans that judges marked, by question, review and item."""
    found: dict[_Pair, list[str]] = defaultdict(list)
    for split in ("train", "dev"):
        with (data / "subjqa" / f"SubjQA__{domain}__splits__{split}.csv").open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                found[row["question"], _MARK.sub("", row["review"]), row["item_id"]].append(row["human_ans_spans"])
    return found


def _expected(doc_id: str, spans: list[str]) -> Expected:
    if not spans:
        return Expected(answered=False, reasons=REASONS)
    return Expected(answered=True, documents=(doc_id,), facts=("|".join(span.replace("|", " ") for span in dict.fromkeys(spans)),))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]
