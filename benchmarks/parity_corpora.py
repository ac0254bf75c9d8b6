"""Public corpora with questions of their own: Cranfield (1,400 abstracts, 225 questions), BANKING77 (10,003 messages, 3,080 more as questions)."""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from search.documents import Document, Source

_FIRST = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ParityCorpus:
    """Documents, spread over three months, and questions."""

    documents: tuple[Document, ...]
    questions: tuple[str, ...]


def cranfield(folder: Path) -> ParityCorpus:
    """Abstracts with their titles; a long one has several passages."""
    abstracts = _marked(folder / "cranfield" / "cran.all.1400")
    documents = [
        _document("cranfield", number, _line(parts["W"]), len(abstracts), title=_line(parts["T"]) or None)
        for number, parts in enumerate(abstracts)
        if _line(parts["W"])
    ]
    return ParityCorpus(tuple(documents), tuple(_line(parts["W"]) for parts in _marked(folder / "cranfield" / "cran.qry")))


def banking77(folder: Path) -> ParityCorpus:
    """Training messages as documents, test messages as questions."""
    known = _messages(folder / "banking77" / "banking_data__train.csv")
    documents = [_document("banking77", number, text, len(known), theme_id=theme) for number, (text, theme) in enumerate(known)]
    return ParityCorpus(tuple(documents), tuple(text for text, _ in _messages(folder / "banking77" / "banking_data__test.csv")))


CORPORA: dict[str, Callable[[Path], ParityCorpus]] = {"cranfield": cranfield, "banking77": banking77}


def _document(name: str, number: int, text: str, count: int, *, title: str | None = None, theme_id: str | None = None) -> Document:
    occurred_at = _FIRST + timedelta(days=90 * number // count)
    return Document(f"{name}-{number:05}", Source(name), text, occurred_at, title=title, theme_id=theme_id)


def _marked(file: Path) -> list[dict[str, str]]:
    """The records of a file in which lines like ``.W`` begin a part and ``.I`` a record."""
    records = re.split(r"^\.I .*\n", file.read_text("ascii"), flags=re.MULTILINE)[1:]
    return [
        dict(zip(parts[1::2], parts[2::2], strict=True))
        for parts in (re.split(r"^\.([A-Z])\s*\n", each, flags=re.MULTILINE) for each in records)
    ]


def _line(text: str) -> str:
    return " ".join(text.split())


def _messages(file: Path) -> list[tuple[str, str]]:
    with file.open(encoding="utf-8", newline="") as rows:
        return [(row["text"].strip(), row["category"]) for row in csv.DictReader(rows)]
