"""Each kind of node of a model as a model of its own, to see which of them a runtime lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx

from export.inspection.walk import Scope, graphs_of, scopes

MOST_KINDS = 300
SMALL_BYTES = 1_000_000  # a constant that the node may need to be valid, as Reshape its shape

Types = Mapping[str, onnx.TypeProto]


def single_operators(model: onnx.ModelProto) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Label and model of each kind: operator, domain and the types it takes. Loops and branches are
    not tried themselves, but all that lies in them; nor is a node whose types cannot be told."""
    inferred = onnx.shape_inference.infer_shapes(model)
    seen: set[tuple[str, ...]] = set()
    types: dict[str, onnx.TypeProto] = {}
    constants: dict[str, onnx.TensorProto] = {}
    for scope in scopes(inferred):
        if scope.graph is None:
            continue
        _learn(scope, types, constants)
        for node in scope.nodes:
            known = all(name in types for name in node.input if name)
            if not known or any(graphs_of(a) for a in node.attribute):
                continue
            label = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
            key = (label, *(_type_name(types[n]) if n else "" for n in node.input))
            if key not in seen and len(seen) < MOST_KINDS:
                seen.add(key)
                yield label, _single(inferred, node, types, constants)


def _learn(
    scope: Scope, types: dict[str, onnx.TypeProto], constants: dict[str, onnx.TensorProto]
) -> None:
    graph = scope.graph
    if graph is None:
        return
    for value in (*graph.input, *graph.value_info, *graph.output):
        types[value.name] = value.type
    for tensor in graph.initializer:
        types[tensor.name] = onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
        constants[tensor.name] = tensor


def _single(
    model: onnx.ModelProto, node: onnx.NodeProto, types: Types,
    constants: Mapping[str, onnx.TensorProto],
) -> onnx.ModelProto:  # fmt: skip
    names = list(dict.fromkeys(name for name in node.input if name))
    weights = [n for n in names if n in constants and len(constants[n].raw_data) <= SMALL_BYTES]
    inputs = [onnx.helper.make_value_info(n, types[n]) for n in names if n not in weights]
    outputs = [
        onnx.helper.make_value_info(n, types[n])
        if n in types else onnx.helper.make_empty_tensor_value_info(n)
        for n in node.output if n
    ]  # fmt: skip
    graph = onnx.helper.make_graph(
        [node], "single", inputs, outputs, [constants[n] for n in weights]
    )
    single = onnx.helper.make_model(graph, opset_imports=model.opset_import)
    single.ir_version = model.ir_version
    return single


def _type_name(kind: onnx.TypeProto) -> str:
    return str(kind.tensor_type.elem_type) if kind.HasField("tensor_type") else str(kind)
