"""Sentences that say the same become one finding with a count: exact copies, near copies, and paraphrases that agree in every fact."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from grounding.matching import overlap
from grounding.reading import Reading, read
from grounding.vetoes import veto
from search.documents import Vector
from search.identity import normalised
from search.ranking import Candidate

SHINGLE = 3
NEAR_COPY = 0.7
"""Share of common runs of three letters from which two sentences are near copies."""

PARAPHRASE = 0.83
"""Cosine from which two sentences that agree in every fact are paraphrases; cosine alone merges *works* with *does not work*."""

UNLIKE = 0.5
"""Cosine under which two sentences are not compared any further."""

PARAPHRASE_WORDS = 0.2
"""Share of the words of one that the other must hold as well, synonyms included."""


@dataclass(frozen=True, slots=True)
class Voice:
    """One sentence of the evidence. ``score`` in 0..1 says how well it answers; ``doc_ids`` are the first documents of ``documents`` with the same text."""

    text: str
    candidate: Candidate
    score: float
    doc_ids: tuple[str, ...]
    documents: int
    vector: Vector

    @property
    def reading(self) -> Reading:
        """What the sentence says, dates in the year of its document."""
        return read(self.text, self.candidate.occurred_at)


@dataclass(frozen=True, slots=True)
class Finding:
    """Voices that say the same, the one that stands for all of them first. ``documents`` counts every document, copies included."""

    voices: tuple[Voice, ...]

    @property
    def text(self) -> str:
        """The sentence that stands for the group."""
        return self.voices[0].text

    @property
    def documents(self) -> int:
        """How many documents say so."""
        return sum(_distinct(self.voices).values())

    @property
    def doc_ids(self) -> tuple[str, ...]:
        """Ids of the documents known to say so: those that say it as written first, then ascending."""
        ids = dict.fromkeys(self.voices[0].doc_ids)
        return (*ids, *sorted({doc_id for voice in self.voices[1:] for doc_id in voice.doc_ids} - ids.keys()))

    @property
    def score(self) -> float:
        """How well the best voice answers."""
        return max(voice.score for voice in self.voices)

    @property
    def latest(self) -> datetime:
        """When the newest of its voices was heard."""
        return max(voice.candidate.occurred_at for voice in self.voices)


def findings(voices: Sequence[Voice]) -> tuple[Finding, ...]:
    """Group voices: each joins the first group whose opening voice it agrees with. Groups come by documents, then recency, then id."""
    groups: list[list[Voice]] = []
    for voice in sorted(voices, key=lambda voice: (-voice.score, voice.candidate.passage.passage_id, voice.text)):
        home = next((group for group in groups if same(group[0], voice)), None)
        if home is None:
            groups.append([voice])
        else:
            home.append(voice)
    return tuple(sorted((Finding(_centred(group)) for group in groups), key=_place))


def _place(finding: Finding) -> tuple[int, float, str]:
    return -finding.documents, -finding.latest.timestamp(), finding.voices[0].candidate.passage.passage_id


def same(first: Voice, second: Voice) -> bool:
    """Whether two sentences say the same."""
    if normalised(first.text) == normalised(second.text):
        return True
    close = float(first.vector @ second.vector)
    if close < UNLIKE:
        return False
    alike = near_copies(first.text, second.text) or (close >= PARAPHRASE and _shared(first.reading, second.reading) >= PARAPHRASE_WORDS)
    return alike and agree(first.reading, second.reading)


def near_copies(first: str, second: str) -> bool:
    """Whether most runs of three letters are common to both."""
    one, other = _shingles(first), _shingles(second)
    return bool(one) and len(one & other) >= NEAR_COPY * len(one | other)


def agree(first: Reading, second: Reading) -> bool:
    """Whether neither states a figure, date, name, code or polarity that the other does not bear out; how often it holds may differ."""
    return veto(first, second) in ("", "quantifier") and veto(second, first) in ("", "quantifier")


def _shared(first: Reading, second: Reading) -> float:
    return min(overlap(first, second).recall, overlap(second, first).recall)


@lru_cache(maxsize=4_096)
def _shingles(text: str) -> frozenset[str]:
    plain = normalised(text)
    return frozenset(plain[start : start + SHINGLE] for start in range(max(1, len(plain) - SHINGLE + 1)))


def _centred(group: Sequence[Voice]) -> tuple[Voice, ...]:
    """The voice that claims least strongly and lies closest to the others first; the others in the order they joined."""
    total = sum(voice.vector * voice.documents for voice in group)
    centre = min(
        group, key=lambda voice: (voice.reading.strength, -round(float(voice.vector @ total), 4), voice.candidate.passage.passage_id)
    )
    return (centre, *(voice for voice in group if voice is not centre))


def _distinct(voices: Sequence[Voice]) -> dict[str, int]:
    """Documents by group of equal texts, so that two sentences of one document count once."""
    return {voice.candidate.group_key: voice.documents for voice in voices}
