"""TensorFlow SavedModels and TFLite files, by TensorFlow in an environment of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from export.contract import Tensor
from export.errors import RecipeError, SourceError
from export.network import network_inputs, network_outputs
from export.recipe import Recipe
from export.repair import renamed, with_shipped_opset
from export.sample import SourceContext
from export.source_file import SourceFile
from export.sources.environment import python_of
from export.sources.free_batch import save_with_free_batch
from export.sources.naming import paired
from export.sources.origin import source_path
from export.sources.worker import Worker
from export.tensors import Answers, Tensors

ENVIRONMENT = "tensorflow"
SCRIPT = Path(__file__).with_name("tensorflow_worker.py")
FRAMEWORKS = {"tensorflow": "TensorFlow", "tflite": "TensorFlow Lite"}


@dataclass(frozen=True)
class Port:
    """An input or output of the file; `scale` is 0 unless its integers stand for numbers."""

    name: str
    dtype: str
    shape: list[int | None] | None
    scale: float = 0.0
    zero_point: int = 0


@dataclass(frozen=True)
class About:
    """What the file tells of itself."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    version: str


def load(recipe: Recipe, context: SourceContext, file: SourceFile | None) -> TensorFlowSource:  # noqa: ARG001
    """The SavedModel folder or .tflite file that the recipe names."""
    section = recipe.file.source
    if section.file is None:
        raise RecipeError(f'{recipe.name}: kind = "{section.kind}" needs file = "..."')
    path = source_path(recipe, context, section.file)
    return TensorFlowSource(recipe, path, open_model(section.kind, path, context))


def open_model(kind: str, path: Path, context: SourceContext) -> Worker:
    """The process that holds the model. SourceError where the file is of another kind."""
    if kind == "tensorflow" and not (path / "saved_model.pb").is_file():
        raise SourceError(f"{path}: no SavedModel: there is no saved_model.pb in that folder")
    if kind == "tflite" and not path.is_file():
        raise SourceError(f"{path}: no .tflite file")
    python = python_of(ENVIRONMENT, context.environments, context.say)
    return Worker(python, SCRIPT, kind, str(path))


def about(worker: Worker, path: Path) -> About:
    """Inputs and outputs of the model that a worker holds, loaded from `path`."""
    try:
        told = worker.ask(do="about")
    except SourceError as error:
        raise SourceError(f"{path}: TensorFlow cannot load it: {error}") from error
    return About(
        tuple(Port(**port) for port in told["inputs"]),
        tuple(Port(**port) for port in told["outputs"]), told["version"],
    )  # fmt: skip


class TensorFlowSource:
    """A model in TensorFlow's own process; integers that stand for numbers are given as numbers."""

    def __init__(self, recipe: Recipe, path: Path, worker: Worker) -> None:
        self.recipe, self.path, self._worker = recipe, path, worker
        self._about = about(worker, path)
        section = recipe.file.source
        self.judge = f"{FRAMEWORKS[section.kind]} {self._about.version}"
        self._wanted = {tensor.name: tensor for tensor in network_inputs(recipe)}
        its = [port.name for port in self._about.inputs]
        self._inputs = paired(path.name, list(self._wanted), its, section.inputs)
        if unnamed := set(its) - set(self._inputs.values()):
            raise RecipeError(
                f"{path.name} also takes {', '.join(sorted(unnamed))}, which the recipe's [input] "
                "does not give"
            )
        self._outputs = paired(
            path.name, network_outputs(recipe), [port.name for port in self._about.outputs],
            section.outputs,
        )  # fmt: skip

    def export(self, path: Path) -> int:
        """By tf2onnx, under the recipe's names; a batch that is fixed at 1 is freed if it holds."""
        try:
            with tempfile.TemporaryDirectory() as scratch:
                written = Path(scratch) / "model.onnx"
                names = self._worker.ask(do="convert", path=str(written))
                model = with_shipped_opset(onnx.load(written))
        except SourceError as error:
            raise SourceError(f"{self.path.name}: tf2onnx cannot convert it: {error}") from error
        self._name(model, names)
        save_with_free_batch(model, path, list(self._wanted.values()), self.infer)
        return sum(int(np.prod(tensor.dims)) for tensor in model.graph.initializer)

    def infer(self, inputs: Tensors) -> Answers:
        """What TensorFlow answers."""
        ours = {its: name for name, its in self._inputs.items()}
        given = [_shaped(inputs[ours[port.name]], port) for port in self._about.inputs]
        answers = self._worker.infer(given)
        by_name = {p.name: v for p, v in zip(self._about.outputs, answers, strict=True)}
        return {name: by_name[its] for name, its in self._outputs.items()}

    def _name(self, model: onnx.ModelProto, names: Mapping[str, Sequence[str]]) -> None:
        """The recipe's names and shapes at both ends, numbers where the file has integers."""
        there = dict(zip((p.name for p in self._about.inputs), names["inputs"], strict=True))
        back = dict(zip((p.name for p in self._about.outputs), names["outputs"], strict=True))
        ports = {port.name: port for port in (*self._about.inputs, *self._about.outputs)}
        kept = {value.name: value for value in model.graph.output}
        del model.graph.output[:]
        model.graph.output.extend(kept[back[its]] for its in self._outputs.values())
        inner = {there[its]: f"given_{name}" for name, its in self._inputs.items()}
        inner |= {back[its]: f"got_{name}" for name, its in self._outputs.items()}
        renamed(model, inner)
        del model.graph.input[:]
        for name, its in self._inputs.items():
            _add_input(model.graph, self._wanted[name], ports[its])
        outputs = list(model.graph.output)
        del model.graph.output[:]
        for value, (name, its) in zip(outputs, self._outputs.items(), strict=True):
            _add_output(model.graph, name, value, ports[its])


def _add_input(graph: onnx.GraphProto, wanted: Tensor, port: Port) -> None:
    """The recipe's input, reshaped and quantised to the file's."""
    first = next((i for i, node in enumerate(graph.node) if node.op_type != "Constant"), 0)
    name, inner = wanted.name, f"given_{wanted.name}"
    nodes, last = [], name
    if port.shape is not None and len(port.shape) != len(wanted.shape or []):
        shape = helper.make_tensor(
            f"shape_{name}", onnx.TensorProto.INT64, [len(port.shape)], _target(port)
        )
        graph.initializer.append(shape)
        nodes.append(helper.make_node("Reshape", [last, shape.name], [f"shaped_{name}"]))
        last = f"shaped_{name}"
    if port.scale and wanted.dtype == "float32":
        nodes.append(_linear(graph, "QuantizeLinear", last, f"steps_{name}", port))
        last = f"steps_{name}"
    nodes.append(helper.make_node("Identity", [last], [inner]))
    for offset, node in enumerate(nodes):
        graph.node.insert(first + offset, node)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(wanted.dtype))
    shape_there = list(wanted.shape or [])
    if port.shape and port.shape[0] is not None:
        shape_there[0] = port.shape[0]
    graph.input.append(helper.make_tensor_value_info(name, kind, shape_there))


def _add_output(graph: onnx.GraphProto, name: str, value: onnx.ValueInfoProto, port: Port) -> None:
    """The file's output, as numbers."""
    kind = value.type.tensor_type.elem_type
    if port.scale:
        graph.node.append(_linear(graph, "DequantizeLinear", f"got_{name}", name, port))
        kind = onnx.TensorProto.FLOAT
    else:
        graph.node.append(helper.make_node("Identity", [f"got_{name}"], [name]))
    sizes = [None if size == -1 else size for size in port.shape or []]
    graph.output.append(
        helper.make_tensor_value_info(name, kind, sizes if port.shape is not None else None)
    )


def _linear(
    graph: onnx.GraphProto, operator: str, given: str, made: str, port: Port
) -> onnx.NodeProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(port.dtype))
    scale = helper.make_tensor(f"scale_{made}", onnx.TensorProto.FLOAT, [], [port.scale])
    zero = helper.make_tensor(f"zero_{made}", kind, [], [port.zero_point])
    graph.initializer.extend([scale, zero])
    return helper.make_node(operator, [given, scale.name, zero.name], [made])


def _target(port: Port) -> list[int]:
    """The file's shape for a Reshape: the batch follows."""
    sizes = [-1 if i == 0 or size is None else size for i, size in enumerate(port.shape or [])]
    if sizes.count(-1) > 1:
        raise RecipeError(
            f"{port.name} has the shape {port.shape}, the recipe's input another rank; only where "
            "all sizes but the batch are fixed can one be made the other"
        )
    return sizes


def _shaped(values: np.ndarray[Any, Any], port: Port) -> np.ndarray[Any, Any]:
    if port.shape is not None and len(port.shape) != values.ndim:
        values = values.reshape(_target(port))
    if port.scale and values.dtype == np.float32:
        return values  # the worker quantises
    return values.astype(port.dtype)
