"""The sample corpus: balanced, honest about what is assigned, and the same on every machine."""

import importlib.util
import os
from collections import Counter
from datetime import datetime
from pathlib import Path
from types import ModuleType

import pytest

from api.sample import attribution, sample_documents

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("WA_TEST_DATA", ROOT.parent / "shared" / "data"))


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_sample", ROOT / "scripts" / "make_sample.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_sample_is_balanced_over_all_77_intents() -> None:
    themes = Counter(document["theme_id"] for document in sample_documents())
    assert len(themes) == 77
    assert 2_900 <= sum(themes.values()) <= 3_100
    assert max(themes.values()) - min(themes.values()) <= 4


def test_ids_are_unique_and_texts_are_not_blank() -> None:
    documents = list(sample_documents())
    assert len({document["doc_id"] for document in documents}) == len(documents)
    assert all(document["text"] == document["text"].strip() != "" for document in documents)


def test_every_record_says_what_is_assigned() -> None:
    assert {document["attributes"]["assigned"] for document in sample_documents()} == {"occurred_at,account_id,source"}
    assert "no time, account, source or rating" in attribution()


def test_assigned_times_lie_in_the_stated_months_and_accounts_number_about_200() -> None:
    documents = list(sample_documents())
    times = [datetime.fromisoformat(document["occurred_at"]) for document in documents]
    assert times == sorted(times)
    assert times[0].isoformat() >= "2026-06-01T00:00:00+00:00"
    assert times[-1].isoformat() < "2026-11-30T00:00:00+00:00"
    assert 190 <= len({document["account_id"] for document in documents}) <= 200
    assert {document["source"] for document in documents} == {"chat", "app", "email"}


def test_the_script_makes_the_same_sample_again() -> None:
    train = DATA / "banking77" / "banking_data__train.csv"
    if not train.exists():
        pytest.skip(f"BANKING77 is not at {train}; set WA_TEST_DATA")
    script = _script()
    made = [script.record(text, intent) for text, intent in script.balanced(script.messages(train))]
    assert sorted(made, key=lambda row: str(row["doc_id"])) == sorted(sample_documents(), key=lambda row: str(row["doc_id"]))
