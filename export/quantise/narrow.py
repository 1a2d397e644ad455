"""Which nodes half precision is too narrow for: it holds 6e-5 to 65,504, to three digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx

TOO_LARGE = 30_000.0  # half of what half precision holds: other data reaches further
TOO_SMALL = float(np.finfo(np.float16).smallest_normal)  # graphics cards may take less for 0
NORMS = (
    "LayerNormalization", "InstanceNormalization", "GroupNormalization", "RMSNormalization",
    "MeanVarianceNormalization", "LpNormalization", "LRN", "SimplifiedLayerNormalization",
    "SkipLayerNormalization", "ReduceMean", "ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare",
    "ReduceLogSumExp", "Pow", "Sqrt", "Reciprocal",
)  # fmt: skip
STEPS = ("Add", "Sub", "Mul", "Div")  # what a norm is written out of, beside the above
ANGLES = ("Sin", "Cos")
MOVES = (
    "Identity", "Reshape", "Transpose", "Unsqueeze", "Squeeze", "Expand", "Slice", "Gather",
    "Concat", "Flatten", "Split", "Tile",
)  # fmt: skip
KEEP_LARGE = (*MOVES, *STEPS, "Where", "Neg", "Min", "Max")  # what stays out of range after these
KEEP_SMALL = (*MOVES, "Add", "Sub", "Mul", "Where", "Neg", "Max", "Clip", "Sqrt", "Pow")


def narrow(graph: onnx.GraphProto, ranges: Mapping[str, float]) -> set[str]:
    """Names of the nodes that are to stay in float32.

    Norms, also those written out; what gives or takes a value beyond TOO_LARGE on real data
    (`ranges`: the largest value of each tensor); constants that half precision does not hold,
    and all that meets them before something bounds it again; angles, which need all their digits.
    """
    wide = {name for name, value in ranges.items() if not value <= TOO_LARGE}
    large, small = _constants(graph)
    found = _following(graph, large, KEEP_LARGE) | _following(graph, small, KEEP_SMALL)
    found |= {node.name for node in graph.node if wide & {*node.input, *node.output}}
    return found | _norms(graph) | _angles(graph)


def _norms(graph: onnx.GraphProto) -> set[str]:
    """Norms, squares, and the steps right behind them: x - mean, + epsilon, / deviation."""
    found, values = set(), set()
    for node in graph.node:
        square = node.op_type == "Mul" and node.input[0] == node.input[1]
        if node.op_type in NORMS or square:
            found.add(node.name)
            values |= {*node.output}
    behind = {n.name for n in graph.node if n.op_type in STEPS and values & {*n.input}}
    return found | behind


def _angles(graph: onnx.GraphProto) -> set[str]:
    """Sines and cosines with all that their angles are computed by, back to layers with weights.

    Half precision knows no odd number above 2,048: the angle of a far position would be noise.
    """
    makers = {name: node for node in graph.node for name in node.output}
    matrices = {tensor.name for tensor in graph.initializer if min([0, *tensor.dims][-2:]) > 1}
    found: set[str] = set()
    waiting = [node for node in graph.node if node.op_type in ANGLES]
    while waiting:
        node = waiting.pop()
        if node.name in found or matrices & {*node.input[:2]}:
            continue
        found.add(node.name)
        waiting += [makers[name] for name in node.input if name in makers]
    return found


def _following(graph: onnx.GraphProto, values: set[str], passed_on: Sequence[str]) -> set[str]:
    """Nodes that take one of these values, or what such a node passes on."""
    found, reach = set(), set(values)
    for node in graph.node:
        if reach & {*node.input, *node.output}:
            found.add(node.name)
            if node.op_type in passed_on:
                reach |= {*node.output}
    return found


def _constants(graph: onnx.GraphProto) -> tuple[set[str], set[str]]:
    """Constants that are too large, and those that are altogether too small but not 0."""
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):  # of ConstantOfShape, say
                tensors[node.output[0]] = attribute.t
    large, small = set(), set()
    for name, tensor in tensors.items():
        if tensor.data_type != onnx.TensorProto.FLOAT:
            continue
        most = float(np.abs(onnx.numpy_helper.to_array(tensor)).max(initial=0.0))
        if most > TOO_LARGE:
            large.add(name)
        elif 0 < most < TOO_SMALL:
            small.add(name)
    return large, small
