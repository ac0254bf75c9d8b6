"""What an evaluation asks and what it expects: cases, gathered in a set."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from grounding.answers import RefusalReason
from search.documents import EVERYTHING, Filters


@dataclass(frozen=True, slots=True)
class Expected:
    """What must come back. With ``answered`` an answer; otherwise a refusal, for one of ``reasons`` where any are named.

    ``documents`` are all the documents that answer; a citation of any other is imprecise. ``facts`` are texts of which the answer must hold each
    (``a|b`` is either), ``absent`` texts it must not hold. ``count`` is the proven number, ``series`` the proven numbers by bucket (``2026-06``).
    """

    answered: bool
    reasons: frozenset[RefusalReason] = frozenset()
    documents: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    count: int | None = None
    series: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """One question. ``kind``, ``language`` and ``difficulty`` are the slices that scores are shown by."""

    case_id: str
    question: str
    expected: Expected
    filters: Filters = EVERYTHING
    kind: str = "fact"
    language: str = "en"
    difficulty: str = "medium"
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class EvalSet:
    """Cases with distinct ids under a name. ``digest`` changes whenever a case does, so that only like is compared with like."""

    name: str
    cases: tuple[Case, ...]
    digest: str
    description: str = ""
