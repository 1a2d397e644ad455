"""Pre- and post-processing joined into the graph: pixels in, answers out.

Before the network: uint8 NHWC to float, scale, mean, deviation, layout. After it: softmax, top-k.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, compose, helper, numpy_helper

from export.recipe import OutputSection, TensorSection

PREFIX = "likewise_"  # of every node and constant that is joined in; quantise keeps these in fp32
INPUT, PROBABILITIES = "pixels", "probabilities"
TOP_PROBABILITIES, TOP_INDICES = "top_probabilities", "top_indices"
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


def _before(tensor: TensorSection, size: tuple[int, int]) -> onnx.GraphProto:
    channels = 1 if tensor.channels == "grey" else 3
    height, width = size
    steps: list[tuple[str, str, np.ndarray | None]] = [("cast", "Cast", None)]
    constants: dict[str, np.ndarray] = {}

    def step(name: str, operator: str, value: np.ndarray) -> None:
        constants[f"{PREFIX}{name}_value"] = value
        steps.append((name, operator, value))

    if tensor.channels == "BGR":
        step("bgr", "Gather", np.array([2, 1, 0], np.int64))
    step("scale", *_scale(tensor))
    step("mean", "Sub", np.array(tensor.mean, np.float32))
    step("deviation", "Div", np.array(tensor.std, np.float32))

    nodes, last = [], INPUT
    for name, operator, value in steps:
        inputs = [last] if value is None else [last, f"{PREFIX}{name}_value"]
        last = f"{PREFIX}{name}_out"
        attributes = {"Cast": {"to": TensorProto.FLOAT}, "Gather": {"axis": 3}}.get(operator, {})
        nodes.append(helper.make_node(operator, inputs, [last], f"{PREFIX}{name}", **attributes))
    order = [0, 3, 1, 2] if tensor.layout == "NCHW" else [0, 1, 2, 3]
    nodes.append(
        helper.make_node("Transpose", [last], [f"{PREFIX}input"], f"{PREFIX}layout", perm=order)
    )
    shape = ["batch", height, width, channels]
    return helper.make_graph(
        nodes, "before",
        [helper.make_tensor_value_info(INPUT, TensorProto.UINT8, shape)],
        [helper.make_tensor_value_info(f"{PREFIX}input", TensorProto.FLOAT, [shape[i] for i in order])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )  # fmt: skip


def _scale(tensor: TensorSection) -> tuple[str, np.ndarray]:
    """ "1/255" divides, as the framework does: a product with the rounded 1/255 differs."""
    upper, _, lower = str(tensor.scale).partition("/")
    if lower and float(upper) == 1.0:
        return "Div", np.array(float(lower), np.float32)
    return "Mul", np.array(tensor.scale_value(), np.float32)


def _after(output: OutputSection, labels: int) -> onnx.GraphProto:
    scores = f"{PREFIX}scores"
    activation = "Softmax" if output.activation == "softmax" else "Identity"
    attributes = {"axis": -1} if activation == "Softmax" else {}
    k = min(output.top_k, labels)
    nodes = [
        helper.make_node(activation, [scores], [PROBABILITIES], f"{PREFIX}activation", **attributes),
        helper.make_node(
            "TopK", [PROBABILITIES, f"{PREFIX}k"], [TOP_PROBABILITIES, TOP_INDICES], f"{PREFIX}top_k"
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
