"""export: the network as one ONNX file, joined with its pre- and post-processing."""

from __future__ import annotations

from pathlib import Path

import onnx

from export.joining import join
from export.recipe import Recipe
from export.sources import Source


def make_exported(recipe: Recipe, source: Source, labels: int, folder: Path) -> None:
    """Write core.onnx (the bare network), model.onnx and the number of parameters into `folder`."""
    bare = folder / "core.onnx"
    parameters = source.export(bare)
    core = onnx.load(bare)
    strip(core)
    onnx.save(core, bare)
    onnx.save(joined(recipe, core, labels), folder / "model.onnx")
    (folder / "parameters.txt").write_text(str(parameters))


def joined(recipe: Recipe, core: onnx.ModelProto, labels: int) -> onnx.ModelProto:
    """The bare network between the pre- and post-processing that the recipe names."""
    model = join(recipe, core, labels)
    strip(model)
    return model


def strip(model: onnx.ModelProto) -> None:
    """Remove what must not be published: paths, source lines, tool names; and unused opsets."""
    del model.metadata_props[:]
    model.producer_name, model.producer_version, model.doc_string = "likewise", "", ""
    used = {node.domain for node in model.graph.node} | {
        n.domain for f in model.functions for n in f.node
    }
    opsets = {
        item.domain: item.version for item in model.opset_import if item.domain in used | {""}
    }
    del model.opset_import[:]
    model.opset_import.extend(onnx.helper.make_opsetid(d, v) for d, v in sorted(opsets.items()))
    for function in model.functions:
        del function.metadata_props[:]
        function.doc_string = ""
        for node in function.node:
            _strip_node(node)
    _strip_graph(model.graph)


def _strip_graph(graph: onnx.GraphProto) -> None:
    graph.name, graph.doc_string = "likewise", ""
    del graph.metadata_props[:]
    values = [*graph.input, *graph.output, *graph.value_info, *graph.initializer]
    for value in values:
        value.doc_string = ""
        del value.metadata_props[:]
    for node in graph.node:
        _strip_node(node)


def _strip_node(node: onnx.NodeProto) -> None:
    node.doc_string = ""
    del node.metadata_props[:]
    for attribute in node.attribute:
        for graph in (
            [attribute.g, *attribute.graphs] if attribute.HasField("g") else attribute.graphs
        ):
            _strip_graph(graph)
