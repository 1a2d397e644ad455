"""q8 and q4 of small networks: right values, or a plain refusal."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from export.errors import RecipeError
from export.graph_names import PREFIX
from export.quantise.nodes import depthwise, followers, kept, layers
from export.quantise.q4 import to_q4
from export.quantise.q8 import Quantiser, Way
from export.runtime import Session
from export.tensors import Tensors
from export.workspace import ROOT

CASES = Path(__file__).parents[1] / "cases"
Floats = npt.NDArray[np.float32]
STATIC: tuple[Way, ...] = ("minmax", "percentile")


def f32(values: npt.ArrayLike) -> Floats:
    return np.array(values, np.float32)


def random(*shape: int, scale: float = 1.0, seed: int = 5) -> Floats:
    values: Floats = (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float32)
    return values


def write(
    path: Path, nodes: list[onnx.NodeProto], inputs: dict[str, list[int | str]], weights: Tensors,
    rank: int = 2, kind: int = TensorProto.FLOAT,
) -> Path:  # fmt: skip
    graph = helper.make_graph(
        nodes, "tiny",
        [helper.make_tensor_value_info(n, kind, shape) for n, shape in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "a", "b", "c"][:rank])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    return path


@pytest.fixture
def convolutions(tmp_path: Path) -> Path:
    """Two convolutions that share their bias, between them a depthwise one, and a sum after.

    One tensor is called as ONNX Runtime would call its copy of the bias.
    """
    nodes = [
        helper.make_node("Div", ["x", "scale"], ["pixels"], f"{PREFIX}scale"),
        helper.make_node("Conv", ["pixels", "W1", "b"], ["b0"], "first", pads=[1] * 4),
        helper.make_node("Relu", ["b0"], ["r1"], "relu"),
        helper.make_node("Conv", ["r1", "D"], ["r2"], "each", pads=[1] * 4, group=8),
        helper.make_node("Conv", ["r2", "W2", "b"], ["r3"], "second"),
        helper.make_node("Add", ["r3", "r1"], ["r4"], "around"),
        helper.make_node("GlobalAveragePool", ["r4"], ["r5"], "pool"),
        helper.make_node("Flatten", ["r5"], ["r6"], "flat"),
        helper.make_node("Gemm", ["r6", "L", "c"], ["r7"], "last"),
        helper.make_node("Softmax", ["r7"], ["y"], f"{PREFIX}softmax"),
    ]
    weights: Tensors = {
        "scale": f32([2]), "W1": random(8, 2, 3, 3, seed=1), "b": random(8, seed=2),
        "D": random(8, 1, 3, 3, seed=3), "W2": random(8, 8, 1, 1, seed=4),
        "L": random(8, 3, scale=0.5), "c": random(3),
    }  # fmt: skip
    return write(tmp_path / "cnn.onnx", nodes, {"x": ["batch", 2, 8, 8]}, weights)


@pytest.fixture
def products(tmp_path: Path) -> Path:
    """A product, a Gemm with its weight turned round that another one uses too, an unnamed node."""
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["h1"], "first"),
        helper.make_node("Relu", ["h1"], ["h2"]),
        helper.make_node("Gemm", ["h2", "T", "b"], ["h3"], "turned", transB=1),
        helper.make_node("Gemm", ["h3", "T", "b"], ["y"], "again", transB=1),
    ]
    weights: Tensors = {
        "W": random(64, 64, scale=0.2, seed=1), "T": random(64, 64, scale=0.2, seed=2),
        "b": random(64, seed=3),
    }  # fmt: skip
    return write(tmp_path / "mlp.onnx", nodes, {"x": ["batch", 64]}, weights)


def inputs(count: int, *shape: int) -> list[Tensors]:
    rows = random(count, *shape, seed=9)
    return [{"x": rows[i : i + 1]} for i in range(count)]


def answers(model: onnx.ModelProto | Path, feeds: Sequence[Tensors]) -> Floats:
    data = model if isinstance(model, Path) else model.SerializeToString()
    rows = [answer["y"].astype(np.float32) for answer in Session(data).run(feeds)]
    return np.concatenate(rows)


def operators(model: onnx.ModelProto) -> dict[str, str]:
    return {node.name: node.op_type for node in model.graph.node}


def floats(model: onnx.ModelProto) -> set[str]:
    return {t.name for t in model.graph.initializer if t.data_type == TensorProto.FLOAT}


@pytest.mark.parametrize("way", STATIC)
def test_static_answers_are_near_although_two_layers_share_a_bias(
    convolutions: Path, way: Way
) -> None:
    feeds = inputs(24, 2, 8, 8)

    model = Quantiser(convolutions, feeds).make(way)

    onnx.checker.check_model(model, full_check=True)
    assert np.abs(answers(model, feeds) - answers(convolutions, feeds)).max() < 0.03
    assert not {"W1", "W2", "D", "L"} & floats(model)


def test_what_was_joined_in_is_not_quantised(convolutions: Path) -> None:
    model = Quantiser(convolutions, inputs(4, 2, 8, 8)).make("minmax")

    makers = {name: node.op_type for node in model.graph.node for name in node.output}
    joined = [node for node in model.graph.node if node.name.startswith(PREFIX)]
    assert [node.op_type for node in joined] == ["Div", "Softmax"]
    assert joined[0].input[0] == "x"
    assert makers["y"] == "Softmax", "probabilities come out as the softmax gives them"


def test_groups_and_names_stay_in_float(convolutions: Path) -> None:
    quantiser = Quantiser(convolutions, inputs(4, 2, 8, 8))

    assert {"W1", "D"} <= floats(quantiser.make("minmax", ["first-layer", "depthwise"]))
    assert {"L"} <= floats(quantiser.make("minmax", ["last-layer"]))
    assert "W2" in floats(quantiser.make("minmax", ["second"]))
    assert {"W1", "D", "L"} <= floats(quantiser.make("minmax", only=["second"]))


def test_a_name_that_is_no_node_is_refused_with_what_there_is(convolutions: Path) -> None:
    with pytest.raises(RecipeError, match=r"third: no such node; .* first, each, second, last"):
        Quantiser(convolutions, inputs(4, 2, 8, 8)).make("minmax", ["third"])


def test_a_node_that_was_folded_into_another_may_still_be_named(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["m"], "product"),
        helper.make_node("Add", ["m", "b"], ["s"], "sum"),  # folded: a Gemm
        helper.make_node("MatMul", ["s", "V"], ["y"], "other"),
    ]
    weights: Tensors = {"W": random(8, 8), "b": random(8), "V": random(8, 8, seed=6)}
    path = write(tmp_path / "m.onnx", nodes, {"x": ["batch", 8]}, weights)

    ways: tuple[Way, ...] = ("dynamic", "minmax")
    for way in ways:
        model = Quantiser(path, inputs(4, 8)).make(way, ["product"])
        assert "W" in floats(model)
        assert "V" not in floats(model)


def test_a_batch_norm_is_folded_before_it_is_quantised(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Conv", ["x", "W"], ["c"], "convolution"),
        helper.make_node("BatchNormalization", ["c", "g", "b", "m", "v"], ["y"], "norm"),
    ]
    weights: Tensors = {
        "W": random(8, 2, 3, 3), "g": random(8), "b": random(8), "m": random(8),
        "v": np.abs(random(8)) + f32(0.5),
    }  # fmt: skip
    path = write(tmp_path / "bn.onnx", nodes, {"x": ["batch", 2, 8, 8]}, weights, rank=4)
    feeds = inputs(8, 2, 8, 8)

    model = Quantiser(path, feeds).make("minmax")

    assert "BatchNormalization" not in operators(model).values()
    right = answers(path, feeds)
    assert np.abs(answers(model, feeds) - right).max() < 0.02 * np.abs(right).max()


def test_dynamic_is_near_where_a_turned_weight_is_used_twice(products: Path) -> None:
    feeds = inputs(8, 64)

    model = Quantiser(products, []).make("dynamic")

    right = answers(products, feeds)
    assert np.abs(answers(model, feeds) - right).max() < 0.05 * np.abs(right).max()
    assert floats(model).isdisjoint({"W", "T"})
    assert "T" in floats(Quantiser(products, []).make("dynamic", ["turned", "again"]))


def test_dynamic_convolutions_are_refused_with_the_reason() -> None:
    path = CASES / "quant-dynamic-conv-signed/fp32.onnx"
    expected = np.load(path.parent / "expected.npz")
    quantiser = Quantiser(path, [{"x": expected["x"]}])

    with pytest.raises(RecipeError, match=r'288 of 288 bytes.*set method = "static"'):
        quantiser.ways("dynamic", measured=False)
    assert quantiser.ways("auto", measured=False) == ["minmax"]
    got = answers(quantiser.make("minmax"), [{"x": expected["x"]}])
    np.testing.assert_allclose(got, expected["y"], atol=0.5229)


def test_dynamic_depends_on_neighbours_and_static_does_not() -> None:
    path = CASES / "quant-dynamic-depends-on-neighbours/fp32.onnx"
    case = np.load(path.parent / "expected.npz")
    alone = [{"x": case["a"]}]
    together = [{"x": case["a"]}, {"x": case["b"]}]
    quantiser = Quantiser(path, together)

    dynamic, static = quantiser.make("dynamic"), quantiser.make("minmax")

    np.testing.assert_allclose(answers(dynamic, alone), case["y"], atol=0.01816)
    assert np.abs(answers(dynamic, alone) - answers(dynamic, together)[:1]).max() > 0.05
    np.testing.assert_array_equal(answers(static, alone), answers(static, together)[:1])


@pytest.mark.parametrize("way", ["dynamic", "minmax"])
def test_large_values_times_large_weights_do_not_saturate(tmp_path: Path, way: Way) -> None:
    # the public case: a file with signed weights, as quantisers usually write it, gives half of
    # the right value on processors without VNNI, and the right one elsewhere
    folder = CASES / "quant-u8s8-saturation"
    weights = numpy_helper.to_array(onnx.load(folder / "model.onnx").graph.initializer[0])
    case = np.load(folder / "expected.npz")
    x: Tensors = {"x": case["x"].astype(np.float32)}
    nodes = [helper.make_node("MatMul", ["x", "W"], ["y"], "product")]
    path = write(
        tmp_path / "m.onnx", nodes, {"x": ["batch", 64]}, {"W": weights.astype(np.float32)}
    )

    model = Quantiser(path, [x]).make(way)

    assert not any(t.data_type == TensorProto.INT8 for t in model.graph.initializer)
    np.testing.assert_allclose(answers(model, [x]), case["y"], atol=0.01 * np.abs(case["y"]).max())


def test_the_method_follows_the_weights_and_the_data(convolutions: Path, products: Path) -> None:
    same = inputs(4, 64)
    mixed: list[Tensors] = [*inputs(2, 64), {"x": random(2, 64)}]

    assert Quantiser(products, []).ways("auto", measured=True) == ["dynamic"]
    assert Quantiser(products, same).ways("auto", measured=True) == [
        "dynamic", "minmax", "percentile",
    ]  # fmt: skip
    assert Quantiser(products, same).ways("static", measured=False) == ["minmax"]
    assert Quantiser(products, mixed).ways("static", measured=True) == ["minmax"]
    assert Quantiser(convolutions, inputs(4, 2, 8, 8)).ways("auto", measured=True) == [*STATIC]
    with pytest.raises(RecipeError, match="calibration"):
        Quantiser(convolutions, []).ways("auto", measured=True)


def test_clips_of_different_length_can_calibrate(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Conv", ["x", "W"], ["c"], "convolution"),
        helper.make_node("ReduceMean", ["c", "axis"], ["y"], "mean", keepdims=0),
    ]
    weights: Tensors = {"W": random(4, 1, 9), "axis": np.array([2], np.int64)}
    path = write(tmp_path / "clips.onnx", nodes, {"x": ["batch", 1, "samples"]}, weights)
    feeds: list[Tensors] = [{"x": random(1, 1, length, seed=length)} for length in (90, 200, 31)]

    model = Quantiser(path, feeds).make("minmax")

    right = np.concatenate([answers(path, [one]) for one in feeds])
    got = np.concatenate([answers(model, [one]) for one in feeds])
    assert np.abs(got - right).max() < 0.1


def test_nothing_to_make_smaller_is_refused(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"], "relu")]
    path = write(tmp_path / "relu.onnx", nodes, {"x": ["batch", 4]}, {})

    with pytest.raises(RecipeError, match="leave q8 out"):
        Quantiser(path, inputs(2, 4)).ways("auto", measured=False)
    with pytest.raises(RecipeError, match="leave q4 out"):
        to_q4(path, 32, [])


def test_layers_are_found_with_what_follows_them(convolutions: Path) -> None:
    graph = onnx.load(convolutions).graph

    assert layers(graph) == ["first", "each", "second", "last"]
    assert depthwise(graph) == ["each"]
    assert followers(graph, ["Add", "Relu"]) == {"first": ["relu"], "second": ["around"]}
    assert kept(graph, ["depthwise"]) == ["each", f"{PREFIX}scale", f"{PREFIX}softmax"]


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    """An embedding that is the last layers' weight too, a table of integers, a turned Gemm."""
    nodes = [
        helper.make_node("Gather", ["order", "x"], ["place"], "order_of"),
        helper.make_node("Gather", ["E", "place"], ["h"], "embedding"),
        helper.make_node("ReduceMean", ["h", "axis"], ["m"], "mean", keepdims=0),
        helper.make_node("Gemm", ["m", "G", "g"], ["n"], "turned", transB=1),
        helper.make_node("MatMul", ["n", "P"], ["o"], "product"),
        helper.make_node("Gemm", ["o", "E"], ["s"], "tied", transB=1),
        helper.make_node("MatMul", ["s", "E"], ["y"], "again"),
    ]
    weights: Tensors = {
        "order": np.arange(50, dtype=np.int64)[::-1].copy(), "E": random(50, 48, seed=1),
        "axis": np.array([1], np.int64), "G": random(48, 48, scale=0.2, seed=2), "g": random(48),
        "P": random(48, 48, scale=0.2, seed=3),
    }  # fmt: skip
    return write(
        tmp_path / "text.onnx", nodes, {"x": ["batch", "tokens"]}, weights, kind=TensorProto.INT64
    )


@pytest.mark.parametrize("block", [16, 32, 128])
def test_q4_is_near_with_a_tied_embedding(sentences: Path, block: int) -> None:
    feeds: list[Tensors] = [{"x": np.array([[1, 7, 49, 7]], np.int64)}, {"x": np.array([[0, 3]])}]

    model = to_q4(sentences, block, [])

    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("MatMulNBits") == 4
    assert kinds.count("GatherBlockQuantized") == 1
    assert {o.domain: o.version for o in model.opset_import}[""] == 20
    right = np.concatenate([answers(sentences, [one]) for one in feeds])
    got = np.concatenate([answers(model, [one]) for one in feeds])
    cosine = (right * got).sum() / np.linalg.norm(right) / np.linalg.norm(got)
    assert cosine > 0.95


def test_q4_leaves_named_nodes_in_float(sentences: Path) -> None:
    model = to_q4(sentences, 32, ["embedding", "turned"])

    kinds = [node.op_type for node in model.graph.node]
    assert "GatherBlockQuantized" not in kinds
    assert kinds.count("MatMulNBits") == 3
    assert {"E_of_order_of", "G"} <= floats(model)


RUN = """
import * as ort from 'onnxruntime-web';
const [file, dims, data] = process.argv.slice(2);
ort.env.wasm.numThreads = 1;
const session = await ort.InferenceSession.create(file, {executionProviders: ['wasm']});
const x = new ort.Tensor('int64', BigInt64Array.from(JSON.parse(data).map(BigInt)),
  JSON.parse(dims));
const {y} = await session.run({x});
console.log(JSON.stringify(Array.from(y.data)));
"""


@pytest.mark.skipif(not (ROOT / "node_modules/onnxruntime-web").is_dir(), reason="npm ci is due")
def test_q4_gives_the_same_in_the_browsers_runtime(sentences: Path, tmp_path: Path) -> None:
    x = np.array([[1, 7, 49, 7], [0, 3, 3, 12]], np.int64)
    model = to_q4(sentences, 32, [])
    onnx.save(model, tmp_path / "q4.onnx")
    script = ROOT / "node_modules/.likewise-run.mjs"  # where its import is found
    script.write_text(RUN)

    given = [json.dumps(x.shape), json.dumps(x.ravel().tolist())]

    try:
        done = subprocess.run(
            ["node", script, tmp_path / "q4.onnx", *given],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    finally:
        script.unlink()

    assert done.returncode == 0, done.stderr
    got = np.array(json.loads(done.stdout.splitlines()[-1])).reshape(2, -1)
    native = Session(model.SerializeToString()).run_batch({"x": x})["y"].astype(np.float32)
    np.testing.assert_allclose(got, native, rtol=1e-4, atol=1e-3)
