"""Cranfield (Cleverdon 1967): abstracts on aerodynamics, 225 questions with judgements. It measures retrieval.

The body begins with the title and is taken once; empty documents are left out. The query number of a judgement is the ordinal of the query. Grades 1 to 4 are
relevant. The unexplained ``-1`` document of each question counts as not relevant, as no filter can leave one document out; taking it out of the ranking before
scoring, as the benchmark of this project does, is worth about .05 nDCG.
"""

import re
from collections import defaultdict
from pathlib import Path

from grounding.evaluation.builders.built import BuiltSet, document
from grounding.evaluation.cases import Case, Expected


def build(data: Path) -> BuiltSet:
    """All abstracts; every question with at least one relevant document."""
    folder = data / "cranfield"
    bodies = {number: _line(parts.get("W", "")) for number, parts in _marked(folder / "cran.all.1400")}
    documents = {f"cran-{number}": document(f"cran-{number}", body, "abstract") for number, body in bodies.items() if body}
    grades: dict[int, dict[str, int]] = defaultdict(dict)
    for line in (folder / "cranqrel").read_text("ascii").splitlines():
        question, number, grade = line.split()
        grades[int(question)][f"cran-{number}"] = int(grade)
    texts = [_line(parts["W"]) for _, parts in _marked(folder / "cran.qry")]
    cases = []
    for ordinal, text in enumerate(texts, 1):
        relevant = tuple(doc_id for doc_id, grade in grades[ordinal].items() if grade > 0 and doc_id in documents)
        if relevant:
            cases.append(Case(f"cran-q{ordinal:03}", text, Expected(answered=True, documents=relevant), kind="judged"))
    return BuiltSet(documents, tuple(cases))


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
