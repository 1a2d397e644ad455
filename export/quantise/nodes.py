"""Which nodes of a graph stay in float32, and what there is to make smaller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import onnx

from export.errors import RecipeError
from export.graph_names import PREFIX

CONVOLUTIONS = ("Conv", "ConvTranspose")
PRODUCTS = ("MatMul", "Gemm")
SHOWN = 20  # names of nodes in a message; a graph has thousands


def kept(
    graph: onnx.GraphProto, wanted: Sequence[str], merged: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Names of the nodes that stay in float: all that was joined in, and what is wanted.

    Wanted are "first-layer", "depthwise", "last-layer", or names of nodes; `merged` tells where
    nodes are that an optimisation merged into others. RecipeError for what is none of these.
    """
    groups: dict[str, Sequence[str]] = {
        **(merged or {}),
        "first-layer": layers(graph)[:1],
        "last-layer": layers(graph)[-1:],
        "depthwise": depthwise(graph),
    }
    known = {node.name for node in graph.node}
    names = [name for name in known if name.startswith(PREFIX)]
    unknown = [name for name in wanted if name not in groups and name not in known]
    if unknown:
        raise RecipeError(_unknown(unknown, layers(graph)))
    for name in wanted:
        names += groups.get(name, [name])
    return sorted(set(names))


def layers(graph: onnx.GraphProto) -> list[str]:
    """Names of the nodes with weights, in graph order."""
    weights = {tensor.name for tensor in graph.initializer}
    return [
        node.name
        for node in graph.node
        if node.op_type in (*CONVOLUTIONS, *PRODUCTS) and weights & {*node.input[:2]}
    ]


def depthwise(graph: onnx.GraphProto) -> list[str]:
    """Names of the convolutions that see each channel by itself."""
    alone = {
        tensor.name for tensor in graph.initializer if len(tensor.dims) > 1 and tensor.dims[1] == 1
    }
    return [
        node.name
        for node in graph.node
        if node.op_type == "Conv" and _group(node) > 1 and node.input[1] in alone
    ]


def followers(graph: onnx.GraphProto, operators: Sequence[str]) -> dict[str, list[str]]:
    """Nodes of these operators by the layer that comes last before them."""
    names = set(layers(graph))
    last: dict[str, str] = {}
    order: dict[str, int] = {}
    found: dict[str, list[str]] = {}
    for number, node in enumerate(graph.node):
        before = {last[name] for name in node.input if name in last}
        layer = max(before, key=order.__getitem__, default="")
        if node.name in names:
            layer, order[node.name] = node.name, number
        elif layer and node.op_type in operators and not node.name.startswith(PREFIX):
            found.setdefault(layer, []).append(node.name)
        if layer:
            last.update(dict.fromkeys(node.output, layer))
    return found


def weight_bytes(graph: onnx.GraphProto, operators: Sequence[str]) -> int:
    """How many bytes the float32 weights of these operators have."""
    sizes = {
        tensor.name: 4 * _count(tensor.dims)
        for tensor in graph.initializer
        if tensor.data_type == onnx.TensorProto.FLOAT
    }
    used = {
        name for node in graph.node if node.op_type in operators for name in node.input[:2]
    }  # fmt: skip
    return sum(sizes.get(name, 0) for name in used)


def named(model: onnx.ModelProto) -> None:
    """Give every node a name of its own: what stays in float is told by names."""
    taken: set[str] = set()
    for number, node in enumerate(model.graph.node):
        name = node.name or f"{node.op_type}_{number}"
        while name in taken:
            name = f"{name}_{number}"
        node.name = name
        taken.add(name)


def with_constants_as_weights(model: onnx.ModelProto) -> None:
    """Turn Constant nodes into initialisers: the quantisers look for weights only there."""
    others = []
    for node in model.graph.node:
        value = _constant(node)
        if value is None:
            others.append(onnx.NodeProto.FromString(node.SerializeToString()))
        else:
            value.name = node.output[0]
            model.graph.initializer.append(value)
    del model.graph.node[:]
    model.graph.node.extend(others)


def with_own_weights(
    model: onnx.ModelProto, owners: Iterable[Sequence[str]], only: set[str] | None = None
) -> None:
    """Give each group of nodes (by names) copies of the weights (`only` these) that others use too.

    What a quantiser makes of a weight for one node another node cannot use: other scales for a
    shared bias, another layout for an embedding that is a last layer too.
    """
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes = {node.name: node for node in model.graph.node}
    taken = {name for node in model.graph.node for name in (*node.input, *node.output)}
    for group in filter(None, owners):
        mine = [nodes[name] for name in group]
        inside, outside = _uses(mine), _uses(n for n in nodes.values() if n.name not in set(group))
        for name in sorted(inside & outside & weights.keys() & (only or weights.keys())):
            copy = onnx.TensorProto.FromString(weights[name].SerializeToString())
            copy.name = _free(f"{name}_of_{group[0]}", taken)
            taken.add(copy.name)
            model.graph.initializer.append(copy)
            for node in mine:
                for i, used in enumerate(node.input):
                    node.input[i] = copy.name if used == name else used


def _uses(nodes: Iterable[onnx.NodeProto]) -> set[str]:
    return {name for node in nodes for name in node.input}


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _constant(node: onnx.NodeProto) -> onnx.TensorProto | None:
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
        return None
    attribute = node.attribute[0]
    if attribute.name == "value":
        whole: onnx.TensorProto = onnx.TensorProto.FromString(attribute.t.SerializeToString())
        return whole
    value = onnx.helper.get_attribute_value(attribute)
    kinds = {"value_float": onnx.TensorProto.FLOAT, "value_floats": onnx.TensorProto.FLOAT,
             "value_int": onnx.TensorProto.INT64, "value_ints": onnx.TensorProto.INT64}  # fmt: skip
    if attribute.name not in kinds:
        return None
    values, dims = (list(value), [len(value)]) if attribute.name.endswith("s") else ([value], [])
    tensor: onnx.TensorProto = onnx.helper.make_tensor("", kinds[attribute.name], dims, values)
    return tensor


def _unknown(names: Sequence[str], known: Sequence[str]) -> str:
    shown = ", ".join(known[:SHOWN]) + (", ..." if len(known) > SHOWN else "")
    return (
        f"keep_fp32 names {', '.join(names)}: no such node; give first-layer, depthwise, "
        f"last-layer or nodes, as {shown}"
    )


def _count(dims: Iterable[int]) -> int:
    count = 1
    for size in dims:
        count *= size
    return count


def _group(node: onnx.NodeProto) -> int:
    return next((int(a.i) for a in node.attribute if a.name == "group"), 1)
