"""Named arrays: what a decoder gives, what a graph answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Tensors = dict[str, Array]
"""One input, decoded: arrays by name, each with a leading batch axis of 1 (or of n, stacked)."""
Answers = dict[str, Array]
"""The outputs to one input: arrays by name, each with a leading batch axis of 1."""

MAX_BATCH = 64


def stack(inputs: Sequence[Tensors]) -> Tensors:
    """Inputs of equal shapes as one batch."""
    return {name: np.concatenate([one[name] for one in inputs]) for name in inputs[0]}


def unstack(batch: Answers, count: int) -> list[Answers]:
    """The rows of a batch, each with a batch axis of 1 again."""
    return [{name: values[i : i + 1] for name, values in batch.items()} for i in range(count)]


def batches(inputs: Sequence[Tensors], most: int = MAX_BATCH) -> Iterator[list[int]]:
    """Positions of inputs that have equal shapes and may run together, at most `most` at once."""
    groups: dict[tuple[tuple[str, tuple[int, ...]], ...], list[int]] = {}
    for position, one in enumerate(inputs):
        shapes = tuple((name, values.shape) for name, values in one.items())
        groups.setdefault(shapes, []).append(position)
    for positions in groups.values():
        for start in range(0, len(positions), most):
            yield positions[start : start + most]
