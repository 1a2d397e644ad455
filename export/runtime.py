"""ONNX Runtime on the CPU, as export uses it: the one place that imports it here."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime as ort

from export.contract import Datatype, Stream
from export.errors import LikewiseError
from export.streaming import run_stream
from export.tensors import MAX_BATCH, Answers, Array, Tensors, batches, stack, unstack

DATATYPES: Mapping[str, Datatype] = {
    "tensor(bool)": "bool",
    "tensor(uint8)": "uint8",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
    "tensor(float)": "float32",
    "tensor(string)": "string",
}


@dataclass(frozen=True)
class Port:
    """An input or output as the runtime tells it; `dtype` None: a type no contract has."""

    name: str
    dtype: Datatype | None
    type: str
    shape: list[int | str | None]


class Session:
    """One model file on the CPU provider, one thread: the same every time."""

    def __init__(self, model: Path | bytes, stream: Stream | None = None) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        name = model.name if isinstance(model, Path) else "the model"
        data = model.read_bytes() if isinstance(model, Path) else model
        try:
            self._session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise LikewiseError(
                f"{name}: onnxruntime {ort.__version__} cannot load it: {error}"
            ) from error
        self.stream = stream
        self.inputs = {item.name: _port(item) for item in self._session.get_inputs()}
        self.outputs = {item.name: _port(item) for item in self._session.get_outputs()}

    def run(self, inputs: Sequence[Tensors], most: int = MAX_BATCH) -> list[Answers]:
        """The answers to each input; inputs of equal shapes run together, at most `most`."""
        answers: list[Answers] = [{}] * len(inputs)
        for positions in batches(inputs, most):
            batch = self.run_batch(stack([inputs[i] for i in positions]))
            for position, answer in zip(positions, unstack(batch, len(positions)), strict=True):
                answers[position] = answer
        return answers

    def run_batch(self, batch: Tensors) -> Answers:
        """The answers to stacked inputs; a stream runs through all its steps."""
        if self.stream is None:
            return self._run(batch)
        (samples,) = batch.items()
        states = self.zero_states(self.stream, len(samples[1]))
        return run_stream(self._run, samples, self.stream, states)

    def times_ms(self, one: Tensors, runs: int) -> list[float]:
        """Times of runs of one input, in milliseconds, after a warm-up."""
        self.run_batch(one)
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            self.run_batch(one)
            times.append((time.perf_counter() - start) * 1000)
        return times

    def zero_states(self, stream: Stream, batch: int) -> Tensors:
        """What the states of a stream hold at its beginning."""
        states = {state.input for state in stream.states}
        return {
            name: np.zeros([size if isinstance(size, int) else batch for size in port.shape],
                           np.float32)
            for name, port in self.inputs.items() if name in states
        }  # fmt: skip

    def _run(self, batch: Tensors) -> Answers:
        names = list(self.outputs)
        values: list[Array] = self._session.run(names, batch)
        return dict(zip(names, values, strict=True))


def _port(item: ort.NodeArg) -> Port:
    return Port(item.name, DATATYPES.get(item.type), item.type, list(item.shape))
