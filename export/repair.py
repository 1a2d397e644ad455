"""Repairs of ONNX graphs that change no answer: what old or foreign exporters leave behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.shape_inference
from onnx import version_converter

from export.errors import SourceError

OPSET, IR = 20, 10
OLDEST_OPSET = 13  # below it ONNX Runtime's quantisers and the joined nodes do not fit


def without_weights_as_inputs(model: onnx.ModelProto) -> None:
    """Inputs that have an initialiser are weights (IR 3 lists them so), nobody's input."""
    weights = {tensor.name for tensor in model.graph.initializer}
    kept = [value for value in model.graph.input if value.name not in weights]
    del model.graph.input[:]
    model.graph.input.extend(kept)


def without_double_initialisers(model: onnx.ModelProto) -> None:
    """Of initialisers with one name and one value one stays; with other values SourceError."""
    kept: dict[str, onnx.TensorProto] = {}
    for tensor in model.graph.initializer:
        first = kept.setdefault(tensor.name, tensor)
        if first.SerializeToString() != tensor.SerializeToString():
            raise SourceError(f"two weights are called {tensor.name}, and their values differ")
    once = [onnx.TensorProto.FromString(tensor.SerializeToString()) for tensor in kept.values()]
    del model.graph.initializer[:]
    model.graph.initializer.extend(once)


def with_shipped_opset(model: onnx.ModelProto, oldest: int = OLDEST_OPSET) -> onnx.ModelProto:
    """The model in an opset and IR that every shipped runtime takes. SourceError when it cannot be.

    `oldest`: the opset that may stay, where the nodes that are joined later ask for a newer one.
    The converter changes operators' forms; the source compares values before and after.
    """
    # Before the conversion: an IR below 4 has no weights that are not listed as inputs.
    model.ir_version = min(max(model.ir_version, 8), IR)
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), OPSET)
    if not oldest <= opset <= OPSET:
        try:
            model = version_converter.convert_version(model, OPSET)
        except Exception as error:  # the converter raises several unrelated types
            raise SourceError(
                f"opset {opset} cannot be brought to {OPSET}: {str(error).splitlines()[0]}; "
                f"export the model anew with opset {OPSET}"
            ) from error
        model.ir_version = min(max(model.ir_version, 8), IR)
    return model


def with_output_shapes(model: onnx.ModelProto) -> None:
    """Outputs that do not tell their shape get the one that follows from the operators."""
    if all(value.type.tensor_type.HasField("shape") for value in model.graph.output):
        return
    inferred = {
        value.name: value for value in onnx.shape_inference.infer_shapes(model).graph.output
    }
    for value in model.graph.output:
        if not value.type.tensor_type.HasField("shape"):
            value.CopyFrom(inferred[value.name])


def renamed(model: onnx.ModelProto, names: Mapping[str, str]) -> None:
    """Rename inputs and outputs (old: new), wherever they are used."""
    from export.joining.piece import rename

    taken = {name for node in model.graph.node for name in (*node.input, *node.output)}
    moved = {new: f"core_{new}" for new in names.values() if new in taken and new not in names}
    rename(model.graph, moved | dict(names))


def with_free_batch(model: onnx.ModelProto) -> None:
    """The first dimension of every input and output is called "batch", unless it is a number."""
    for value in (*model.graph.input, *model.graph.output):
        shape = value.type.tensor_type.shape
        if shape.dim and not shape.dim[0].HasField("dim_value"):
            shape.dim[0].dim_param = "batch"


def freed_batch(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """A copy whose batch is free, of a model whose inputs are fixed at one row; else None.

    Shapes that were written down for one row follow the input. Whether that is all that is fixed
    only running it tells: the caller compares.
    """
    fixed = [value.type.tensor_type.shape.dim for value in model.graph.input]
    if not fixed or any(not dims or dims[0].dim_value != 1 for dims in fixed):
        return None
    free = onnx.ModelProto()
    free.CopyFrom(model)
    del free.graph.value_info[:]
    for value in (*free.graph.input, *free.graph.output):
        dims = value.type.tensor_type.shape.dim
        if dims and dims[0].dim_value in (0, 1):
            dims[0].dim_param = "batch"
    known = _constants(free.graph)
    for index, node in enumerate(free.graph.node):
        if node.op_type != "Reshape" or node.input[1] not in known:
            continue
        sizes = [int(size) for size in known[node.input[1]]]
        if len(sizes) > 1 and sizes[0] == 1 and 0 not in sizes:
            sizes[0] = 0 if -1 in sizes else -1  # 0: as the input has it
            node.input[1] = f"free_shape_{index}"
            free.graph.initializer.append(
                onnx.numpy_helper.from_array(np.asarray(sizes, np.int64), node.input[1])
            )
    return free


def _constants(graph: onnx.GraphProto) -> dict[str, np.ndarray[Any, Any]]:
    """Small integer constants by name."""
    tensors = {t.name: t for t in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].HasField("t"):
            tensors[node.output[0]] = node.attribute[0].t
    return {
        name: onnx.numpy_helper.to_array(tensor).ravel() for name, tensor in tensors.items()
        if tensor.data_type == onnx.TensorProto.INT64 and int(np.prod(tensor.dims)) <= 8
    }  # fmt: skip
