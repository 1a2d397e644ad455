"""A graph as ONNX Runtime's quantisers take it: folded, named, each bias its own."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import onnx

from export.quantise.nodes import CONVOLUTIONS, PRODUCTS, named, with_own_weights


@dataclass(frozen=True)
class Prepared:
    """`merged`: where nodes of the graph as it was are now, by their former names."""

    model: onnx.ModelProto
    merged: dict[str, list[str]]


def prepared(fp32: Path) -> Prepared:
    """Constants folded, batch norms taken into convolutions, biases unshared; in float32 still."""
    model = onnx.load(fp32)
    named(model)
    folded = _folded(model)
    named(folded)
    merged = _merged(model.graph, folded.graph)
    _with_own_biases(folded)
    del folded.graph.value_info[:]  # the quantisers transpose weights, and trip over old shapes
    return Prepared(folded, merged)


def _folded(model: onnx.ModelProto) -> onnx.ModelProto:
    """By ONNX Runtime at its basic level, which only writes standard operators.

    Its own `quant_pre_process` (1.30) drops what it folded when it is told to skip the symbolic
    shape inference, and that one fails on exported transformers.
    """
    import onnxruntime as ort

    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "folded.onnx"
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(path)
        options.log_severity_level = 3
        ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        folded = onnx.load(path)
    folded.ir_version = model.ir_version
    entry = folded.metadata_props.add()  # by which the quantisers know that this is done
    entry.key, entry.value = "onnx.quant.pre_process", "onnxruntime.quant"
    return folded


def _with_own_biases(model: onnx.ModelProto) -> None:
    """A shared bias gets another scale for each layer: ONNX Runtime (1.30) then makes a copy whose
    name, the bias's with a number, may be another tensor's."""
    layers = [n for n in model.graph.node if n.op_type in (*CONVOLUTIONS, *PRODUCTS)]
    biases = {name for node in layers for name in node.input[2:]}
    with_own_weights(model, [[node.name] for node in layers], biases)


def _merged(before: onnx.GraphProto, after: onnx.GraphProto) -> dict[str, list[str]]:
    """Former nodes by what makes their outputs now, or by the name that a fusion gave."""
    there = {node.name for node in after.node}
    makers = {name: node.name for node in after.node for name in node.output}
    found: dict[str, list[str]] = {}
    for node in before.node:
        if node.name not in there:
            now = {makers[name] for name in node.output if name in makers}
            now |= {name for name in there if name.startswith(f"{node.name}/")}
            found[node.name] = sorted(now)  # none: folded away
    return found
