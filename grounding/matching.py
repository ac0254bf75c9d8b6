"""How much of a claim a span says: shared words by rarity, shared pairs of words, their order."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from grounding.reading import Held, Meaning, Reading, holding

SYNONYM, QUALITY = 0.9, 0.75


@dataclass(frozen=True, slots=True)
class Overlap:
    """Shares in 0..1 of the claim found in a span. ``missing`` is the rarity of the rarest word that is not there, ``unsaid`` tells that a quality the
    claim speaks of (slow, rude, expensive) is not there at all."""

    recall: float
    pairs: float
    order: float
    missing: float
    unsaid: float

    @property
    def blend(self) -> float:
        """One figure for ordering spans before vectors are known."""
        return self.recall + 0.1 * self.pairs + 0.05 * self.order


_NOTHING = Overlap(0.0, 0.0, 0.0, 1.0, 0.0)


def overlap(claim: Reading, *spans: Reading) -> Overlap:
    """What the spans, taken together, have of the claim. Words are weighted by rarity; a figure that is borne out counts as found however it is written."""
    sought = sought_of(claim)
    shares = [max((found(meaning, span.held) for span in spans), default=0.0) for meaning in sought]
    if not any(shares) and not _has_figures(claim):
        return _NOTHING
    settled: set[int] = set().union(*(_settled(claim, span) for span in spans))
    shares = [1.0 if meaning.word.start in settled else share for share, meaning in zip(shares, sought, strict=True)]
    absent = [meaning for share, meaning in zip(shares, sought, strict=True) if share == 0.0]
    said = tuple(itertools.chain.from_iterable(span.meanings for span in spans))
    return Overlap(
        recall=_weighted(shares, sought),
        pairs=_pairs(sought, said),
        order=_order(sought, said),
        missing=max((meaning.weight for meaning in absent), default=0.0),
        unsaid=float(any(meaning.quality for meaning in absent)),
    )


def sought_of(claim: Reading) -> tuple[Meaning, ...]:
    """The words a span must have: those of the topic, or all content words of a claim about nothing but its speaker."""
    return claim.topic or claim.meanings


def _has_figures(claim: Reading) -> bool:
    return bool(claim.quantities or claim.dates or claim.times or claim.codes)


def shared(sought: Sequence[Meaning], held: Held) -> float:
    """Share of ``sought``, by rarity, that is held; 0 when nothing is sought."""
    return _weighted([found(meaning, held) for meaning in sought], sought)


def _weighted(shares: Sequence[float], sought: Sequence[Meaning]) -> float:
    total = sum(meaning.weight for meaning in sought)
    return sum(share * meaning.weight for share, meaning in zip(shares, sought, strict=True)) / total if total else 0.0


def found(meaning: Meaning, held: Held) -> float:
    """1 for the same word, less for a synonym, less again for the same quality on the same side, else 0."""
    if meaning.word.stem in held.stems:
        return 1.0
    if meaning.synonyms & held.synonyms:
        return SYNONYM
    return QUALITY if meaning.quality and (meaning.quality, meaning.sign) in held.qualities else 0.0


def _settled(claim: Reading, span: Reading) -> set[int]:
    """Starts of the claim's words that belong to a figure, date, time or code the span bears out."""
    places = [(part.start, part.end) for part in claim.quantities if any(part.borne_out_by(said) for said in span.quantities)]
    places += [(part.start, part.end) for part in claim.dates if any(part.borne_out_by(said) for said in span.dates)]
    places += [(part.start, part.end) for part in claim.times if any(part.borne_out_by(said) for said in span.times)]
    places += [(part.start, part.end) for part in claim.codes if any(part.key == said.key for said in span.codes)]
    return {word.start for word in claim.words if any(start <= word.start < end for start, end in places)}


def _pairs(sought: Sequence[Meaning], said: Sequence[Meaning]) -> float:
    """Share of neighbouring content words of the claim that stand at most two content words apart in the span."""
    if len(sought) < 2:
        return shared(sought, holding(said))
    near = {(first.word.stem, second.word.stem) for at, first in enumerate(said) for second in said[at + 1 : at + 3]}
    pairs = [(first.word.stem, second.word.stem) for first, second in itertools.pairwise(sought)]
    return sum(pair in near or pair[::-1] in near for pair in pairs) / len(pairs)


def _order(sought: Sequence[Meaning], said: Sequence[Meaning]) -> float:
    """Share of neighbouring shared words that keep their order."""
    place = {meaning.word.stem: at for at, meaning in reversed(list(enumerate(said)))}
    places = [place[meaning.word.stem] for meaning in sought if meaning.word.stem in place]
    if len(places) < 2:
        return float(len(places) == len(sought))
    return sum(first < second for first, second in itertools.pairwise(places)) / (len(places) - 1)


def run(sought: Sequence[Meaning], said: Sequence[Meaning]) -> float:
    """Share of ``sought`` in the longest unbroken run of words common to both."""
    stems = [meaning.word.stem for meaning in said]
    best, previous = 0, [0] * (len(stems) + 1)
    for meaning in sought:
        current = [0]
        for at, stem in enumerate(stems):
            current.append(previous[at] + 1 if meaning.word.stem == stem else 0)
        best, previous = max(best, *current), current
    return best / len(sought) if sought else 0.0
