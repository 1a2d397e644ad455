"""A graph that declares a free batch and answers for one row only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from export.frozen import batch_check
from export.inspection.examine import examining
from export.runtime import Session
from export.tensors import Answers, Tensors

CASE = Path(__file__).parents[1] / "cases" / "export-batch-loop-baked"


@pytest.fixture
def feeds() -> list[Tensors]:
    with np.load(CASE / "expected.npz") as right:
        return [{"x": right["x"][i : i + 1]} for i in range(3)]


@pytest.mark.parametrize("file", ["legacy", "dynamo_AUTO", "dynamo_dynamic_axes"])
def test_a_frozen_batch_is_refused_with_a_message_that_names_it(
    file: str, feeds: list[Tensors]
) -> None:
    (reason,) = batch_check(Session(CASE / f"{file}.onnx").run_batch, feeds, sizes=(1, 3))
    assert reason.startswith("frozen batch: 3 rows in, 1 row out (")


def test_a_batch_that_cannot_be_given_is_refused_too(feeds: list[Tensors]) -> None:
    (reason,) = batch_check(Session(CASE / "dynamo_Dim.onnx").run_batch, feeds)
    assert reason.startswith("frozen batch or length: 2 rows in (x [6]): does not run: ")


def test_what_the_framework_answers_is_no_frozen_batch(feeds: list[Tensors]) -> None:
    with np.load(CASE / "expected.npz") as right:
        answers = {row["x"].tobytes(): right["y"][i] for i, row in enumerate(feeds)}

    def framework(batch: Tensors) -> Answers:
        return {"y": np.stack([answers[row.tobytes()] for row in batch["x"]])}

    assert batch_check(framework, feeds) == []


def test_rows_that_depend_on_their_neighbours_are_told() -> None:
    feeds: list[Tensors] = [{"x": np.full((1, 4), i, np.float32)} for i in range(3)]

    def centred(batch: Tensors) -> Answers:
        return {"y": batch["x"] - batch["x"].mean(axis=0)}

    (reason,) = batch_check(centred, feeds)
    assert "row 0 of y differs from its answer alone" in reason


def test_each_length_is_tried() -> None:
    feeds: list[Tensors] = [{"x": np.ones((1, n), np.float32)} for n in (4, 9)]

    def only_four(batch: Tensors) -> Answers:
        return {"y": batch["x"].reshape(-1, 4).sum(axis=1)}

    (reason,) = batch_check(only_four, feeds)
    assert "x [9]" in reason


def test_outputs_without_a_row_for_each_input_can_be_left_out() -> None:
    feeds: list[Tensors] = [{"x": np.ones((1, 2), np.float32)}]

    def run(batch: Tensors) -> Answers:
        return {"y": batch["x"], "temperature": np.ones(1, np.float32)}

    assert batch_check(run, feeds, outputs={"y"}) == []
    assert batch_check(run, feeds)


@pytest.mark.parametrize("file", ["legacy", "dynamo_AUTO", "dynamo_dynamic_axes"])
def test_check_finds_it_without_the_framework(file: str) -> None:
    with examining(CASE / f"{file}.onnx") as (found, _):
        (reason,) = found.reasons
    assert (reason.code, reason.before) == ("frozen-batch", "publishing")
    assert "frozen batch: 3 rows in, 1 row out (y)" in reason.message
