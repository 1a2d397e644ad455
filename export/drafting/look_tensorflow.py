"""Looking at SavedModels and .tflite files, by TensorFlow in its own environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from export.contract import Tensor
from export.drafting.looked import Looked, Port, sums_to_one
from export.errors import SourceError
from export.sample import SourceContext
from export.sources import from_tensorflow
from export.sources.free_batch import random_values
from export.sources.worker import Worker

# A name of its own: TensorFlow Serving calls these folders 1, 2, ..., as published versions are.
FOLDER = "saved_model"


def look_at_tensorflow(
    kind: Literal["tensorflow", "tflite"], path: Path, context: SourceContext
) -> Looked:
    """Inputs and outputs by name, with their shapes; which outputs are probabilities, by a try."""
    worker = from_tensorflow.open_model(kind, path, context)
    told = from_tensorflow.about(worker, path)
    file = FOLDER if kind == "tensorflow" else path.name
    outputs = tuple(map(_port, told.outputs))
    made_by = _tried(worker, told.inputs, len(outputs))
    return Looked(
        kind=kind, file=file, files={file: path}, inputs=tuple(map(_port, told.inputs)),
        outputs=tuple(replace(p, made_by=m) for p, m in zip(outputs, made_by, strict=True)),
        framework=f"{from_tensorflow.FRAMEWORKS[kind]} {told.version}", reshapes=True,
    )  # fmt: skip


def _port(port: from_tensorflow.Port) -> Port:
    """Integers that stand for numbers are given, and come, as numbers."""
    dtype = "float32" if port.scale else port.dtype
    return Port(port.name, dtype, None if port.shape is None else tuple(port.shape))


def _tried(worker: Worker, ports: Sequence[from_tensorflow.Port], count: int) -> list[str]:
    generator = np.random.default_rng(0)
    try:
        given = [
            random_values(
                Tensor(
                    name=p.name, dtype=_port(p).dtype,  # type: ignore[arg-type]
                    shape=[size or f"d{axis}" for axis, size in enumerate(p.shape or ())],
                ), 1, generator,
            )
            for p in ports
        ]  # fmt: skip
        return ["Softmax" if sums_to_one(values) else "" for values in worker.infer(given)]
    except (SourceError, ValueError):  # a network that random values do not fit
        return [""] * count
