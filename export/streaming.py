"""Streams: a network with state, run step by step over one long input."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from export.contract import Stream
from export.tensors import Answers, Array, Tensors


def run_stream(
    run: Callable[[Tensors], Answers],
    samples: tuple[str, Array],
    stream: Stream,
    states: Mapping[str, Array],
) -> Answers:
    """The answers over all steps of `samples` (its name, and float32 [batch, samples]).

    `states` holds the state inputs at the beginning. The last step is filled up with zeros; outputs
    that are no state are joined along axis 1.
    """
    name, values = samples
    carried = dict(states)
    outputs: list[Answers] = []
    for step in _steps(values, stream.step_samples):
        answer = run({name: step, **carried})
        carried = {state.input: answer.pop(state.output) for state in stream.states}
        outputs.append(answer)
    return {key: np.concatenate([one[key] for one in outputs], axis=1) for key in outputs[0]}


def _steps(values: Array, size: int) -> list[Array]:
    count = max(1, -(-values.shape[1] // size))
    filled = np.zeros((values.shape[0], count * size), values.dtype)
    filled[:, : values.shape[1]] = values
    return np.split(filled, count, axis=1)
