"""Which embedder the settings ask for."""

import subprocess
import sys

import pytest

from runtime.settings import read_settings
from search.embedding.minilm import MiniLM
from search.embedding.opening import open_embedder

WITHOUT_THE_EXTRA = """
import sys
sys.modules["sentence_transformers"] = None
from runtime.errors import Misconfigured
from runtime.settings import read_settings
from search.embedding.opening import open_embedder
try:
    with open_embedder(read_settings({}, embedder="sentence-transformers:any/model")):
        pass
except Misconfigured as error:
    print(error)
"""


def test_the_built_in_embedder_is_the_default_and_takes_its_threads_from_the_settings() -> None:
    with open_embedder(read_settings({}, embedder_threads=1)) as embedder:
        assert isinstance(embedder, MiniLM)
        assert embedder.embed(["hello"]).shape == (1, 384)


def test_a_missing_extra_is_named_with_the_command_that_installs_it() -> None:
    said = subprocess.run([sys.executable, "-c", WITHOUT_THE_EXTRA], capture_output=True, text=True, check=True)
    assert "pip install 'wisdomagent[sentence-transformers]'" in said.stdout


def test_importing_the_opening_loads_no_model_library() -> None:
    loaded = "import sys, search.embedding.opening; print([name for name in ('onnxruntime', 'httpx', 'torch') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing_but_speed(threads: int) -> None:
    with open_embedder(read_settings({}, embedder_threads=threads)) as embedder:
        assert embedder.embed(["one", "two words", "three words here"]).shape == (3, 384)
