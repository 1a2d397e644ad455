"""fp16: right on strict half-precision arithmetic, as graphics cards have it, not only on CPUs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnxconverter_common import float16

from export.errors import RecipeError
from export.quantise.fp16 import to_fp16
from export.quantise.ranges import largest
from export.runtime import Session
from export.tensors import Answers, Tensors

CASES = Path(__file__).parents[1] / "cases"
Floats = npt.NDArray[np.float32]
RANDOM = np.random.default_rng(3)


def f32(values: npt.ArrayLike) -> Floats:
    return np.array(values, np.float32)


def run(model: bytes, feeds: Sequence[Tensors]) -> Iterable[Answers]:
    session = Session(model)
    return [session.run_batch(one) for one in feeds]


def native(model: onnx.ModelProto, inputs: Tensors) -> Floats:
    """The only answer, by ONNX Runtime on this processor."""
    onnx.checker.check_model(model, full_check=True)
    (answer,) = Session(model.SerializeToString()).run_batch(inputs).values()
    assert answer.dtype == np.float32
    return f32(answer)


def strict(model: onnx.ModelProto, inputs: Tensors) -> Floats:
    """The same with every value in half precision rounded to it, as numpy does and cards do."""
    with np.errstate(all="ignore"):
        (answer,) = ReferenceEvaluator(model).run(None, inputs)
    return f32(answer)


def plain(model: onnx.ModelProto) -> onnx.ModelProto:
    """As the converter makes it by itself."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    converted: onnx.ModelProto = float16.convert_float_to_float16(copy, keep_io_types=True)
    return converted


def network(
    nodes: list[onnx.NodeProto], inputs: dict[str, list[int | str]], weights: Tensors,
    rank: int = 2,
) -> onnx.ModelProto:  # fmt: skip
    shape = ["batch", "rows", "columns"][:rank]
    graph = helper.make_graph(
        nodes, "tiny",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def halves(model: onnx.ModelProto) -> list[str]:
    return [t.name for t in model.graph.initializer if t.data_type == TensorProto.FLOAT16]


@pytest.mark.parametrize(
    ("case", "given", "tolerance"),
    [
        ("fp16-cast-to-float-inside", ["ids"], 0.01),
        ("fp16-constants-out-of-range", ["x", "mask"], 0.01),
        ("fp16-layernorm-overflow-hidden", ["x"], 0.02),
        ("fp16-resize-scales", ["x"], 0.01),
    ],
)
def test_the_public_cases_are_right_natively_and_in_strict_half_precision(
    case: str, given: list[str], tolerance: float
) -> None:
    model = onnx.load(CASES / case / "fp32.onnx")
    expected = np.load(CASES / case / "expected.npz")
    inputs = {name: expected[name] for name in given}

    half = to_fp16(model)

    for got in (native(half, inputs), strict(half, inputs)):
        np.testing.assert_allclose(got, expected["y"], rtol=tolerance, atol=tolerance)


def test_strict_half_precision_shows_what_the_converter_alone_hides_on_a_processor() -> None:
    folder = CASES / "fp16-layernorm-overflow-hidden"
    half = plain(onnx.load(folder / "fp32.onnx"))
    expected = np.load(folder / "expected.npz")

    np.testing.assert_allclose(native(half, {"x": expected["x"]}), expected["y"], atol=0.02)
    assert np.abs(strict(half, {"x": expected["x"]}) - expected["y"]).max() > 1


def test_a_value_too_large_on_real_data_is_never_in_half_precision() -> None:
    # the product is beyond 65,504 and goes two ways: there the converter by itself goes through
    # half precision between nodes in float32
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["wide"], "widens"),
        helper.make_node("Neg", ["wide"], ["less"], "negates"),
        helper.make_node("Abs", ["wide"], ["size"], "measures"),
        helper.make_node("Add", ["less", "size"], ["sum"], "adds"),
        helper.make_node("Mul", ["sum", "small"], ["y"], "narrows"),
    ]
    weights: Tensors = {"W": np.eye(4, dtype=np.float32) * 9e4, "small": f32([1e-3])}
    model = network(nodes, {"x": ["batch", 4]}, weights)
    x = f32([[1, -1, 2, -3]])

    half = to_fp16(model, [{"x": x}], run)

    expected = f32([[0, 180, 0, 540]])
    for got in (native(half, {"x": x}), strict(half, {"x": x})):
        np.testing.assert_allclose(got, expected, rtol=2e-3)
    unmeasured = strict(to_fp16(model), {"x": x})
    assert not np.allclose(unmeasured, expected, rtol=2e-3)


def test_a_vector_of_zeros_is_normalised_to_zeros_despite_its_tiny_epsilon() -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["h"], "layer"),
        helper.make_node("ReduceL2", ["h", "axis"], ["length"], "length", keepdims=1),
        helper.make_node("Max", ["length", "tiny"], ["divisor"], "at_least"),
        helper.make_node("Div", ["h", "divisor"], ["y"], "normalised"),
    ]
    weights: Tensors = {
        "W": RANDOM.normal(size=(4, 4)).astype(np.float32), "tiny": f32(1e-12),
        "axis": np.array([1], np.int64),
    }  # fmt: skip
    half = to_fp16(network(nodes, {"x": ["batch", 4]}, weights))
    zeros: Tensors = {"x": np.zeros((1, 4), np.float32)}

    assert "W" in halves(half)
    for got in (native(half, zeros), strict(half, zeros)):
        assert got.tolist() == [[0, 0, 0, 0]]


def test_a_mask_of_minus_the_largest_float_leaves_no_nan_where_all_is_masked() -> None:
    # (1 - mask) * -3.4e38, as attention has it; no calibration data says so
    nodes = [
        helper.make_node("Sub", ["one", "mask"], ["off"], "off"),
        helper.make_node("Mul", ["off", "lowest"], ["bias"], "bias"),
        helper.make_node("Unsqueeze", ["bias", "axis"], ["row"], "row"),
        helper.make_node("Add", ["scores", "row"], ["masked"], "masked"),
        helper.make_node("Softmax", ["masked"], ["y"], "softmax", axis=-1),
    ]
    weights: Tensors = {
        "one": f32(1), "lowest": f32(np.finfo(np.float32).min),
        "axis": np.array([1], np.int64),
    }  # fmt: skip
    model = network(nodes, {"mask": ["batch", 3], "scores": ["batch", 2, 3]}, weights, 3)
    inputs: Tensors = {
        "mask": f32([[1, 1, 0], [0, 0, 0]]),
        "scores": RANDOM.normal(size=(2, 2, 3)).astype(np.float32),
    }

    got = strict(to_fp16(model), inputs)

    np.testing.assert_allclose(got, native(model, inputs), atol=1e-3)


def test_angles_of_far_positions_keep_their_digits() -> None:
    # rotary positions: half precision knows no odd number above 2,048
    nodes = [
        helper.make_node("Mul", ["position", "frequency"], ["angle"], "angle"),
        helper.make_node("Sin", ["angle"], ["sine"], "sine"),
        helper.make_node("MatMul", ["sine", "W"], ["y"], "layer"),
    ]
    weights: Tensors = {
        "frequency": f32([[1.0, 0.3, 0.1, 0.01]]),
        "W": RANDOM.normal(size=(4, 4)).astype(np.float32),
    }
    model = network(nodes, {"position": ["batch", 1]}, weights)
    inputs: Tensors = {"position": f32([[4095], [2049], [7]])}

    half = to_fp16(model)

    assert "W" in halves(half)
    np.testing.assert_allclose(strict(half, inputs), native(model, inputs), atol=5e-3)
    wrong = strict(plain(model), inputs)
    assert np.abs(wrong - native(model, inputs)).max() > 0.1


@pytest.mark.timeout(60)
def test_nodes_at_the_input_may_stay_in_float_and_share_their_weight() -> None:
    # the converter by itself does not come to an end here, and mixes types at a shared weight
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["a"], "first"),
        helper.make_node("MatMul", ["a", "W"], ["b"], "second"),
        helper.make_node("Add", ["x", "b"], ["y"], "around"),
    ]
    weights: Tensors = {"W": RANDOM.normal(size=(4, 4)).astype(np.float32)}
    model = network(nodes, {"x": ["batch", 4]}, weights)
    x = RANDOM.normal(size=(2, 4)).astype(np.float32)

    half = to_fp16(model, keep_fp32=["first", "Add"])

    assert halves(half) == ["W"]
    np.testing.assert_allclose(
        native(half, {"x": x}), native(model, {"x": x}), rtol=5e-3, atol=5e-3
    )


def test_a_name_that_is_no_node_and_no_operator_is_refused() -> None:
    nodes = [helper.make_node("MatMul", ["x", "W"], ["y"], "layer")]
    model = network(nodes, {"x": ["batch", 4]}, {"W": f32(np.eye(4))})

    with pytest.raises(RecipeError, match=r"keep_fp32 names Rleu.*operators are MatMul"):
        to_fp16(model, keep_fp32=["Rleu"])


def test_a_network_in_half_precision_already_is_refused() -> None:
    nodes = [helper.make_node("MatMul", ["x", "W"], ["y"], "layer")]
    model = network(nodes, {"x": ["batch", 4]}, {"W": f32(np.eye(4))})

    with pytest.raises(RecipeError, match="half precision already"):
        to_fp16(to_fp16(model))


def test_a_network_without_weights_to_halve_is_refused() -> None:
    model = network([helper.make_node("Relu", ["x"], ["y"], "relu")], {"x": ["batch", 4]}, {})

    with pytest.raises(RecipeError, match=r"no float32 weights.* leave fp16 out"):
        to_fp16(model)


def test_a_branch_that_the_converter_breaks_is_refused_with_the_reason() -> None:
    def branch(name: str) -> onnx.GraphProto:
        out = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        return helper.make_graph([helper.make_node(name, ["h"], [name])], name, [], [out])

    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["h"], "layer"),
        helper.make_node("ReduceSum", ["h"], ["sum"], "sum", keepdims=0),
        helper.make_node("Greater", ["sum", "zero"], ["large"], "large"),
        helper.make_node(
            "If", ["large"], ["y"], "if", then_branch=branch("Neg"), else_branch=branch("Abs")
        ),
    ]
    model = network(nodes, {"x": ["batch", 4]}, {"W": f32(np.eye(4)), "zero": f32(0)})

    with pytest.raises(RecipeError, match=r"no valid file .*If is beyond it.* leave fp16 out"):
        to_fp16(model)


def test_ranges_are_the_largest_of_all_inputs_and_empty_tensors_have_none() -> None:
    nodes = [
        helper.make_node("Mul", ["x", "ten"], ["tenfold"], "tenfold"),
        helper.make_node("Slice", ["tenfold", "zero", "zero"], ["none"], "none"),
        helper.make_node("Log", ["x"], ["logarithm"], "log"),
        helper.make_node("Concat", ["none", "logarithm"], ["y"], "joined", axis=0),
    ]
    weights: Tensors = {"ten": f32(10), "zero": np.array([0], np.int64)}
    model = network(nodes, {"x": ["batch", 2]}, weights)

    feeds: list[Tensors] = [{"x": f32([[1, 3]])}, {"x": f32([[-7, 2], [1, 1]])}]
    found = largest(model, feeds, run)

    assert found["tenfold"] == 70
    assert found["none"] == 0
    assert found["logarithm"] == np.inf, "the logarithm of -7 is no number"
