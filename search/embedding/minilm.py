"""The built-in embedder: all-MiniLM-L6-v2 with 8-bit weights, shipped inside this package. No network, no key, no GPU."""

import hashlib
import os
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from runtime.clock import Deadline
from runtime.errors import Misconfigured
from search.documents import Vector, Vectors

FOLDER = Path(__file__).resolve().parent / "weights" / "minilm"
DIMENSION = 384
MAX_TOKENS = 256
_MAX_CHARS = 8_192
_BATCH_TOKENS = 512
_REMEMBERED = 1_024


class MiniLM:
    """Texts of equal token count are run together, nothing is padded, and activations are quantised per token: a vector depends on its text alone.

    Text is cut at 8,192 characters and then at 256 tokens. Thread-safe; each call computes on at most ``threads`` threads.
    """

    def __init__(self, *, threads: int = 0, folder: Path = FOLDER) -> None:
        """``threads`` 0 means one per core.

        Raises:
            Misconfigured: the weights are not there or not whole.
        """
        self._threads = threads or os.cpu_count() or 1
        self._session, self._tokenizer = _session(folder), _tokenizer(folder)
        self._model = f"minilm-l6-v2-int8@{_expected(folder)['model.onnx'][:8]}"
        self._workers = ThreadPoolExecutor(self._threads, thread_name_prefix="embedder") if self._threads > 1 else None
        self._recent: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """The model's name with the first 8 digits of its checksum."""
        return self._model

    @property
    def dimension(self) -> int:
        """384."""
        return DIMENSION

    def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> Vectors:
        """See :class:`search.ports.Embedder`. A text that comes twice is computed once; single texts of late are remembered.

        Raises:
            DeadlineExceeded: the deadline passed before the work was done.
        """
        if len(texts) == 1:
            return self._question(texts[0], deadline)[np.newaxis]
        distinct = list(dict.fromkeys(texts))
        vectors = self._computed(distinct, deadline)
        if len(distinct) == len(texts):
            return vectors
        row_of = {text: row for row, text in enumerate(distinct)}
        return vectors[[row_of[text] for text in texts]]

    def close(self) -> None:
        """Stop the worker threads; further calls are errors."""
        if self._workers is not None:
            self._workers.shutdown(cancel_futures=True)

    def _question(self, text: str, deadline: Deadline | None) -> Vector:
        text = text[:_MAX_CHARS]
        with self._lock:
            if text in self._recent:
                self._recent.move_to_end(text)
                return self._recent[text].copy()
        vector: Vector = self._computed([text], deadline)[0]
        with self._lock:
            self._recent[text] = vector
            while len(self._recent) > _REMEMBERED:
                self._recent.popitem(last=False)
        return vector.copy()

    def _computed(self, texts: list[str], deadline: Deadline | None) -> Vectors:
        token_ids = self._token_ids(texts)
        vectors = np.empty((len(texts), DIMENSION), np.float32)

        def run(rows: list[int]) -> None:
            if deadline is not None:
                deadline.check("computing vectors")
            batch = np.array([token_ids[row] for row in rows], np.int64)
            vectors[rows] = self._session.run(["vectors"], {"input_ids": batch})[0]

        batches = list(_batches(token_ids))
        if self._workers is None or len(batches) == 1:
            for rows in batches:
                run(rows)
        else:
            list(self._workers.map(run, batches))
        return vectors

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        encodings = self._tokenizer.encode_batch_fast([_encodable(text[:_MAX_CHARS]) for text in texts])
        found = [encoding.ids for encoding in encodings]
        return [ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]] for ids in found]


def verify_weights(folder: Path = FOLDER) -> None:
    """Compare every file with its checksum; reads 24 MB.

    Raises:
        Misconfigured: a file is missing or differs.
    """
    for name, expected in _expected(folder).items():
        path = folder / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise _broken(path)


def _expected(folder: Path) -> dict[str, str]:
    sums = folder / "SHA256SUMS"
    try:
        return {name: digest for digest, name in (line.split() for line in sums.read_text("ascii").splitlines())}
    except (OSError, ValueError) as error:
        raise _broken(sums) from error


def _session(folder: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise _broken(folder / "model.onnx") from error


def _tokenizer(folder: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:
        raise _broken(folder / "tokenizer.json") from error


def _broken(path: Path) -> Misconfigured:
    return Misconfigured(f"the built-in embedder's file {path.name} is missing or damaged; install the package again")


def _encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _batches(token_ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    by_length: dict[int, list[int]] = defaultdict(list)
    for row, ids in enumerate(token_ids):
        by_length[len(ids)].append(row)
    for length, rows in sorted(by_length.items(), reverse=True):
        size = max(1, _BATCH_TOKENS // length)
        yield from (rows[start : start + size] for start in range(0, len(rows), size))
