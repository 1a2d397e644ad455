"""A stream: states are carried, the last step is filled, outputs are joined."""

import numpy as np

from export.contract import State, Stream
from export.streaming import run_stream
from export.tensors import Answers, Tensors

STREAM = Stream(step_samples=4, states=[State(input="sum", output="next_sum")])


def running_sum(inputs: Tensors) -> Answers:
    total = inputs["sum"] + inputs["x"].sum(axis=1, keepdims=True)
    return {"so_far": total, "next_sum": total}


def test_states_are_carried_and_the_last_step_is_filled_with_zeros() -> None:
    samples = np.arange(10, dtype=np.float32)[None]
    zero = {"sum": np.zeros((1, 1), np.float32)}
    answers = run_stream(running_sum, ("x", samples), STREAM, zero)
    assert answers["so_far"].tolist() == [[6.0, 28.0, 45.0]]
    assert set(answers) == {"so_far"}


def test_nothing_at_all_is_one_step_of_zeros() -> None:
    zero = {"sum": np.zeros((1, 1), np.float32)}
    answers = run_stream(running_sum, ("x", np.zeros((1, 0), np.float32)), STREAM, zero)
    assert answers["so_far"].tolist() == [[0.0]]
