"""ONNX Runtime on the CPU, as export uses it: the one place that imports it here."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
import onnxruntime as ort

from export.decode.pixels import Pixels
from export.errors import LikewiseError
from export.graph_names import INPUT

Outputs = dict[str, npt.NDArray[np.generic]]
BATCH = 64


class Session:
    """One model file on the CPU provider, one thread: the same every time."""

    def __init__(self, path: Path) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = ort.InferenceSession(
                path.read_bytes(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise LikewiseError(
                f"{path.name}: onnxruntime {ort.__version__} cannot load it: {error}"
            ) from error
        self.inputs = {
            item.name: (item.type, list(item.shape)) for item in self._session.get_inputs()
        }
        self.outputs = {
            item.name: (item.type, list(item.shape)) for item in self._session.get_outputs()
        }

    def run(self, pixels: Pixels) -> Outputs:
        """All outputs by name, for uint8 [samples, height, width, channels]."""
        parts = [self._run(part) for part in _batches(pixels)]
        return {name: np.concatenate([part[name] for part in parts]) for name in self.outputs}

    def median_ms(self, pixels: Pixels, runs: int) -> float:
        """Median time of one sample, in milliseconds, after a warm-up."""
        one = pixels[:1]
        self._run(one)
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            self._run(one)
            times.append((time.perf_counter() - start) * 1000)
        return median(times)

    def _run(self, pixels: Pixels) -> Outputs:
        names = list(self.outputs)
        return dict(zip(names, self._session.run(names, {INPUT: pixels}), strict=True))


def _batches(pixels: Pixels) -> Iterator[Pixels]:
    for start in range(0, len(pixels), BATCH):
        yield pixels[start : start + BATCH]
