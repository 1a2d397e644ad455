"""Every graph, node and tensor of a model, sub-graphs and functions included, with where it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx

Nodes = list[onnx.NodeProto]


@dataclass(frozen=True)
class Scope:
    """A graph or a function's body. `where` is for people; `depth` 0 is the model's own graph."""

    where: str
    depth: int
    nodes: Nodes
    graph: onnx.GraphProto | None
    function: onnx.FunctionProto | None = None


def scopes(model: onnx.ModelProto) -> Iterator[Scope]:
    """The graph, the functions, and what is nested in them, each after what holds it."""
    waiting = [
        Scope(f"function {shown(f.name)}", 0, list(f.node), None, f)
        for f in reversed(model.functions)
    ]
    waiting.append(Scope("the graph", 0, list(model.graph.node), model.graph))
    while waiting:
        scope = waiting.pop()
        yield scope
        for node in scope.nodes:
            for attribute in node.attribute:
                for graph in graphs_of(attribute):
                    where = f"{attribute.name} of {node_name(node)}"
                    waiting.append(Scope(where, scope.depth + 1, list(graph.node), graph))


def graphs_of(attribute: onnx.AttributeProto) -> list[onnx.GraphProto]:
    """The sub-graphs that an attribute holds."""
    own = [attribute.g] if attribute.HasField("g") else []
    return [*own, *attribute.graphs]


def tensors(model: onnx.ModelProto) -> Iterator[tuple[str, onnx.TensorProto]]:
    """Every tensor with its name: initialisers, attributes; not the parts of sparse ones."""
    for scope in scopes(model):
        if scope.graph is not None:
            yield from ((shown(t.name), t) for t in scope.graph.initializer)
        for node in scope.nodes:
            for attribute in node.attribute:
                own = [attribute.t] if attribute.HasField("t") else []
                for tensor in (*own, *attribute.tensors):
                    yield f"{shown(attribute.name)} of {node_name(node)}", tensor


def sparse_tensors(model: onnx.ModelProto) -> Iterator[tuple[str, onnx.SparseTensorProto]]:
    """Every sparse tensor with its name."""
    for scope in scopes(model):
        if scope.graph is not None:
            yield from ((shown(s.values.name), s) for s in scope.graph.sparse_initializer)
        for node in scope.nodes:
            for attribute in node.attribute:
                own = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
                for sparse in (*own, *attribute.sparse_tensors):
                    yield f"{shown(attribute.name)} of {node_name(node)}", sparse


def node_name(node: onnx.NodeProto) -> str:
    """Operator and name, as shown to people."""
    named = node.name or (node.output[0] if node.output else "")
    return f"{shown(node.op_type)} {shown(named)}".strip()


LONGEST_SHOWN = 80


def shown(name: str) -> str:
    """A name of a file as it may be printed: one line, no terminal codes, not too long."""
    plain = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in name[: LONGEST_SHOWN + 1])
    return plain if len(plain) <= LONGEST_SHOWN else plain[:LONGEST_SHOWN] + "…"
