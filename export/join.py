"""Pre- and post-processing joined into the graph: pixels in, answers out.

Before the network: uint8 NHWC to float, scale, mean, deviation, layout. After it: softmax, top-k.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, compose, helper, numpy_helper

from export.graph_names import INPUT, PREFIX, PROBABILITIES, TOP_INDICES, TOP_PROBABILITIES
from export.recipe import OutputSection, TensorSection

IR_VERSION = 10


def join(core: onnx.ModelProto, tensor: TensorSection, size: tuple[int, int], output: OutputSection,
         labels: int) -> onnx.ModelProto:  # fmt: skip
    """`core` ("input" -> "scores") between its pre- and post-processing."""
    opset = next(item.version for item in core.opset_import if item.domain == "")
    core.ir_version = IR_VERSION
    before = _model(_before(tensor, size), opset)
    after = _model(_after(output, labels), opset)
    joined = compose.merge_models(before, core, [(f"{PREFIX}input", "input")])
    return compose.merge_models(joined, after, [("scores", f"{PREFIX}scores")])


@dataclass(frozen=True)
class Step:
    """One node of a chain, with its constant second input if it has one."""

    name: str
    operator: str
    constant: npt.NDArray[np.generic] | None = None
    attributes: dict[str, Any] = field(default_factory=dict)


def _before(tensor: TensorSection, size: tuple[int, int]) -> onnx.GraphProto:
    to_nchw = tensor.layout == "NCHW"
    order = [0, 3, 1, 2] if to_nchw else [0, 1, 2, 3]
    steps = [
        Step("float", "Cast", attributes={"to": TensorProto.FLOAT}),
        _scale(tensor),
        Step("mean", "Sub", np.array(tensor.mean, np.float32)),
        Step("deviation", "Div", np.array(tensor.std, np.float32)),
        Step("layout", "Transpose", attributes={"perm": order}),
    ]
    if tensor.channels == "BGR":
        steps.insert(1, Step("bgr", "Gather", np.array([2, 1, 0], np.int64), {"axis": 3}))
    shape: list[int | str | None] = ["batch", *size, 1 if tensor.channels == "grey" else 3]
    return helper.make_graph(
        _chain(steps, INPUT, f"{PREFIX}input"),
        "before",
        [helper.make_tensor_value_info(INPUT, TensorProto.UINT8, shape)],
        [
            helper.make_tensor_value_info(
                f"{PREFIX}input", TensorProto.FLOAT, [shape[axis] for axis in order]
            )
        ],
        [
            numpy_helper.from_array(step.constant, f"{PREFIX}{step.name}_value")
            for step in steps
            if step.constant is not None
        ],
    )


def _chain(steps: list[Step], first: str, last: str) -> list[onnx.NodeProto]:
    nodes, value = [], first
    for step in steps:
        inputs = [value] if step.constant is None else [value, f"{PREFIX}{step.name}_value"]
        value = last if step is steps[-1] else f"{PREFIX}{step.name}_out"
        name = f"{PREFIX}{step.name}"
        nodes.append(helper.make_node(step.operator, inputs, [value], name, **step.attributes))
    return nodes


def _scale(tensor: TensorSection) -> Step:
    """ "1/255" divides, as the framework does: a product with the rounded 1/255 differs."""
    upper, _, lower = str(tensor.scale).partition("/")
    if lower and float(upper) == 1.0:
        return Step("scale", "Div", np.array(float(lower), np.float32))
    return Step("scale", "Mul", np.array(tensor.scale_value(), np.float32))


def _after(output: OutputSection, labels: int) -> onnx.GraphProto:
    scores = f"{PREFIX}scores"
    activation = "Softmax" if output.activation == "softmax" else "Identity"
    attributes: dict[str, Any] = {"axis": -1} if activation == "Softmax" else {}
    k = min(output.top_k, labels)
    nodes = [
        helper.make_node(
            activation, [scores], [PROBABILITIES], f"{PREFIX}activation", **attributes
        ),
        helper.make_node(
            "TopK",
            [PROBABILITIES, f"{PREFIX}k"],
            [TOP_PROBABILITIES, TOP_INDICES],
            f"{PREFIX}top_k",
        ),
    ]
    return helper.make_graph(
        nodes, "after",
        [helper.make_tensor_value_info(scores, TensorProto.FLOAT, ["batch", labels])],
        [
            helper.make_tensor_value_info(PROBABILITIES, TensorProto.FLOAT, ["batch", labels]),
            helper.make_tensor_value_info(TOP_PROBABILITIES, TensorProto.FLOAT, ["batch", k]),
            helper.make_tensor_value_info(TOP_INDICES, TensorProto.INT64, ["batch", k]),
        ],
        [numpy_helper.from_array(np.array([k], np.int64), f"{PREFIX}k")],
    )  # fmt: skip


def _model(graph: onnx.GraphProto, opset: int) -> onnx.ModelProto:
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=IR_VERSION
    )
