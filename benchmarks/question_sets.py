"""Public sets of questions with the passage they are asked of, and of questions in and out of a scope; the traps of each are handled here."""

import csv
import json
import random
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SUFFIX = re.compile(r"\s*ANSWERNOTFOUND\s*$")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question beside a passage, and whether the passage answers it; questions of one ``group`` never straddle folds."""

    question: str
    passage: str
    answered: bool
    group: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Lines that define a scope, and questions in (True) and out of it, to choose a threshold on and to judge it on."""

    known: tuple[str, ...]
    chosen: tuple[tuple[str, bool], ...]
    judged: tuple[tuple[str, bool], ...]


def squad_answerable(folder: Path) -> list[Asked]:
    """Every question with its own paragraph; half were made impossible on purpose. Folds by article."""
    return [
        Asked(row["question"].strip(), paragraph["context"], not row["is_impossible"], article["title"])
        for article in _squad(folder)
        for paragraph in article["paragraphs"]
        for row in paragraph["qas"]
    ]


def squad_topic(folder: Path, count: int = 1_500) -> list[Asked]:
    """Questions with a paragraph of their own article (about it, answered or not) and of another one (off topic), in equal numbers."""
    generator = random.Random(0)
    rows = squad_answerable(folder)
    passages: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        passages[row.group].append(row.passage)
    sampled = generator.sample(rows, count)
    others = [generator.choice(passages[generator.choice(sorted(passages.keys() - {row.group}))]) for row in sampled]
    own = [Asked(row.question, row.passage, answered=True, group=row.group) for row in sampled]
    return own + [Asked(row.question, other, answered=False, group=row.group) for row, other in zip(sampled, others, strict=True)]


def _squad(folder: Path) -> list[Any]:
    articles: list[Any] = json.loads((folder / "squad2" / "data__dev-v2.0.json").read_text("utf-8"))["data"]
    return articles


def subjqa_unanimous(folder: Path, domain: str) -> list[Asked]:
    """Pairs of question and review on which both judges agree, train and dev together; folds by item. The literal mark at the end of every review is cut."""
    verdicts: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for split in ("train", "dev"):
        with (folder / "subjqa" / f"SubjQA__{domain}__splits__{split}.csv").open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                key = (row["question"], _SUFFIX.sub("", row["review"]), row["item_id"])
                verdicts[key].append(row["human_ans_spans"] != "ANSWERNOTFOUND")
    agreed = {key: judged for key, judged in verdicts.items() if len(judged) > 1 and len(set(judged)) == 1}
    return [Asked(question, review, judged[0], item) for (question, review, item), judged in sorted(agreed.items())]


def clinc(folder: Path) -> Scope:
    """The training lines of 150 intents make the scope; the threshold is chosen on ``val`` and judged on ``test``, each with its out-of-scope lines."""
    rows = json.loads((folder / "clinc150" / "data__data_full.json").read_text("utf-8"))
    known = tuple(text for text, _ in rows["train"])
    chosen = [(text, True) for text, _ in rows["val"]] + [(text, False) for text, _ in rows["oos_val"]]
    judged = [(text, True) for text, _ in rows["test"]] + [(text, False) for text, _ in rows["oos_test"]]
    return Scope(known, tuple(chosen), tuple(judged))
