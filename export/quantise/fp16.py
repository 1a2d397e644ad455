"""fp16: half-precision weights and arithmetic, float32 at both ends and where half is narrow."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from export.errors import RecipeError
from export.quantise.narrow import narrow
from export.quantise.nodes import named, with_constants_as_weights, with_own_weights
from export.quantise.ranges import Run, largest
from export.tensors import Tensors

# Beside the converter's own: operators that name their type, or that hold graphs within.
TYPED = (
    "Cast", "CastLike", "RandomNormal", "RandomNormalLike", "RandomUniform", "Bernoulli",
    "Multinomial", "EyeLike", "HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix",
    "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "If", "Loop", "Scan",
)  # fmt: skip
FINITE = float(np.finfo(np.float16).max)
SMALLEST = float(np.finfo(np.float16).smallest_subnormal)


def to_fp16(
    core: onnx.ModelProto,
    calibration: Sequence[Tensors] = (),
    run: Run | None = None,
    keep_fp32: Sequence[str] = (),
) -> onnx.ModelProto:
    """The bare network in half precision, with float32 inputs and outputs.

    What half precision is too narrow for stays in float32 (see `narrow`); `calibration` are inputs
    of the bare network to measure that on by `run`. Processors hide an overflow, since they compute
    in float32; graphics cards do not. `keep_fp32` names further nodes or operators.
    """
    from onnxconverter_common import float16

    prepared = _prepared(core)
    if float16.check_if_fp16_ready(prepared.graph):
        raise RecipeError(
            "fp16: the network computes in half precision already; leave fp16 out of "
            "[variants] offer"
        )
    if not any(tensor.data_type == TensorProto.FLOAT for tensor in prepared.graph.initializer):
        raise RecipeError(
            "fp16: the network has no float32 weights, so it would get no smaller; leave fp16 out "
            "of [variants] offer"
        )
    operators = [*float16.DEFAULT_OP_BLOCK_LIST, *TYPED]
    ranges = largest(prepared, calibration, run) if run else {}
    blocked = narrow(prepared.graph, ranges) | _wanted(prepared.graph, keep_fp32)
    blocked |= {node.name for node in prepared.graph.node if node.op_type in operators}
    with_own_weights(prepared, [sorted(blocked)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one for each small weight; verify measures what they do
        converted: onnx.ModelProto = float16.convert_float_to_float16(
            prepared, min_positive_val=SMALLEST, max_finite_val=FINITE, keep_io_types=True,
            node_block_list=sorted(blocked),
            op_block_list=[],  # by name above: with "Cast" here it wraps its own casts for ever
        )  # fmt: skip
    _with_float32_outputs(converted.graph)
    _without_detours(converted.graph)
    _check(converted)
    return converted


def _check(model: onnx.ModelProto) -> None:
    """The converter writes files that no runtime loads, of graphs within If and Loop above all."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # onnx raises several unrelated types
        within = sorted({n.op_type for n in model.graph.node} & {"If", "Loop", "Scan"})
        because = f" ({', '.join(within)} is beyond it)" if within else ""
        raise RecipeError(
            f"fp16: the converter makes no valid file of this network{because}; leave fp16 out of "
            f"[variants] offer. {str(error).splitlines()[0]}"
        ) from error


def _wanted(graph: onnx.GraphProto, keep_fp32: Sequence[str]) -> set[str]:
    known = {node.name for node in graph.node} | {node.op_type for node in graph.node}
    if unknown := [name for name in keep_fp32 if name not in known]:
        raise RecipeError(
            f"variants.fp16.keep_fp32 names {', '.join(unknown)}: the network has no such node or "
            f"operator; its operators are {', '.join(sorted({n.op_type for n in graph.node}))}"
        )
    return {n.name for n in graph.node if n.name in keep_fp32 or n.op_type in keep_fp32}


def _prepared(core: onnx.ModelProto) -> onnx.ModelProto:
    """A copy that the converter (onnxconverter-common 1.16) can take.

    Nodes have names, constants are weights, and an output that is used within the network, too, as
    a state is, comes out of a node of its own: else it would be float32 to half-precision nodes.
    """
    model = onnx.ModelProto()
    model.CopyFrom(core)
    named(model)
    with_constants_as_weights(model)
    graph = model.graph
    used = {name for node in graph.node for name in node.input}
    for output in [value.name for value in graph.output if value.name in used]:
        within = f"{output}_within"
        for node in graph.node:
            for ends in (node.input, node.output):
                for i, name in enumerate(ends):
                    ends[i] = within if name == output else name
        graph.node.append(helper.make_node("Identity", [within], [output], within))
    return model


def _with_float32_outputs(graph: onnx.GraphProto) -> None:
    """The converter leaves an output in half precision where a node in float32 makes it."""
    makers = {name: node for node in graph.node for name in node.output}
    for value in graph.output:
        if value.type.tensor_type.elem_type != TensorProto.FLOAT16:
            continue
        cast = makers[value.name]
        if not _casts(cast, TensorProto.FLOAT16):
            raise RecipeError(f"fp16: the converter leaves the output {value.name} in half "
                              "precision; leave fp16 out of [variants] offer")  # fmt: skip
        cast.op_type = "Identity"
        del cast.attribute[:]
        value.type.tensor_type.elem_type = TensorProto.FLOAT


def _without_detours(graph: onnx.GraphProto) -> None:
    """Remove casts to half and back between nodes in float32.

    The converter leaves them where several nodes take the value, and what is beyond half's range
    becomes infinite on the way.
    """
    makers = {name: node for node in graph.node for name in node.output}
    outputs = {value.name for value in graph.output}
    instead: dict[str, str] = {}
    for node in graph.node:
        before = makers.get(node.input[0]) if _casts(node, TensorProto.FLOAT) else None
        if before is None or not _casts(before, TensorProto.FLOAT16):
            continue
        if node.output[0] in outputs:
            node.op_type, node.input[0] = "Identity", before.input[0]
            del node.attribute[:]
        else:
            instead[node.output[0]] = before.input[0]
    for node in graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = instead.get(name, name)
    _without_unused_casts(graph)


def _without_unused_casts(graph: onnx.GraphProto) -> None:
    while True:
        used = {name for node in graph.node for name in node.input} | {v.name for v in graph.output}
        idle = [n for n in graph.node if n.op_type == "Cast" and n.output[0] not in used]
        if not idle:
            return
        for node in idle:
            graph.node.remove(node)


def _casts(node: onnx.NodeProto, kind: int) -> bool:
    return node.op_type == "Cast" and node.attribute[0].i == kind
