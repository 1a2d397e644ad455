"""Which nodes of a graph stay in float32."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from export.errors import RecipeError
from export.graph_names import PREFIX

WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "MatMul")


def kept(graph: onnx.GraphProto, wanted: Sequence[str]) -> list[str]:
    """Names of the nodes that stay in float: all that was joined in, and what is wanted.

    Wanted are "first-layer", "depthwise", "last-layer", or names of nodes. RecipeError else.
    """
    groups = {
        "first-layer": layers(graph)[:1],
        "last-layer": layers(graph)[-1:],
        "depthwise": depthwise(graph),
    }
    known = {node.name for node in graph.node}
    names = [name for name in known if name.startswith(PREFIX)]
    for name in wanted:
        if name not in groups and name not in known:
            raise RecipeError(
                f'keep_fp32 names "{name}"; give {", ".join(groups)} or one of '
                + ", ".join(sorted(known - set(names)))
            )
        names += groups.get(name, [name])
    return sorted(set(names))


def layers(graph: onnx.GraphProto) -> list[str]:
    """Names of the nodes with weights, in graph order."""
    weights = {tensor.name for tensor in graph.initializer}
    return [
        node.name
        for node in graph.node
        if node.op_type in WEIGHTED and any(name in weights for name in node.input[1:2])
    ]


def depthwise(graph: onnx.GraphProto) -> list[str]:
    """Names of the convolutions that have a group a channel."""
    channels = {tensor.name: tensor.dims[0] for tensor in graph.initializer if tensor.dims}
    return [
        node.name
        for node in graph.node
        if node.op_type == "Conv" and 1 < _group(node) == channels.get(node.input[1])
    ]


def weight_bytes(graph: onnx.GraphProto, operators: Sequence[str]) -> int:
    """How many bytes the weights of these operators have."""
    sizes = {tensor.name: len(tensor.raw_data) for tensor in graph.initializer}
    return sum(
        sizes.get(node.input[1], 0)
        for node in graph.node
        if node.op_type in operators and len(node.input) > 1
    )


def _group(node: onnx.NodeProto) -> int:
    return next((int(a.i) for a in node.attribute if a.name == "group"), 1)
