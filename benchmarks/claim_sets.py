"""Public sets of claims with evidence, read as published; the traps of each are handled here. Nothing of them is kept in this repository."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grounding.sentences import sentences

Label = Literal["supports", "refutes", "neither"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim beside the sentences it is judged against. Pairs of one ``group`` never straddle folds; ``gold`` are alternative sets of evidence sentences."""

    claim: str
    evidence: tuple[str, ...]
    label: Label
    group: str
    gold: tuple[frozenset[int], ...] = ()

    @property
    def supported(self) -> bool:
        """The binary label."""
        return self.label == "supports"


def split_up(text: str) -> tuple[str, ...]:
    """The sentences of a passage."""
    return tuple(span.of(text) for span in sentences(text))


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def wice(folder: Path) -> list[Pair]:
    """Supported against partially and not supported, with the alternative gold sets; blank evidence lines keep their places."""
    return [
        Pair(
            claim=row["claim"],
            evidence=tuple(row["evidence"]),
            label="supports" if row["label"] == "supported" else "neither",
            group=str(row["meta"]["claim_title"]),
            gold=tuple(frozenset(indices) for indices in row["supporting_sentences"]),
        )
        for row in _json_lines(folder / "wice" / "data__entailment_retrieval__claim__dev.jsonl")
    ]


def healthver(folder: Path) -> list[Pair]:
    """Three labels; folds by question."""
    labels: Mapping[str, Label] = {"Supports": "supports", "Refutes": "refutes", "Neutral": "neither"}
    with (folder / "healthver" / "data__healthver_dev.csv").open(encoding="utf-8", newline="") as rows:
        return [Pair(row["claim"], split_up(row["evidence"]), labels[row["label"]], row["question"]) for row in csv.DictReader(rows)]


def expertqa(folder: Path) -> list[Pair]:
    """Complete against Partial and Incomplete. Bare addresses are no evidence; the marks ``[n]`` and the heads of pages are cut off."""
    found = []
    for number, row in enumerate(_json_lines(folder / "expertqa" / "data__lfqa__rand_val.jsonl")):
        for answer in row["answers"].values():
            for claim in answer["claims"]:
                evidence = " ".join(re.sub(r"^\[\d+\]\s*\S+\s*", "", text) for text in claim["evidence"])
                if claim["support"] in {"Complete", "Partial", "Incomplete"} and len(evidence) >= 80:
                    label: Label = "supports" if claim["support"] == "Complete" else "neither"
                    said = re.sub(r"\s*\[\d+\]", "", claim["claim_string"]).strip()
                    found.append(Pair(said, split_up(evidence), label, str(number)))
    return found


def fever(folder: Path) -> list[Pair]:
    """Entailment against the rest, folds by evidence; Penn-style tokens are put together again."""
    base = folder / "fever_rte"
    parts = [(base / f"RTE-Fever__processed__dev.{name}").read_text("utf-8").split("\n") for name in ("raw.input0", "raw.input1", "label")]
    labels: Mapping[str, Label] = {"entailment": "supports", "not_entailment": "neither"}
    return [
        Pair(_untokenised(claim), split_up(_untokenised(evidence)), labels[label], evidence)
        for evidence, claim, label in zip(*parts, strict=True)
        if evidence.strip()
    ]


def _untokenised(text: str) -> str:
    plain = re.sub(r"``\s?|\s?''", '"', text).replace("-LRB- ", "(").replace(" -RRB-", ")").replace("-LSB- ", "[").replace(" -RSB-", "]")
    return re.sub(r"\s+([.,;:!?'’)])", r"\1", plain)


def halueval(folder: Path) -> list[Pair]:
    """Question and answer make the claim; the right and the invented answer of an item stay in one fold."""
    found = []
    for number, row in enumerate(_json_lines(folder / "halueval" / "generation__qa__qa_one-turn_data.json")):
        evidence = split_up(row["knowledge"])
        found.append(Pair(f"{row['question']} {row['right_answer']}", evidence, "supports", str(number)))
        found.append(Pair(f"{row['question']} {row['hallucinated_answer']}", evidence, "neither", str(number)))
    return found


def negation(name: str) -> Callable[[Path], list[Pair]]:
    """One of MNLI, RTE, SNLI with negations inserted; blocks of three rows share a fold."""
    labels: Mapping[str, Label] = {"entailment": "supports", "contradiction": "refutes"}

    def read(folder: Path) -> list[Pair]:
        path = folder / "negation_nli" / f"data__new_benchmarks__clean_data__{name}.txt"
        with path.open(encoding="cp1252", newline="") as rows:
            return [
                Pair(row["Hypothesis"], split_up(row["Text"]), labels.get(row["gold_label"], "neither"), str(int(row["index"]) // 3))
                for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)
            ]

    return read


CLAIM_SETS: Mapping[str, Callable[[Path], list[Pair]]] = {
    "wice": wice,
    "healthver": healthver,
    "expertqa": expertqa,
    "fever": fever,
    "halueval": halueval,
    "negation_mnli": negation("MNLI"),
    "negation_rte": negation("RTE"),
    "negation_snli": negation("SNLI"),
}
WEIGHTS_ALLOWED = ("expertqa", "halueval", "negation_mnli", "negation_rte", "negation_snli")
"""Sets whose licence permits weights that ship."""
