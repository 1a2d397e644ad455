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
    for step in _steps(values, stream):
        answer = run({name: step, **carried})
        carried = {state.input: answer.pop(state.output) for state in stream.states}
        outputs.append(answer)
    return {key: np.concatenate([one[key] for one in outputs], axis=1) for key in outputs[0]}


def step_count(samples: int, stream: Stream) -> int:
    """How many steps so many samples take; at least one."""
    return max(1, -(-samples // stream.step_samples))


def _steps(values: Array, stream: Stream) -> list[Array]:
    count, size = step_count(values.shape[1], stream), stream.step_samples
    filled = np.zeros((values.shape[0], count * size), values.dtype)
    filled[:, : values.shape[1]] = values
    return np.split(filled, count, axis=1)
