"""Builders over files in the published form. The rows here are made up; the real ones are the user's."""

import json
from pathlib import Path
from typing import Any

import pytest

from grounding.answers import RefusalReason
from grounding.evaluation.builders import BUILDERS, build_set
from grounding.evaluation.cases import EvalSet
from grounding.evaluation.set_files import read_set
from runtime.errors import InvalidRequest


def put(data: Path, name: str, text: str, encoding: str = "utf-8") -> None:
    (data / name).parent.mkdir(parents=True, exist_ok=True)
    (data / name).write_text(text, encoding, newline="")


def built(name: str, data: Path, out: Path, limit: int | None = None) -> tuple[list[dict[str, Any]], EvalSet]:
    counts = build_set(name, data, out, limit)
    documents = [json.loads(line) for line in (out / "documents.jsonl").read_text("utf-8").splitlines()]
    eval_set = read_set(out, name)
    assert (counts.documents, counts.cases) == (len(documents), len(eval_set.cases))
    return documents, eval_set


def squad(data: Path) -> None:
    paragraphs = [
        {
            "context": "Bees fly. They hum.",
            "qas": [
                {
                    "id": "q1",
                    "question": " What do bees do? ",
                    "is_impossible": False,
                    "answers": [{"text": "fly"}, {"text": "fly"}, {"text": "hum"}],
                },
                {"id": "q2", "question": "Who bakes?", "is_impossible": True, "answers": [], "plausible_answers": [{"text": "Bees"}]},
            ],
        }
    ]
    put(data, "squad2/data__dev-v2.0.json", json.dumps({"data": [{"title": "Bees", "paragraphs": paragraphs}]}))


def test_squad_asks_every_question_over_its_own_paragraph(tmp_path: Path) -> None:
    squad(tmp_path)
    documents, eval_set = built("squad2", tmp_path, tmp_path / "out")
    assert [row["text"] for row in documents] == ["Bees fly. They hum."]
    answerable, impossible = eval_set.cases
    assert (answerable.question, answerable.expected.facts) == ("What do bees do?", ("fly|hum",))
    assert answerable.filters.doc_ids == (documents[0]["docId"],)
    assert (impossible.expected.answered, impossible.expected.facts) == (False, ())
    assert RefusalReason.NOT_ANSWERED in impossible.expected.reasons


def test_subjqa_keeps_unanimous_pairs_and_cuts_the_mark(tmp_path: Path) -> None:
    head = "question,review,human_ans_spans,item_id\r\n"
    review = '"Loud, but\nit \'s cheap ANSWERNOTFOUND"'
    rows = [
        f"How loud?,{review},ANSWERNOTFOUND,i1",
        f"How loud?,{review},Loud,i1",
        f"How cheap?,{review},it 's cheap,i1",
        f"How cheap?,{review},cheap,i1",
        f"How red?,{review},ANSWERNOTFOUND,i1",
        f"How red?,{review},ANSWERNOTFOUND,i1",
        f"Once?,{review},Loud,i1",
    ]
    for domain in ("electronics", "restaurants"):
        put(tmp_path, f"subjqa/SubjQA__{domain}__splits__train.csv", head + "\r\n".join(rows if domain == "electronics" else []))
        put(tmp_path, f"subjqa/SubjQA__{domain}__splits__dev.csv", head)
    documents, eval_set = built("subjqa", tmp_path, tmp_path / "out")
    assert [row["text"] for row in documents] == ["Loud, but\nit 's cheap"]
    assert {case.question: case.expected.answered for case in eval_set.cases} == {"How cheap?": True, "How red?": False}
    assert next(case for case in eval_set.cases if case.expected.answered).expected.facts == ("it 's cheap|cheap",)


def test_clinc_refuses_what_is_out_of_scope(tmp_path: Path) -> None:
    rows = {
        "train": [["book a flight", "flights"], ["fly me", "flights"], ["pay", "bills"]],
        "test": [["a plane", "flights"]],
        "oos_test": [["moo", "oos"]],
    }
    put(tmp_path, "clinc150/data__data_full.json", json.dumps(rows))
    documents, eval_set = built("clinc150", tmp_path, tmp_path / "out")
    inside, outside = eval_set.cases
    assert len(documents) == 3
    assert inside.expected.documents == ("clinc-00000", "clinc-00001")
    assert (outside.kind, outside.expected.answered) == ("out_of_scope", False)


def test_wice_counts_only_full_support(tmp_path: Path) -> None:
    rows = [
        {"claim": "Bees fly.", "evidence": ["Bees fly.", " "], "label": "supported"},
        {"claim": "Bees swim.", "evidence": ["Bees fly."], "label": "partially_supported"},
    ]
    put(tmp_path, "wice/data__entailment_retrieval__claim__dev.jsonl", "\n".join(json.dumps(row) for row in rows))
    documents, eval_set = built("wice", tmp_path, tmp_path / "out")
    assert [row["text"] for row in documents] == ["Bees fly.", "Bees fly."]
    assert [(case.question, case.expected.answered) for case in eval_set.cases] == [
        ("Is it said that Bees fly?", True),
        ("Is it said that Bees swim?", False),
    ]


def test_healthver_refuses_what_is_refuted_or_neither(tmp_path: Path) -> None:
    rows = "id,claim,evidence,label,question,x\r\n1,Tea cures,It does,Supports,q,\r\n2,Tea cures,It does not,Refutes,q,\r\n3,Tea cures,Rain,Neutral,q,\r\n"
    put(tmp_path, "healthver/data__healthver_dev.csv", rows)
    _, eval_set = built("healthver", tmp_path, tmp_path / "out")
    assert [(case.kind, case.expected.answered) for case in eval_set.cases] == [("supported", True), ("refuted", False), ("neutral", False)]


def test_expertqa_cuts_heads_and_marks_and_drops_bare_addresses(tmp_path: Path) -> None:
    long = "word " * 30
    claims = [
        {"claim_string": "Bees fly [1].", "evidence": [f"[1] http://x.example\n\n{long}"], "support": "Complete"},
        {"claim_string": "Short", "evidence": ["[1] http://x.example/" + "y" * 100], "support": "Complete"},
        {"claim_string": "None", "evidence": [long], "support": "Missing"},
        {"claim_string": "Null", "evidence": [long], "support": None},
        {"claim_string": "Part", "evidence": [long], "support": "Partial"},
    ]
    put(tmp_path, "expertqa/data__lfqa__rand_val.jsonl", json.dumps({"answers": {"engine": {"claims": claims}}}))
    documents, eval_set = built("expertqa", tmp_path, tmp_path / "out")
    assert [case.question for case in eval_set.cases] == ["Is it said that Bees fly?", "Is it said that Part?"]
    assert [case.expected.answered for case in eval_set.cases] == [True, False]
    assert not [row for row in documents if "http" in row["text"]]


def cranfield(data: Path) -> None:
    put(data, "cranfield/cran.all.1400", ".I 1\n.T\nwings\n.A\n.B\n.W\nwings .\nlift\n.I 2\n.T\n.W\n\n.I 3\n.T\n.W\ndrag\n", "ascii")
    put(data, "cranfield/cran.qry", ".I 001\n.W\nwhat lifts\n.I 004\n.W\nwhat drags\n", "ascii")
    put(data, "cranfield/cranqrel", "1 1 2\n1 2 3\n1 3 -1\n2 3 4", "ascii")


def test_cranfield_judges_by_ordinal_and_leaves_empty_documents_out(tmp_path: Path) -> None:
    cranfield(tmp_path)
    documents, eval_set = built("cranfield", tmp_path, tmp_path / "out")
    assert [row["text"] for row in documents] == ["wings . lift", "drag"]
    assert [(case.question, case.expected.documents) for case in eval_set.cases] == [
        ("what lifts", ("cran-1",)),
        ("what drags", ("cran-3",)),
    ]


def test_a_limit_takes_cases_evenly_with_the_documents_they_need(tmp_path: Path) -> None:
    rows = [{"claim": f"c{number}", "evidence": [f"e{number}"], "label": "supported"} for number in range(10)]
    put(tmp_path, "wice/data__entailment_retrieval__claim__dev.jsonl", "\n".join(json.dumps(row) for row in rows))
    documents, eval_set = built("wice", tmp_path, tmp_path / "out", limit=3)
    assert [row["text"] for row in documents] == ["e0", "e3", "e6"]
    assert len(eval_set.cases) == 3
    cranfield(tmp_path)
    documents, eval_set = built("cranfield", tmp_path, tmp_path / "cran", limit=1)
    assert (len(documents), len(eval_set.cases)) == (2, 1)


@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_data_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"data: .*cannot be read"):
        build_set(name, tmp_path, tmp_path / "out")


def test_data_of_another_form_is_named(tmp_path: Path) -> None:
    put(tmp_path, "squad2/data__dev-v2.0.json", '{"rows": []}')
    with pytest.raises(InvalidRequest, match="squad2 is not as published"):
        build_set("squad2", tmp_path, tmp_path / "out")


def test_what_is_built_can_be_ingested(tmp_path: Path) -> None:
    from search.ingest.files import ReadOptions, read_rows
    from search.ingest.parsing import Defaults
    from search.ingest.preview import preview

    squad(tmp_path)
    build_set("squad2", tmp_path, tmp_path / "out")
    with read_rows(tmp_path / "out" / "documents.jsonl", ReadOptions()) as rows:
        found = preview(rows, Defaults(), None)
    assert (found.received, found.rejected) == (1, 0)
    assert found.documents[0].text == "Bees fly. They hum."
