"""A piece of graph to be joined to a network: nodes whose names all begin with PREFIX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from export.graph_names import PREFIX

OPSET = 20


@dataclass
class Piece:
    """Nodes with their constants, and what goes in and comes out.

    `inputs` are values of the network (or of the decoder), `outputs` of the answer (or the
    network). `replaced` are the network's outputs that are given no longer.
    """

    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    replaced: frozenset[str] = frozenset()
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def node(
        self, operator: str, inputs: list[str], output: str | list[str], **attributes: Any
    ) -> str:
        """Add a node, named after its first output; returns that."""
        outputs = [output] if isinstance(output, str) else output
        name = outputs[0] if outputs[0].startswith(PREFIX) else f"{PREFIX}{outputs[0]}"
        self.nodes.append(helper.make_node(operator, inputs, outputs, name, **attributes))
        return outputs[0]

    def step(self, operator: str, inputs: list[str], name: str, **attributes: Any) -> str:
        """Add a node whose output is an inner value."""
        return self.node(operator, inputs, f"{PREFIX}{name}", **attributes)

    def constant(self, name: str, value: npt.NDArray[np.generic]) -> str:
        """Add a constant."""
        self.constants.append(numpy_helper.from_array(value, f"{PREFIX}{name}"))
        return f"{PREFIX}{name}"


def as_model(piece: Piece) -> onnx.ModelProto:
    """The piece by itself, to be run by onnx's reference evaluator."""
    graph = helper.make_graph(piece.nodes, "piece", piece.inputs, piece.outputs, piece.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def prepend(graph: onnx.GraphProto, piece: Piece) -> None:
    """Put the piece before the network: its outputs are inputs of the network."""
    given = {value.name for value in piece.outputs}
    rename(graph, _clashes(graph, (v.name for v in piece.inputs)))
    kept = [value for value in graph.input if value.name not in given]
    del graph.input[:]
    graph.input.extend([*piece.inputs, *kept])
    nodes = [*piece.nodes, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    graph.initializer.extend(piece.constants)


def append(graph: onnx.GraphProto, piece: Piece) -> None:
    """Put the piece behind the network: its outputs take the place of those it replaces."""
    clashes = _clashes(graph, (v.name for v in piece.outputs))
    rename(graph, clashes)
    kept = [v for v in graph.output if v.name not in {clashes.get(r, r) for r in piece.replaced}]
    del graph.output[:]
    graph.output.extend([*piece.outputs, *kept])
    made = {name for node in piece.nodes for name in node.output}
    for node in piece.nodes:
        copied = graph.node.add()
        copied.CopyFrom(node)
        for i, name in enumerate(copied.input):
            if name not in made:
                copied.input[i] = clashes.get(name, name)
    graph.initializer.extend(piece.constants)


def rename(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    """Rename values of a graph, in its sub-graphs too."""
    if not names:
        return
    for value in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        value.name = names.get(value.name, value.name)
    for node in graph.node:
        for ends in (node.input, node.output):
            for i, name in enumerate(ends):
                ends[i] = names.get(name, name)
        for attribute in node.attribute:
            inner = [attribute.g] if attribute.HasField("g") else []
            for graph_within in (*inner, *attribute.graphs):
                rename(graph_within, names)


def _clashes(graph: onnx.GraphProto, wanted: Iterable[str]) -> dict[str, str]:
    """New names for values of the network that are called as something joined in.

    onnx writes such a file without a word, and no runtime can load it.
    """
    there = {name for node in graph.node for name in (*node.input, *node.output)}
    there |= {value.name for value in (*graph.input, *graph.output, *graph.initializer)}
    return {name: f"{PREFIX}core_{name}" for name in wanted if name in there}
