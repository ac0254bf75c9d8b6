"""Quality of the verifier on public claim sets: ``python -m benchmarks.verifier [../shared/data] [--sets wice healthver] [--write]``.

Three readings of the same features: ``folds`` fits and sets the threshold on four of five folds and judges the fifth; ``folds+vectors`` adds what a ridge
over the vectors of claim and evidence sees; ``shipped`` are the weights that come with the package, which saw no WiCE, HealthVer or FEVER, at the default
``WA_MIN_SUPPORT``, with and without vetoes. ``--write`` fits the shipped weights anew, on the sets whose licence permits it.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import grounding
from benchmarks.claim_features import ClaimTable, table
from benchmarks.claim_sets import CLAIM_SETS, WEIGHTS_ALLOWED, Pair
from benchmarks.folds import Bools, Floats, Interval, auc, balanced_accuracy, best_threshold, calibration_error, folds, interval
from benchmarks.minimal_errors import minimal_errors
from benchmarks.vectors import VectorShelf
from grounding.support import support_model
from runtime.settings import read_settings
from search.embedding.opening import open_embedder

CEILING = 0.27
"""Share of refuted claims a threshold may let through in the training folds."""

LEXICAL = (
    "recall",
    "recall_best",
    "clause",
    "pairs",
    "run",
    "unsaid",
    "missing",
    "missing_here",
    "names_missing",
    "figures_missing",
    "opposed",
)
VECTOR = ("cosine", "cosine_best")
KEPT_OUT = ("wice", "healthver", "fever")
LET_THROUGH = 0.03
OWN_KIND = 3
"""Weight of customer messages beside one other set."""

SHARPNESS = 2.0
"""The sets are harder than short messages: probabilities fitted to them huddle around the middle."""

_SAMPLE = {"fever": 2_500}


@dataclass(frozen=True, slots=True)
class Judged:
    """Scores and decisions on rows that neither model nor threshold has seen."""

    scores: Floats
    decided: Bools


def main() -> None:
    """Print one block a set."""
    arguments = _arguments()
    with open_embedder(read_settings({})) as embedder:
        shelf = VectorShelf(embedder, arguments.vectors)
        if arguments.write:
            write_weights(arguments.data, shelf)
        for name in arguments.sets:
            pairs = sampled(name, arguments.data)
            for line in report(name, pairs, table(pairs, shelf)):
                print(line, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=Path("../shared/data"), help="folder of the public sets")
    parser.add_argument("--sets", nargs="+", default=list(CLAIM_SETS), choices=list(CLAIM_SETS))
    parser.add_argument("--vectors", type=Path, default=None, help="file (.npz) that keeps vectors between runs")
    parser.add_argument("--write", action="store_true", help="fit grounding/support.json before measuring")
    return parser.parse_args()


def sampled(name: str, data: Path) -> list[Pair]:
    """The set, or a fixed sample of a large one."""
    pairs = CLAIM_SETS[name](data)
    return random.Random(0).sample(pairs, _SAMPLE[name]) if name in _SAMPLE else pairs


def report(name: str, pairs: Sequence[Pair], rows: ClaimTable) -> Iterator[str]:
    """Lines for one set."""
    yield f"\n{name}: n {len(pairs)}, positive {rows.supported.mean():.2f}, refuted {rows.refuted.mean():.2f}, groups {len(set(rows.groups))}"
    started = time.perf_counter()
    cosine = rows.named[:, [rows.names.index("cosine")]]
    yield _line("cosine alone", rows, in_folds(cosine, np.zeros((len(pairs), 0)), rows))
    yield _line("folds", rows, in_folds(rows.named, np.zeros((len(pairs), 0)), rows))
    yield _line("folds+vectors", rows, in_folds(rows.named, rows.vectors, rows))
    scores = np.array([support_model().probability(dict(zip(rows.names, values, strict=True))) for values in rows.named])
    threshold = read_settings({}).min_support
    yield _line("shipped", rows, Judged(scores, scores >= threshold)) + f"  ECE {calibration_error(rows.supported, scores):.3f}"
    yield _line("shipped, vetoes", rows, Judged(np.where(rows.vetoed, 0.0, scores), (scores >= threshold) & ~rows.vetoed))
    if any(pair.gold for pair in pairs):
        yield f"  best sentence in a gold set (hit@1)   {hits(pairs, rows)}"
    yield f"  ({time.perf_counter() - started:.0f} s after reading and embedding)"


def _line(name: str, rows: ClaimTable, judged: Judged) -> str:
    truth = rows.supported
    accuracy = interval(rows.groups, lambda at: balanced_accuracy(truth[at], judged.decided[at]))
    area = interval(rows.groups, lambda at: auc(truth[at], judged.scores[at]))
    refuted = f"  refuted accepted {judged.decided[rows.refuted].mean():.2f}" if rows.refuted.any() else ""
    return f"  {name:<16} BA {accuracy}  AUC {area}  false accept {judged.decided[~truth].mean():.2f}{refuted}"


def hits(pairs: Sequence[Pair], rows: ClaimTable) -> Interval:
    """Share of claims with gold sentences whose best window starts in one of the alternative sets."""
    judged = [at for at, pair in enumerate(pairs) if pair.gold]
    right = np.array([any(rows.first[at] in gold for gold in pairs[at].gold) for at in judged])
    return interval([rows.groups[at] for at in judged], lambda at: float(right[at].mean()))


def in_folds(named: Floats, vectors: Floats, rows: ClaimTable) -> Judged:
    """Models, their mixture and the threshold see the other four folds only."""
    part = folds(rows.groups)
    scores, decided = np.zeros(len(part)), np.zeros(len(part), dtype=bool)
    for fold in range(part.max() + 1):
        train, test = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        inner = _out_of_fold(named, vectors, rows, train)
        mixture = _logistic(0.1).fit(inner, rows.supported[train], logisticregression__sample_weight=_weights(rows, train))
        threshold = best_threshold(rows.supported[train], mixture.decision_function(inner), never=rows.refuted[train], ceiling=CEILING)
        scores[test] = mixture.decision_function(_outputs(_fitted(named, vectors, rows, train), named, vectors, test))
        decided[test] = scores[test] >= threshold
    return Judged(scores, decided)


def _out_of_fold(named: Floats, vectors: Floats, rows: ClaimTable, train: np.ndarray[Any, Any]) -> Floats:
    part = folds([rows.groups[at] for at in train], seed=1)
    outputs = [
        _outputs(_fitted(named, vectors, rows, train[part != fold]), named, vectors, train[part == fold]) for fold in range(part.max() + 1)
    ]
    collected = np.zeros((len(train), outputs[0].shape[1]))
    for fold, output in enumerate(outputs):
        collected[part == fold] = output
    return collected


def _fitted(named: Floats, vectors: Floats, rows: ClaimTable, train: np.ndarray[Any, Any]) -> list[tuple[str, Pipeline]]:
    """A logistic over named features; with vectors also a ridge over them, and one that tells supported from refuted where the set has both."""
    models = [("named", _logistic(0.03).fit(named[train], rows.supported[train]))]
    if vectors.shape[1]:
        models.append(("vectors", _logistic(1e-4).fit(vectors[train], rows.supported[train])))
        decisive = train[rows.supported[train] | rows.refuted[train]]
        if rows.refuted[decisive].sum() > 20:
            both = np.hstack([named, vectors])
            models.append(("both", _logistic(1e-4).fit(both[decisive], rows.supported[decisive])))
    return models


def _outputs(models: Sequence[tuple[str, Pipeline]], named: Floats, vectors: Floats, at: np.ndarray[Any, Any]) -> Floats:
    inputs = {"named": named[at], "vectors": vectors[at], "both": np.hstack([named[at], vectors[at]])}
    return np.stack([model.decision_function(inputs[kind]) for kind, model in models], axis=1)


def _logistic(strength: float) -> Pipeline:
    return make_pipeline(StandardScaler(), LogisticRegression(C=strength, class_weight="balanced", max_iter=500))


def _weights(rows: ClaimTable, at: np.ndarray[Any, Any]) -> Floats:
    """Refuted claims let through cost twice."""
    return np.asarray(np.where(rows.refuted[at], 2.0, 1.0), dtype=np.float64)


def write_weights(data: Path, shelf: VectorShelf) -> None:
    """Fit ``grounding/support.json``: one logistic over lexical features, one over vector features, each on the permitted sets in equal shares and on
    messages with errors put in, added up. The scale is set so that ``WA_MIN_SUPPORT`` lets through at most ``LET_THROUGH`` of the wrong claims of the
    sets kept out."""
    tables = [table(sampled(name, data), shelf) for name in WEIGHTS_ALLOWED] + [table(minimal_errors(data), shelf)]
    names, truth = tables[0].names, np.concatenate([rows.supported for rows in tables])
    share = np.concatenate([_equal_shares(rows.supported) * (OWN_KIND if rows is tables[-1] else 1) for rows in tables])
    named = np.concatenate([rows.named for rows in tables])
    weights: dict[str, float] = {}
    for group in (LEXICAL, VECTOR):
        columns = named[:, [names.index(name) for name in group]]
        fitted = make_pipeline(StandardScaler(), LogisticRegression(C=1e-3)).fit(columns, truth, logisticregression__sample_weight=share)
        weights |= dict(zip(group, _unscaled(fitted), strict=True))
    platt = LogisticRegression(C=1e6).fit(_sums(weights, names, named)[:, None], truth, sample_weight=share)
    stored = _scaled(weights, float(platt.coef_[0, 0]) * SHARPNESS, [table(sampled(name, data), shelf) for name in KEPT_OUT])
    (Path(grounding.__file__).parent / "support.json").write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    support_model.cache_clear()
    print(f"weights: {stored}")


def _scaled(weights: Mapping[str, float], factor: float, kept_out: Sequence[ClaimTable]) -> dict[str, Any]:
    sums = [np.where(rows.vetoed, -np.inf, _sums(weights, rows.names, rows.named)) for rows in kept_out]
    candidates = np.unique(np.concatenate([column[np.isfinite(column)] for column in sums]))
    shares = [np.mean([(column[~rows.supported] >= at).mean() for column, rows in zip(sums, kept_out, strict=True)]) for at in candidates]
    floor = float(candidates[int(np.argmax(np.array(shares) <= LET_THROUGH))])
    asked = read_settings({}).min_support
    bias = float(np.log(asked / (1 - asked))) - factor * floor
    return {"weights": {name: round(float(weight) * factor, 4) for name, weight in weights.items()}, "bias": round(bias, 4)}


def _sums(weights: Mapping[str, float], names: Sequence[str], named: Floats) -> Floats:
    return np.asarray(named[:, [names.index(name) for name in weights]] @ np.array(list(weights.values())), dtype=np.float64)


def _equal_shares(truth: Bools) -> Floats:
    each = np.where(truth, 0.5 / truth.mean(), 0.5 / (1 - truth.mean()))
    return np.asarray(each / len(truth) * 1_000, dtype=np.float64)


def _unscaled(fitted: Pipeline) -> Floats:
    parts: Mapping[str, Any] = fitted.named_steps
    return np.asarray(parts["logisticregression"].coef_[0] / parts["standardscaler"].scale_)


if __name__ == "__main__":
    main()
