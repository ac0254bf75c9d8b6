"""What one document brings for one claim: its most promising windows, and the named features they make."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grounding.clauses import clauses
from grounding.matching import Overlap, overlap, run, shared, sought_of
from grounding.name_matching import share_of_names_missing
from grounding.reading import Reading, holding, read
from grounding.sentences import sentences
from grounding.vetoes import opposing, share_of_figures_missing
from grounding.windows import Window
from search.documents import Vector

WINDOWS = 16
"""Windows of a document whose words are looked at closely."""

EMBEDDED = 8
"""Of these, the most promising ones that are embedded."""

_VECTOR_SHARE = 0.7
_BEST = 3


@dataclass(frozen=True, slots=True)
class Assertion:
    """A claim, read as a whole and clause by clause."""

    whole: Reading
    parts: tuple[Reading, ...]


def assertion(text: str) -> Assertion:
    """Read ``text`` as something that is claimed."""
    whole = read(text)
    parts = [clause.of(sentence.of(text)) for sentence in sentences(text) for clause in clauses(sentence.of(text))]
    return Assertion(whole, tuple(read(part) for part in parts) or (whole,))


@dataclass(frozen=True, slots=True)
class Fit:
    """A window with its reading and what it shares with the claim."""

    window: Window
    reading: Reading
    overlap: Overlap


def fits(claim: Assertion, windows: Sequence[Window], reader: Callable[[Window], Reading]) -> tuple[Fit, ...]:
    """The windows that share most with the claim, best first; shorter ones first among equals. At most ``WINDOWS``."""
    readings = [reader(window) for window in windows]
    alone = {window.text: reading for window, reading in zip(windows, readings, strict=True) if len(window.sentences) == 1}
    found = [
        Fit(window, reading, overlap(claim.whole, *_parts(window, reading, alone)))
        for window, reading in zip(windows, readings, strict=True)
    ]
    ranked = sorted(found, key=lambda fit: (-fit.overlap.blend, len(fit.window.sentences), fit.window.start))
    return tuple(ranked[:WINDOWS])


def _parts(window: Window, reading: Reading, alone: Mapping[str, Reading]) -> list[Reading]:
    """Pairs are measured by the readings of their sentences, so that nothing is read twice."""
    return [alone[sentence] for sentence in window.sentences] if all(sentence in alone for sentence in window.sentences) else [reading]


def window_cosine(claim: Vector, window: Window, vectors: Mapping[str, Vector]) -> float:
    """Between a claim and a window, in -1..1; a pair of sentences has the direction of their sum."""
    total = np.sum([vectors[sentence] for sentence in window.sentences], axis=0)
    return round(float(claim @ total / (np.linalg.norm(total) or 1.0)), 3)


def strength(fit: Fit, cosine: float) -> float:
    """One figure for choosing among the windows of a document."""
    return fit.overlap.blend + _VECTOR_SHARE * cosine


def features(claim: Assertion, chosen: Fit, found: Sequence[Fit], cosines: Sequence[float]) -> dict[str, float]:
    """Named figures for how far a document bears a claim out by the window ``chosen`` among ``found`` (not empty, best first). ``cosines`` are those of the
    first ``EMBEDDED`` of them, or of all.

    Shares are in 0..1. None of them grows with the length of the claim.
    """
    singles = [fit for fit in found if len(fit.window.sentences) == 1] or list(found)
    pairs = list(zip(found, cosines, strict=False))
    near = sorted((cosine for fit, cosine in pairs if len(fit.window.sentences) == 1), reverse=True)[:_BEST] or [max(cosines)]
    best = overlap(claim.whole, *(fit.reading for fit in singles[:_BEST]))
    everything = overlap(claim.whole, *(fit.reading for fit in singles))
    readings = [fit.reading for fit in singles]
    sought = sought_of(claim.whole)
    weight = sum(meaning.weight for meaning in claim.whole.topic) or 1.0
    return {
        "recall": chosen.overlap.recall,
        "recall_best": best.recall,
        "clause": min(max(overlap(part, fit.reading).recall for fit in found) for part in claim.parts),
        "pairs": chosen.overlap.pairs,
        "order": chosen.overlap.order,
        "focus": shared(chosen.reading.meanings, holding(sought)),
        "run": run(sought, chosen.reading.meanings),
        "unsaid": chosen.overlap.unsaid,
        "missing_here": chosen.overlap.missing,
        "missing": everything.missing,
        "names_missing": share_of_names_missing(claim.whole, *readings),
        "figures_missing": share_of_figures_missing(claim.whole, *readings),
        "opposed": min(1.0, sum(meaning.weight for meaning in opposing(claim.whole, chosen.reading)) / weight),
        "denial_differs": float(_denies(claim.whole) != _denies(chosen.reading)),
        "cosine": near[0],
        "cosine_best": float(np.mean(near)),
        "joint": near[0] * chosen.overlap.recall,
    }


def _denies(reading: Reading) -> bool:
    return any(tone.denied for tone in reading.tones)
