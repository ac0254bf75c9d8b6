"""Every pair of a claim set as the verifier sees it: windows, named features, vectors; the same code that decides in the service."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.claim_sets import Pair
from benchmarks.folds import Bools, Floats
from benchmarks.vectors import VectorShelf
from grounding.bearing import EMBEDDED, Assertion, Fit, assertion, features, fits, strength, window_cosine
from grounding.reading import read
from grounding.vetoes import veto
from grounding.windows import Window

_SHARPNESS = 8.0


@dataclass(frozen=True, slots=True)
class ClaimTable:
    """One row per pair. ``named`` are the features of ``grounding.bearing`` in the order of ``names``; ``vectors`` holds per row ``|u - v|`` and
    ``u * v`` of the claim's vector and the evidence's; ``vetoed`` says that a veto rejects; ``first`` is the index of the best single sentence."""

    names: tuple[str, ...]
    named: Floats
    vectors: Floats
    vetoed: Bools
    first: tuple[int, ...]
    supported: Bools
    refuted: Bools
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    pair: Pair
    claim: Assertion
    found: tuple[Fit, ...]


def table(pairs: Sequence[Pair], shelf: VectorShelf) -> ClaimTable:
    """Read, embed and measure every pair."""
    rows = [_row(pair) for pair in pairs]
    shelf.add(
        text for row in rows for text in (row.pair.claim, *(sentence for fit in row.found[:EMBEDDED] for sentence in fit.window.sentences))
    )
    measured = [_measured(row, shelf) for row in rows]
    return ClaimTable(
        names=tuple(measured[0][0]),
        named=np.array([list(named.values()) for named, _, _ in measured]),
        vectors=np.stack([_interactions(row, shelf) for row in rows]),
        vetoed=np.array([vetoed for _, vetoed, _ in measured]),
        first=tuple(first for _, _, first in measured),
        supported=np.array([pair.supported for pair in pairs]),
        refuted=np.array([pair.label == "refutes" for pair in pairs]),
        groups=tuple(pair.group for pair in pairs),
    )


def _row(pair: Pair) -> _Row:
    places = [at for at, text in enumerate(pair.evidence) if text.strip()]
    singles = [Window(pair.evidence[at], at, at + 1, (pair.evidence[at],)) for at in places]
    doubles = [
        Window(f"{first.text} {second.text}", first.start, second.end, (first.text, second.text))
        for first, second in itertools.pairwise(singles)
        if second.start == first.end
    ]
    claim = assertion(pair.claim)
    return _Row(pair, claim, fits(claim, (*singles, *doubles), lambda window: read(window.text)))


def _measured(row: _Row, shelf: VectorShelf) -> tuple[dict[str, float], bool, int]:
    near = row.found[:EMBEDDED]
    vectors = {sentence: shelf[sentence] for fit in near for sentence in fit.window.sentences}
    cosines = [window_cosine(shelf[row.pair.claim], fit.window, vectors) for fit in near]
    ranked = sorted(zip(near, cosines, strict=True), key=lambda pair: -strength(*pair))
    chosen = ranked[0][0]
    allowed = any(not veto(row.claim.whole, fit.reading) for fit, cosine in ranked if strength(fit, cosine) >= strength(*ranked[0]) - 0.35)
    single = next((fit.window.start for fit, _ in ranked if len(fit.window.sentences) == 1), -1)
    return features(row.claim, chosen, row.found, cosines), not allowed, single


def _interactions(row: _Row, shelf: VectorShelf) -> Floats:
    """How claim and evidence vectors differ and agree, dimension by dimension; sentences near the claim weigh more."""
    claim = shelf[row.pair.claim]
    sentences = np.stack([shelf[sentence] for sentence in {s: None for fit in row.found[:EMBEDDED] for s in fit.window.sentences}])
    weights = np.exp(_SHARPNESS * (sentences @ claim))
    evidence = weights @ sentences
    evidence = evidence / (np.linalg.norm(evidence) or 1.0)
    return np.concatenate([np.abs(claim - evidence), claim * evidence]).astype(np.float64)
