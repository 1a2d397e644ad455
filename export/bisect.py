"""Where two graphs part: the first tensor in graph order that differs, and its node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import onnx

from export.tensors import Answers, Array, Tensors

Run = Callable[[bytes, Tensors], Answers]
"""Runs a model, given as bytes, on one input."""

AT_ONCE = 64  # outputs added to a graph at a time: more keep too much alive in a browser


@dataclass(frozen=True)
class Parting:
    """The first tensor that differs by more than the tolerance, both sides' values at its worst."""

    tensor: str
    node: str
    operator: str
    difference: float
    scale: float
    one: float
    other: float
    index: tuple[int, ...]

    def __str__(self) -> str:
        return (
            f"first tensor that differs: {self.tensor} of {self.node or 'a node'} "
            f"({self.operator}): {self.one:.6g} and {self.other:.6g} at {list(self.index)}, "
            f"difference {self.difference:.2g} where values reach {self.scale:.2g}"
        )


def first_difference(
    one: tuple[onnx.ModelProto, Run],
    other: tuple[onnx.ModelProto, Run],
    inputs: Tensors,
    tolerance: float,
) -> Parting | None:
    """Of two graphs (the same one, or a variant and what it was made from) on one input.

    Every floating-point tensor that both name is compared, in the first graph's order, in portions
    of AT_ONCE; `tolerance` is relative to the tensor's largest value. None: they do not part.
    """
    names = [name for name in _values(one[0]) if name in set(_values(other[0]))]
    makers = {output: node for node in one[0].graph.node for output in node.output}
    for start in range(0, len(names), AT_ONCE):
        wanted = names[start : start + AT_ONCE]
        mine, its = _run(one, wanted, inputs), _run(other, wanted, inputs)
        for name in wanted:
            if found := _parted(mine[name], its[name], tolerance):
                node = makers[name]
                return Parting(name, node.name, node.op_type, *found)
    return None


def with_outputs(model: onnx.ModelProto, names: Mapping[str, int]) -> bytes:
    """The model with further outputs (name: element type) and without its own."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    del changed.graph.output[:]
    for name, kind in names.items():
        changed.graph.output.append(onnx.helper.make_tensor_value_info(name, kind, None))
    data: bytes = changed.SerializeToString()
    return data


def _values(model: onnx.ModelProto) -> list[str]:
    """Names of the inner floating-point tensors, in graph order."""
    kinds = _kinds(model)
    return [
        output
        for node in model.graph.node
        for output in node.output
        if kinds.get(output) in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
    ]


def _kinds(model: onnx.ModelProto) -> dict[str, int]:
    """Element types by onnx's shape inference; what it cannot tell is left out."""
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    values = (*inferred.graph.value_info, *inferred.graph.output)
    return {value.name: value.type.tensor_type.elem_type for value in values}


def _run(side: tuple[onnx.ModelProto, Run], names: list[str], inputs: Tensors) -> Answers:
    model, run = side
    kinds = _kinds(model)
    return run(with_outputs(model, {name: kinds[name] for name in names}), inputs)


def _parted(
    one: Array, other: Array, tolerance: float
) -> tuple[float, float, float, float, tuple[int, ...]] | None:
    if one.shape != other.shape or one.size == 0:
        return None
    mine, its = one.astype(np.float64), other.astype(np.float64)
    gap = np.abs(mine - its)
    gap = np.where(np.isfinite(gap), gap, np.where(mine == its, 0.0, np.inf))
    scale = float(np.abs(mine[np.isfinite(mine)]).max(initial=0.0))
    if gap.max() <= tolerance * max(scale, 1e-30):
        return None
    index = tuple(int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))
    return float(gap.max()), scale, float(mine[index]), float(its[index]), index
