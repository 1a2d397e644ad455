"""The first tensor that differs is named, with its node and both values."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from export.bisect import first_difference
from export.runtime import Session
from export.tensors import Answers, Tensors

ROWS = {"x": np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)}


def chain(weight: float, nodes: int = 200) -> onnx.ModelProto:
    """x -> relu -> scaled -> many sums -> y; only `scaled` depends on the weight."""
    made = [
        helper.make_node("Relu", ["x"], ["relu"], "relu_node"),
        helper.make_node("Mul", ["relu", "w"], ["scaled"], "scale_node"),
        helper.make_node("Add", ["scaled", "w"], ["v0"], "add_0"),
    ]
    for i in range(nodes):
        made.append(helper.make_node("Add", [f"v{i}", "one"], [f"v{i + 1}"], f"add_{i + 1}"))
    made.append(helper.make_node("Identity", [f"v{nodes}"], ["y"], "last"))
    graph = helper.make_graph(
        made, "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])],
        [numpy_helper.from_array(np.array(weight, np.float32), "w"),
         numpy_helper.from_array(np.array(1, np.float32), "one")],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def native(model: bytes, inputs: Tensors) -> Answers:
    return Session(model).run_batch(inputs)


def test_the_first_tensor_that_differs_is_named_with_its_node_and_both_values() -> None:
    found = first_difference((chain(2.0), native), (chain(2.5), native), ROWS, 1e-3)

    assert found is not None
    assert (found.tensor, found.node, found.operator) == ("scaled", "scale_node", "Mul")
    assert (found.one, found.other) == (4.0, 5.0)
    assert found.index == (2, 3)
    assert "scaled of scale_node (Mul): 4 and 5" in str(found)


def test_equal_graphs_do_not_part() -> None:
    assert first_difference((chain(2.0), native), (chain(2.0), native), ROWS, 0.0) is None


@pytest.mark.parametrize("tolerance", [0.3])
def test_a_difference_within_the_tolerance_is_none(tolerance: float) -> None:
    assert first_difference((chain(2.0), native), (chain(2.5), native), ROWS, tolerance) is None


def test_an_overflow_parts_where_it_happens() -> None:
    found = first_difference((chain(3e38), native), (chain(1.0), native), ROWS, 1e-3)
    assert found is not None
    assert found.tensor == "scaled"
