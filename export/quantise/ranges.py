"""How large the inner tensors of a graph become on real inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from export.tensors import Answers, Tensors

Run = Callable[[bytes, Sequence[Tensors]], Iterable[Answers]]
"""Runs a model, given as bytes, on inputs one after the other."""

_PREFIX, _WITHIN = "largest_of_", "within_largest_"


def largest(model: onnx.ModelProto, feeds: Sequence[Tensors], run: Run) -> dict[str, float]:
    """The largest absolute value of each inner float32 tensor over all inputs; not a number: inf.

    Taken within the graph, so that one number a tensor comes out, however large the tensor is.
    """
    found: dict[str, float] = {}
    if not feeds:
        return found
    for answers in run(_with_largest(model), feeds):
        for name, value in answers.items():
            tensor = name.removeprefix(_PREFIX)
            number = float(np.nan_to_num(value, nan=np.inf, posinf=np.inf))
            found[tensor] = max(found.get(tensor, 0.0), number)
    return found


def float_tensors(model: onnx.ModelProto) -> list[str]:
    """Names of the float32 tensors that nodes make, as far as shape inference can tell."""
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    kinds = {v.name: v.type.tensor_type.elem_type for v in (*inferred.value_info, *inferred.output)}
    made = dict.fromkeys(name for node in model.graph.node for name in node.output)
    return [name for name in made if kinds.get(name) == TensorProto.FLOAT]


def _with_largest(model: onnx.ModelProto) -> bytes:
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    graph = changed.graph
    del graph.output[:]
    flat, zero = f"{_WITHIN}flat", f"{_WITHIN}zero"
    graph.initializer.append(helper.make_tensor(flat, TensorProto.INT64, [1], [-1]))
    graph.initializer.append(helper.make_tensor(zero, TensorProto.FLOAT, [1], [0.0]))
    for number, name in enumerate(float_tensors(model)):
        row, whole, sizes = (f"{_WITHIN}{number}_{step}" for step in ("row", "whole", "sizes"))
        graph.node.extend(
            [
                helper.make_node("Reshape", [name, flat], [row]),
                helper.make_node("Concat", [row, zero], [whole], axis=0),  # an empty one has none
                helper.make_node("Abs", [whole], [sizes]),
                helper.make_node("ReduceMax", [sizes], [f"{_PREFIX}{name}"], keepdims=0),
            ]
        )
        graph.output.append(
            helper.make_tensor_value_info(f"{_PREFIX}{name}", TensorProto.FLOAT, [])
        )
    data: bytes = changed.SerializeToString()
    return data
