"""Typed values for the inputs of a model that nobody here knows, the same every time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import onnx
from onnx import TensorProto

from export.errors import LikewiseError
from export.tensors import Array, Tensors

BATCHES = (1, 3)
# Sizes tried for what a model leaves free, until it runs: tokens, frames, sides of pictures.
FREE_SIZES = (16, 64, 224, 7, 1)
CHANNELS = 3
MOST_BYTES = 2**28
WORDS = ("", "rot", "größe", "日本", "a\tb", "two words")

Size = int | str | None


@dataclass(frozen=True)
class Input:
    """An input that must be given: its name, ONNX element type and shape; None: of any rank."""

    name: str
    type: int
    shape: tuple[Size, ...] | None

    @property
    def batch(self) -> Size:
        """Its first size."""
        return self.shape[0] if self.shape else 1


def inputs_of(model: onnx.ModelProto) -> list[Input]:
    """What must be fed: inputs without a weight of the same name. LikewiseError: no tensor."""
    weights = {t.name for t in model.graph.initializer}
    weights |= {s.values.name for s in model.graph.sparse_initializer}
    return [_input(value) for value in model.graph.input if value.name not in weights]


def batch_sizes(inputs: Sequence[Input]) -> tuple[int, ...]:
    """Two batch sizes where the first size of every input is free, else none but its own."""
    free = bool(inputs) and all(i.shape and not isinstance(i.batch, int) for i in inputs)
    return BATCHES if free else (1,)


def candidates(
    inputs: Sequence[Input], sizes: Mapping[str, int]
) -> Iterator[tuple[str, list[Tensors]]]:
    """Feeds, a list of one for each batch size, with other choices for the free sizes each time.

    `sizes`: those that a person named. Raises LikewiseError when even one would be too large.
    """
    rest = any(
        not isinstance(d, int) and d not in sizes for i in inputs for d in (i.shape or ())[1:]
    )
    for free in FREE_SIZES if rest else FREE_SIZES[:1]:
        told = f"free sizes {free}" if rest else "the declared sizes"
        batches = batch_sizes(inputs)
        most = _feeds(inputs, batches[-1], free, sizes)
        yield told, rows_of(most, batches)


def rows_of(feeds: Tensors, batches: Sequence[int]) -> list[Tensors]:
    """The first rows of the feeds, so that runs of different size share their first inputs."""
    if len(batches) == 1:
        return [feeds]
    return [{name: values[:batch] for name, values in feeds.items()} for batch in batches]


def _input(value: onnx.ValueInfoProto) -> Input:
    if not value.type.HasField("tensor_type"):
        raise LikewiseError(
            f"{value.name}: the input is a {value.type.WhichOneof('value')}, which no browser takes"
            "; give it as tensors",
            code="no-tensor",
        )
    kind = value.type.tensor_type
    shape = tuple(_size(d) for d in kind.shape.dim) if kind.HasField("shape") else None
    return Input(value.name, kind.elem_type, shape)


def _size(dim: onnx.TensorShapeProto.Dimension) -> Size:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return dim.dim_value
    return dim.dim_param or None


def _feeds(
    inputs: Sequence[Input], batch: int, free: int, sizes: Mapping[str, int]
) -> Tensors:  # fmt: skip
    chance = np.random.default_rng(20)
    return {one.name: _values(chance, one, _shape(one, batch, free, sizes)) for one in inputs}


def _shape(one: Input, batch: int, free: int, sizes: Mapping[str, int]) -> list[int]:
    shape = []
    for position, size in enumerate(one.shape or ()):
        if isinstance(size, int):
            shape.append(size)
        elif size is not None and size in sizes:
            shape.append(sizes[size])
        elif position == 0:
            shape.append(batch)
        else:
            is_channels = len(one.shape or ()) == 4 and position == 1
            shape.append(CHANNELS if is_channels else free)
    return shape


def _values(chance: np.random.Generator, one: Input, shape: list[int]) -> Array:
    if prod(shape) * 8 > MOST_BYTES:
        raise LikewiseError(
            f"{one.name}: the shape {shape} takes {prod(shape) * 8:,} bytes, limit {MOST_BYTES:,}",
            code="huge-claim",
        )
    if one.type == TensorProto.STRING:
        return chance.choice(np.array(WORDS, dtype=object), shape)
    if one.type in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        return np.ones(shape, np.complex64 if one.type == TensorProto.COMPLEX64 else np.complex128)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(one.type)
    if one.type == TensorProto.BOOL:
        return chance.random(shape) < 0.5
    if one.type == TensorProto.UINT8:
        return chance.integers(0, 256, shape, dtype=np.uint8)
    if np.issubdtype(dtype, np.integer):
        return chance.integers(0, 2, shape).astype(dtype)  # ids, masks: small ones fit everywhere
    return chance.standard_normal(shape).astype(dtype)
