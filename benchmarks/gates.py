"""Quality of the question gates: ``python -m benchmarks.gates [../shared/data] [--sets squad topic electronics restaurants clinc]``.

*Answered here?* on SQuAD 2 (impossible questions) and SubjQA (pairs both judges agree on); *about it?* on SQuAD 2 questions beside another article and on
CLINC150. ``folds`` fits features and threshold on four of five folds; ``shipped`` is the gate of the package with its default threshold.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.claim_sets import split_up
from benchmarks.folds import Bools, Floats, auc, balanced_accuracy, best_threshold, folds, interval
from benchmarks.question_sets import Asked, Scope, clinc, squad_answerable, squad_topic, subjqa_unanimous
from benchmarks.vectors import VectorShelf
from grounding.answerability import ANSWERED_FROM, answer_model, features
from grounding.matching import found, overlap, run, shared
from grounding.question_kinds import Question, offers, read_question
from grounding.reading import Reading, holding, read
from grounding.relevance import coverage, relevance_model
from runtime.settings import read_settings
from search.documents import Vectors
from search.embedding.opening import open_embedder

QUESTION_SETS: Mapping[str, Callable[[Path], list[Asked]]] = {
    "squad": squad_answerable,
    "topic": squad_topic,
    "electronics": lambda folder: subjqa_unanimous(folder, "electronics"),
    "restaurants": lambda folder: subjqa_unanimous(folder, "restaurants"),
}
_KINDS = ("money", "count", "amount", "duration", "frequency", "time", "place", "person", "name", "cause", "yes-no", "open")


@dataclass(frozen=True, slots=True)
class QuestionTable:
    """One row a question: features of its best sentence and of the passage, the package's own two scores, and the label."""

    names: tuple[str, ...]
    values: Floats
    answer_scores: Floats
    relevance_scores: Floats
    answered: Bools
    groups: tuple[str, ...]


def main() -> None:
    """Print one block a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=Path("../shared/data"), help="folder of the public sets")
    parser.add_argument("--sets", nargs="+", default=[*QUESTION_SETS, "clinc"], choices=[*QUESTION_SETS, "clinc"])
    parser.add_argument("--vectors", type=Path, default=None, help="file (.npz) that keeps vectors between runs")
    arguments = parser.parse_args()
    with open_embedder(read_settings({})) as embedder:
        shelf = VectorShelf(embedder, arguments.vectors)
        for name in arguments.sets:
            lines = (
                scope_report(clinc(arguments.data), shelf)
                if name == "clinc"
                else report(name, table(QUESTION_SETS[name](arguments.data), shelf))
            )
            for line in lines:
                print(line, flush=True)


def table(rows: Sequence[Asked], shelf: VectorShelf) -> QuestionTable:
    """Embed and measure every question."""
    shelf.add(text for row in rows for text in (row.question, row.passage, *split_up(row.passage)))
    measured = [_measured(row, shelf) for row in rows]
    return QuestionTable(
        names=tuple(measured[0][0]),
        values=np.array([list(values.values()) for values, _, _ in measured]),
        answer_scores=np.array([answer for _, answer, _ in measured]),
        relevance_scores=np.array([relevant for _, _, relevant in measured]),
        answered=np.array([row.answered for row in rows]),
        groups=tuple(row.group for row in rows),
    )


def _measured(row: Asked, shelf: VectorShelf) -> tuple[dict[str, float], float, float]:
    asked, vector = read_question(row.question), shelf[row.question]
    texts = split_up(row.passage) or (row.passage,)
    said = [read(text) for text in texts]
    cosines = [float(vector @ shelf[text]) for text in texts]
    unmet = [meaning for meaning in asked.topic if meaning.weight > 0.5 and not any(found(meaning, reading.held) for reading in said)]
    each = [features(asked, reading, cosine, unmet) for reading, cosine in zip(said, cosines, strict=True)]
    whole = float(vector @ shelf[row.passage])
    covered = coverage(asked.topic, row.passage)
    near = max(0.0, whole)
    relevant = relevance_model().probability({"cosine": near, "coverage": covered, "joint": near * covered})
    best = max(range(len(texts)), key=lambda at: each[at]["coverage"] + 0.7 * cosines[at])
    return _row(asked, said, best, each[best], cosines, whole), max(answer_model().probability(values) for values in each), relevant


def _row(
    asked: Question, said: Sequence[Reading], best: int, own: Mapping[str, float], cosines: Sequence[float], whole: float
) -> dict[str, float]:
    around = [meaning for reading in said[max(0, best - 1) : best + 2] for meaning in reading.meanings]
    everything = [meaning for reading in said for meaning in reading.meanings]
    shares = overlap(asked.reading, said[best])
    denies = [float(any(tone.denied for tone in reading.tones)) for reading in (asked.reading, said[best])]
    return {
        **own,
        "cosine_max": max(cosines),
        "cosine_best": float(np.mean(sorted(cosines)[-3:])),
        "cosine_passage": whole,
        "coverage_around": shared(asked.topic, holding(around)),
        "coverage_passage": shared(asked.topic, holding(everything)),
        "pairs": shares.pairs,
        "focus": shared(said[best].meanings, holding(asked.topic)),
        "run": run(asked.topic, said[best].meanings) if asked.topic else 0.0,
        "order_kept": shares.order,
        "joint": cosines[best] * own["coverage"],
        "asks_denied": denies[0],
        "says_denied": denies[1],
        "offered_anywhere": float(any(offers(asked.kind, reading) for reading in said)),
        **{f"kind_{name}": float(asked.kind.name == name) for name in _KINDS},
    }


def report(name: str, rows: QuestionTable) -> Iterator[str]:
    """Lines for one set."""
    yield f"\n{name}: n {len(rows.groups)}, answered {rows.answered.mean():.2f}, groups {len(set(rows.groups))}"
    cosine = rows.values[:, [rows.names.index("cosine_max")]]
    yield _line("cosine alone", rows, *in_folds(cosine, rows))
    yield _line("folds", rows, *in_folds(rows.values, rows))
    floor = read_settings({}).min_evidence_relevance
    scores, threshold = (rows.relevance_scores, floor) if name == "topic" else (rows.answer_scores, ANSWERED_FROM)
    yield _line("shipped", rows, scores, scores >= threshold)


def _line(name: str, rows: QuestionTable, scores: Floats, decided: Bools) -> str:
    truth = rows.answered
    accuracy = interval(rows.groups, lambda at: balanced_accuracy(truth[at], decided[at]))
    area = interval(rows.groups, lambda at: auc(truth[at], scores[at]))
    return f"  {name:<14} BA {accuracy}  AUC {area}  let through {decided[~truth].mean():.2f}  refused though answered {1 - decided[truth].mean():.2f}"


def in_folds(values: Floats, rows: QuestionTable) -> tuple[Floats, Bools]:
    """Scores and decisions on rows neither model nor threshold has seen."""
    part = folds(rows.groups)
    scores, decided = np.zeros(len(part)), np.zeros(len(part), dtype=bool)
    for fold in range(part.max() + 1):
        train, test = part != fold, part == fold
        model = _logistic().fit(values[train], rows.answered[train])
        threshold = best_threshold(rows.answered[train], model.decision_function(values[train]))
        scores[test] = model.decision_function(values[test])
        decided[test] = scores[test] >= threshold
    return scores, decided


def _logistic() -> Pipeline:
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.03, class_weight="balanced", max_iter=500))


def scope_report(scope: Scope, shelf: VectorShelf) -> Iterator[str]:
    """CLINC150: best cosine to the lines that define the scope, and the package's relevance with the nearest of them as its evidence."""
    shelf.add((*scope.known, *(text for text, _ in (*scope.chosen, *scope.judged))))
    known = np.stack([shelf[text] for text in scope.known])
    chosen, judged = _scope_scores(scope.chosen, scope.known, known, shelf), _scope_scores(scope.judged, scope.known, known, shelf)
    truth = np.array([inside for _, inside in scope.judged])
    yield f"\nclinc: n {len(truth)}, in scope {truth.mean():.2f}"
    for column, name in enumerate(("cosine alone", "relevance")):
        threshold = best_threshold(np.array([inside for _, inside in scope.chosen]), chosen[:, column])
        decided = judged[:, column] >= threshold
        keeping = np.quantile(judged[truth, column], 0.05)
        yield (
            f"  {name:<14} BA {balanced_accuracy(truth, decided):.3f}  AUC {auc(truth, judged[:, column]):.3f}  threshold {threshold:.2f}"
            f"  out-of-scope recall with .95 kept {(judged[~truth, column] < keeping).mean():.3f}"
        )
    floor = read_settings({}).min_evidence_relevance
    passed = judged[:, 1] >= floor
    yield f"  shipped floor {floor}: in scope kept {passed[truth].mean():.3f}, out of scope refused {1 - passed[~truth].mean():.3f}"


def _scope_scores(questions: Sequence[tuple[str, bool]], lines: Sequence[str], known: Vectors, shelf: VectorShelf) -> Floats:
    found_scores = []
    for text, _ in questions:
        similar = known @ shelf[text]
        asked = read_question(text)
        scored = []
        for at in np.argsort(-similar)[:10]:
            near, covered = max(0.0, float(similar[at])), coverage(asked.topic, lines[at])
            scored.append(relevance_model().probability({"cosine": near, "coverage": covered, "joint": near * covered}))
        found_scores.append((float(similar.max()), 1.0 if asked.generic else max(scored)))
    return np.array(found_scores)


if __name__ == "__main__":
    main()
