"""Public corpora whose questions come with judgements: Cranfield (nDCG@10) and BANKING77 (same intent among the first ten)."""

import csv
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from search.documents import Document, Source

_DAY = datetime(2026, 1, 1, tzinfo=UTC)
CUT = 10


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question; ``relevant`` are the right documents, ``ignored`` are taken out of a ranking before it is scored."""

    text: str
    relevant: frozenset[str]
    ignored: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class JudgedCorpus:
    """Documents, questions, and the measure that is customary for them, in 0..1."""

    name: str
    measure_name: str
    documents: tuple[Document, ...]
    questions: tuple[JudgedQuestion, ...]
    measure: Callable[[Sequence[str], JudgedQuestion], float]

    def score(self, ranking: Sequence[str], question: JudgedQuestion) -> float:
        """The measure of a ranking of document ids, best first."""
        kept = [doc_id for doc_id in dict.fromkeys(ranking) if doc_id not in question.ignored]
        return self.measure(kept[:CUT], question)


def ndcg(ranking: Sequence[str], question: JudgedQuestion) -> float:
    """Normalised discounted cumulative gain with binary grades."""
    gain = sum(1 / math.log2(place + 2) for place, doc_id in enumerate(ranking) if doc_id in question.relevant)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(CUT, len(question.relevant))))
    return gain / ideal if ideal else 0.0


def precision(ranking: Sequence[str], question: JudgedQuestion) -> float:
    """Share of ten places held by relevant documents."""
    return sum(doc_id in question.relevant for doc_id in ranking) / CUT


def cranfield(folder: Path) -> JudgedCorpus:
    """Abstracts, body once (it begins with the title). Grades 1 to 4 are relevant; the unexplained -1 document of each question is ignored."""
    bodies = {number: _line(parts.get("W", "")) for number, parts in _marked(folder / "cranfield" / "cran.all.1400")}
    documents = tuple(Document(number, Source("abstract"), body, _DAY) for number, body in bodies.items() if body)
    grades: dict[int, dict[str, int]] = {}
    for line in (folder / "cranfield" / "cranqrel").read_text("ascii").splitlines():
        question, doc_id, grade = line.split()
        grades.setdefault(int(question), {})[doc_id] = int(grade)
    texts = [_line(parts["W"]) for _, parts in _marked(folder / "cranfield" / "cran.qry")]
    questions = tuple(_cranfield_question(text, grades.get(number, {})) for number, text in enumerate(texts, start=1))
    return JudgedCorpus("cranfield", "nDCG@10", documents, questions, ndcg)


def banking77(folder: Path) -> JudgedCorpus:
    """Training messages as documents, test messages as questions; relevant is what has the question's intent."""
    known = _messages(folder / "banking77" / "banking_data__train.csv")
    documents = tuple(
        Document(f"train-{number:05}", Source("chat"), text, _DAY, theme_id=intent) for number, (text, intent) in enumerate(known)
    )
    by_intent: dict[str, set[str]] = {}
    for document in documents:
        by_intent.setdefault(str(document.theme_id), set()).add(document.doc_id)
    same = {intent: frozenset(doc_ids) for intent, doc_ids in by_intent.items()}
    questions = tuple(JudgedQuestion(text, same[intent]) for text, intent in _messages(folder / "banking77" / "banking_data__test.csv"))
    return JudgedCorpus("banking77", "P@10", documents, questions, precision)


CORPORA: Mapping[str, Callable[[Path], JudgedCorpus]] = {"cranfield": cranfield, "banking77": banking77}


def _cranfield_question(text: str, grades: Mapping[str, int]) -> JudgedQuestion:
    relevant = frozenset(doc_id for doc_id, grade in grades.items() if grade > 0)
    return JudgedQuestion(text, relevant, frozenset(grades) - relevant)


def _marked(file: Path) -> list[tuple[str, dict[str, str]]]:
    """Number and parts of each record; lines like ``.W`` begin a part and ``.I`` a record."""
    found = []
    for record in re.split(r"^\.I ", file.read_text("ascii"), flags=re.MULTILINE)[1:]:
        number, _, rest = record.partition("\n")
        parts = re.split(r"^\.([A-Z])\s*\n", rest, flags=re.MULTILINE)
        found.append((number.strip(), dict(zip(parts[1::2], parts[2::2], strict=True))))
    return found


def _line(text: str) -> str:
    return " ".join(text.split())


def _messages(file: Path) -> list[tuple[str, str]]:
    with file.open(encoding="utf-8", newline="") as rows:
        return [(row["text"].strip(), row["category"]) for row in csv.DictReader(rows)]
