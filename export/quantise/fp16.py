"""fp16: half-precision weights and arithmetic, float32 at both ends and where half is narrow."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import onnx

from export.bisect import with_outputs
from export.tensors import Answers, Tensors

Run = Callable[[bytes, Tensors], Answers]

# Beyond it a value, or its square within a norm, is near the end of half precision (65,504).
TOO_LARGE = 30_000.0
NORMS = (
    "LayerNormalization", "InstanceNormalization", "GroupNormalization", "RMSNormalization",
    "ReduceMean", "ReduceSum", "ReduceL2", "ReduceSumSquare", "Pow", "Sqrt", "Reciprocal",
    "LpNormalization",
)  # fmt: skip
AT_ONCE = 64


def to_fp16(
    core: onnx.ModelProto,
    calibration: Sequence[Tensors] = (),
    run: Run | None = None,
    keep_fp32: Sequence[str] = (),
) -> onnx.ModelProto:
    """The bare network in half precision.

    Norms stay in float32, and so does every node that gives or takes a value beyond TOO_LARGE on
    the calibration data (inputs of the bare network): processors hide such an overflow, since they
    compute in float32, and graphics cards do not. `keep_fp32` names further nodes or operators.
    """
    from onnxconverter_common import float16

    prepared = _with_identities(core)
    constants = _too_large_constants(prepared)
    wide = _too_large(prepared, calibration, run) if run else set()
    blocked = [
        node.name
        for node in prepared.graph.node
        if node.name in keep_fp32
        or node.op_type in keep_fp32
        or node.op_type in NORMS
        or wide & {*node.input, *node.output}
        or constants & {*node.input}
        or _squares(node)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one for each small weight; verify measures what they do
        converted: onnx.ModelProto = float16.convert_float_to_float16(
            prepared, keep_io_types=True, node_block_list=blocked,
            op_block_list=[*float16.DEFAULT_OP_BLOCK_LIST, "Cast"],
        )  # fmt: skip
    return converted


def _squares(node: onnx.NodeProto) -> bool:
    """x * x, the written-out square of a norm."""
    return node.op_type == "Mul" and len(set(node.input)) == 1


def _with_identities(core: onnx.ModelProto) -> onnx.ModelProto:
    """A named copy with an Identity behind each float input: the converter does not come to an end
    when nodes at the graph's input are to be left out (onnxconverter-common 1.16)."""
    model = onnx.ModelProto()
    model.CopyFrom(core)
    graph = model.graph
    floats = [
        value.name for value in graph.input
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    ]  # fmt: skip
    for number, node in enumerate(graph.node):
        node.name = node.name or f"node_{number}"
        for i, name in enumerate(node.input):
            if name in floats:
                node.input[i] = f"{name}_within"
    before = [
        onnx.helper.make_node("Identity", [name], [f"{name}_within"], f"{name}_within")
        for name in floats
    ]
    nodes = [*before, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    return model


def _too_large_constants(model: onnx.ModelProto) -> set[str]:
    """Weights and constants that half precision cannot hold, as masks of -3.4e38."""
    found = set()
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            values = onnx.numpy_helper.to_array(tensor)
            if values.size and float(np.abs(values).max()) > TOO_LARGE:
                found.add(tensor.name)
    for node in model.graph.node:
        if node.op_type == "Constant":
            for attribute in node.attribute:
                if attribute.HasField("t") and attribute.t.data_type == onnx.TensorProto.FLOAT:
                    values = onnx.numpy_helper.to_array(attribute.t)
                    if values.size and float(np.abs(values).max()) > TOO_LARGE:
                        found.add(node.output[0])
    return found


def _too_large(model: onnx.ModelProto, calibration: Iterable[Tensors], run: Run | None) -> set[str]:
    """Inner tensors that reach beyond TOO_LARGE on any calibration input."""
    if run is None:
        return set()
    kinds = _float_tensors(model)
    names, found = list(kinds), set()
    for inputs in calibration:
        for start in range(0, len(names), AT_ONCE):
            wanted = {name: kinds[name] for name in names[start : start + AT_ONCE]}
            for name, values in run(with_outputs(model, wanted), inputs).items():
                finite = np.abs(values.astype(np.float64))
                if values.size and not finite.max() <= TOO_LARGE:
                    found.add(name)
    return found


def _float_tensors(model: onnx.ModelProto) -> dict[str, int]:
    inferred = onnx.shape_inference.infer_shapes(model)
    kinds = {v.name: v.type.tensor_type.elem_type for v in inferred.graph.value_info}
    made = {name for node in model.graph.node for name in node.output}
    return {n: k for n, k in kinds.items() if n in made and k == onnx.TensorProto.FLOAT}
