"""The first and the last bytes of any file. The rules are in docs/decoders.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from export.contract import BytesInput, Tensor
from export.tensors import Tensors

WHITE = b"\t\n\v\f\r "


def make(spec: BytesInput, inputs: Sequence[Tensor], folder: Path) -> Callable[[bytes], Tensors]:  # noqa: ARG001
    """The decoder; it refuses nothing."""

    def decode(data: bytes) -> Tensors:
        first, last = data[: spec.block], data[-spec.block :]
        if spec.strip:
            first, last = first.lstrip(WHITE), last.rstrip(WHITE)
        values = np.full(spec.first + spec.last, spec.padding, np.int32)
        head, tail = first[: spec.first], last[-spec.last :] if spec.last else b""
        values[: len(head)] = np.frombuffer(head, np.uint8)
        values[len(values) - len(tail) :] = np.frombuffer(tail, np.uint8)
        return {spec.tensor: values[None]}

    return decode
