"""A file that was made for one row, freed for any number of rows if that holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx

from export.contract import Tensor
from export.repair import freed_batch, with_free_batch
from export.runtime import Session
from export.tensors import Answers, Array, Tensors

ROWS = 3
SIZE = 16  # of a free dimension other than the batch
SAME = 1e-3  # a batch that is not free is off by much more; the recipe's limits judge the rest


def save_with_free_batch(
    model: onnx.ModelProto,
    path: Path,
    inputs: Sequence[Tensor],
    infer: Callable[[Tensors], Answers],
) -> None:
    """Save the network; where its batch is fixed at one row, with a free one if `infer`, row by
    row, gives the same. Else as it is: the check names the batch that is frozen."""
    with_free_batch(model)
    free = freed_batch(model)
    onnx.save(free or model, path)
    if free is not None and not _holds(path, inputs, infer):
        onnx.save(model, path)


def random_values(tensor: Tensor, batch: int, generator: np.random.Generator) -> Array:
    """Values that any network takes: normal numbers, small integers, one text."""
    shape = [
        size if isinstance(size, int) else batch if axis == 0 else SIZE
        for axis, size in enumerate(tensor.shape or [batch])
    ]
    if tensor.dtype == "float32":
        return generator.normal(size=shape).astype(np.float32)
    if tensor.dtype == "string":
        return np.full(shape, "a", np.object_)
    return generator.integers(0, 2, shape).astype(tensor.dtype)


def _holds(path: Path, inputs: Sequence[Tensor], infer: Callable[[Tensors], Answers]) -> bool:
    generator = np.random.default_rng(0)
    rows = {tensor.name: random_values(tensor, ROWS, generator) for tensor in inputs}
    try:
        ours = Session(path).run_batch(rows)
    except Exception:  # whatever a frozen batch makes of several rows
        return False
    return all(
        ours[name].shape == values.shape and np.allclose(ours[name], values, SAME, SAME)
        for name, values in infer(rows).items()
    )
