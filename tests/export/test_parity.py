"""Comparisons: nothing compared, shapes, values that are not numbers, ties, top k, every kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from export.contract import (
    BoxesDecision,
    EmbeddingDecision,
    FramesDecision,
    ScoresDecision,
    Tensor,
    ValuesDecision,
)
from export.errors import Refused
from export.parity import Comparison, check_outputs, compare
from export.runtime import Session
from export.tensors import Answers

CASES = Path(__file__).parents[1] / "cases"
SCORES = ScoresDecision(
    kind="scores",
    probabilities="probabilities",
    top_probabilities="top_probabilities",
    top_indices="top_indices",
    top_k=2,
)
TENSORS = [
    Tensor(name="probabilities", dtype="float32", shape=["batch", 3]),
    Tensor(name="top_probabilities", dtype="float32", shape=["batch", 2]),
    Tensor(name="top_indices", dtype="int64", shape=["batch", 2]),
]
BOXES = BoxesDecision(
    kind="boxes", boxes="corners", scores="scores", classes="classes", threshold=0.3
)
FRAMES = FramesDecision(kind="frames", probabilities="p", frame_seconds=0.032, threshold=0.5)


def rows(*values: list[float]) -> list[Answers]:
    return [{"probabilities": np.array([row], np.float32)} for row in values]


def labels(judge: list[Answers], got: list[Answers], tolerance: float = 1e-5) -> Comparison:
    return compare("here", SCORES, judge, got, tolerance)


def outputs(*probabilities: float, k: int = 2) -> Answers:
    row = np.array([probabilities], np.float32)
    order = np.argsort(-row, axis=1, kind="stable")[:, :k]
    return {
        "probabilities": row,
        "top_probabilities": np.take_along_axis(row, order, 1),
        "top_indices": order.astype(np.int64),
    }


def found(*boxes: tuple[list[float], float, int]) -> Answers:
    """What a detector gives, filled up to three boxes as the graph does."""
    filled = [*boxes, *[([0.0] * 4, 0.0, -1)] * (3 - len(boxes))]
    return {
        "corners": np.array([[box for box, _, _ in filled]], np.float32),
        "scores": np.array([[score for _, score, _ in filled]], np.float32),
        "classes": np.array([[label for _, _, label in filled]], np.int64),
    }


def test_equal_answers_agree() -> None:
    same = labels(rows([0.9, 0.1]), rows([0.9, 0.1]))
    assert (same.max_difference, same.label_agreement, same.count) == (0, 1, 1)


def test_the_largest_difference_of_all_counts() -> None:
    two = labels(rows([0.9, 0.1], [0.2, 0.8]), rows([0.9, 0.1], [0.7, 0.3]))
    assert two.max_difference == pytest.approx(0.5)
    assert two.label_agreement == 0.5


def test_comparing_nothing_is_refused() -> None:
    with pytest.raises(Refused, match="nothing was compared"):
        labels([], [])


def test_an_empty_output_is_refused() -> None:
    nothing = [{"probabilities": np.zeros((1, 0), np.float32)}]
    with pytest.raises(Refused, match="nothing was compared"):
        labels(nothing, nothing)


def test_a_missing_answer_is_refused() -> None:
    with pytest.raises(Refused, match="1 answers, the judge has 2"):
        labels(rows([0.9, 0.1], [0.9, 0.1]), rows([0.9, 0.1]))


def test_other_shapes_are_refused() -> None:
    with pytest.raises(Refused, match=r"shape \[1, 3\], the judge's \[1, 2\]"):
        labels(rows([0.5, 0.5]), rows([0.2, 0.2, 0.6]))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_a_number_is_refused(value: float) -> None:
    with pytest.raises(Refused, match=r"input 1: probabilities holds values that are not numbers"):
        labels(rows([0.5, 0.5], [0.1, 0.9]), rows([0.5, 0.5], [value, 0.9]))


def test_rows_with_nan_of_the_public_case_are_refused() -> None:
    stored = np.load(CASES / "parity-nan-in-scores/expected.npz")
    name = next(n for n in stored.files if np.isnan(np.asarray(stored[n], np.float64)).any())
    scores = np.atleast_2d(stored[name]).astype(np.float32).tolist()
    judge = np.nan_to_num(np.array(scores, np.float32)).tolist()
    with pytest.raises(Refused, match="not numbers"):
        labels(rows(*judge), rows(*scores))


def test_a_tie_of_the_judge_is_not_held_against_anyone() -> None:
    judge = rows([0.500001, 0.499999], [0.9, 0.1])
    tied = labels(judge, rows([0.499999, 0.500001], [0.9, 0.1]))
    assert (tied.decided, tied.label_agreement) == (1, 1.0)


def test_a_judge_undecided_on_everything_proves_nothing() -> None:
    with pytest.raises(Refused, match="undecided on all 1"):
        labels(rows([0.500001, 0.499999]), rows([0.499999, 0.500001]))


def test_rows_on_the_decision_line_are_ties_and_their_scores_are_compared_all_the_same() -> None:
    case = CASES / "parity-near-tie"
    stored = np.load(case / "expected.npz")
    session = Session(case / "model.onnx")
    judge = [{"probabilities": row[None]} for row in stored["y"]]
    got = [{"probabilities": session.run_batch({"x": row[None]})["y"]} for row in stored["x"]]
    flipped = [
        int(one["probabilities"].argmax() != other["probabilities"].argmax())
        for one, other in zip(judge, got, strict=True)
    ]
    assert sum(flipped) > 0  # so that counting labels alone would be wrong
    with pytest.raises(Refused, match="the judge is undecided on all 24 inputs"):
        labels(judge, got, tolerance=1e-4)
    clear = rows([0.9, 0.1])
    found = labels([*judge, *clear], [*got, *clear], tolerance=1e-4)
    assert (found.count, found.decided, found.label_agreement) == (25, 1, 1.0)
    assert 0 < found.max_difference < 1e-4


def test_a_clear_difference_of_labels_is_no_tie() -> None:
    clear = labels(rows([0.51, 0.49]), rows([0.49, 0.51]))
    assert (clear.decided, clear.label_agreement) == (1, 0.0)


def test_of_an_embedding_the_smallest_cosine_counts() -> None:
    decision = EmbeddingDecision(kind="embedding", vector="v")
    judge = [{"v": np.array([[1, 0]], np.float32)}, {"v": np.array([[0, 1]], np.float32)}]
    got = [{"v": np.array([[1, 0]], np.float32)}, {"v": np.array([[0.6, 0.8]], np.float32)}]
    compared = compare("here", decision, judge, got, 1e-5)
    assert compared.cosine == pytest.approx(0.8)
    assert compared.label_agreement is None


def test_a_vector_without_a_direction_is_refused() -> None:
    decision = EmbeddingDecision(kind="embedding", vector="v")
    one = [{"v": np.array([[0.6, 0.8]], np.float32)}]
    none = [{"v": np.zeros((1, 2), np.float32)}]
    with pytest.raises(Refused, match="here: v of input 0 is all zeros"):
        compare("here", decision, one, none, 1e-5)


def test_of_frames_those_near_the_threshold_are_not_held_against_anyone() -> None:
    judge = [{"p": np.array([[0.1, 0.500001, 0.9, 0.6]], np.float32)}]
    got = [{"p": np.array([[0.1, 0.499999, 0.9, 0.4]], np.float32)}]
    compared = compare("here", FRAMES, judge, got, 1e-5)
    assert (compared.decided, compared.agreeing) == (3, 2)


CAT, DOG = ([10.0, 10.0, 50.0, 50.0], 0.9, 3), ([60.0, 60.0, 90.0, 90.0], 0.8, 5)


def test_boxes_in_another_order_agree() -> None:
    compared = compare("here", BOXES, [found(CAT, DOG)], [found(DOG, CAT)], 1e-5)
    assert (compared.label_agreement, compared.max_difference) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("got", "agreeing"),
    [
        ([CAT], 2),  # the dog is missing: CAT forth, CAT back, DOG not
        ([CAT, DOG, ([0.0, 0.0, 5.0, 5.0], 0.7, 1)], 4),  # one too many
        ([CAT, ([60.0, 60.0, 90.0, 90.0], 0.8, 6)], 2),  # another class
        ([CAT, ([75.0, 60.0, 105.0, 90.0], 0.8, 5)], 2),  # half beside it
    ],
)
def test_boxes_missing_too_many_or_elsewhere_do_not_agree(
    got: list[tuple[list[float], float, int]], agreeing: int
) -> None:
    compared = compare("here", BOXES, [found(CAT, DOG)], [found(*got)], 1e-5)
    assert compared.agreeing == agreeing
    assert compared.agreeing < compared.decided


def test_a_judge_that_finds_no_box_anywhere_proves_nothing() -> None:
    with pytest.raises(Refused, match="finds no box"):
        compare("here", BOXES, [found()], [found()], 1e-5)


def test_plain_values_have_a_difference_and_no_agreement() -> None:
    decision = ValuesDecision(kind="values", values=["a", "b"])
    judge = [{"a": np.ones((1, 3), np.float32), "b": np.zeros((1, 2), np.float32)}]
    got = [{"a": np.ones((1, 3), np.float32), "b": np.full((1, 2), 0.25, np.float32)}]
    compared = compare("here", decision, judge, got, 1e-5)
    assert (compared.max_difference, compared.label_agreement) == (0.25, None)


def test_right_outputs_pass() -> None:
    check_outputs("here", TENSORS, SCORES, outputs(0.1, 0.7, 0.2), 1)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda o: o.pop("top_indices"), "outputs"),
        (lambda o: o.update(more=o["probabilities"]), "outputs"),
        (lambda o: o.update(top_indices=o["top_indices"].astype(np.int32)), "top_indices is int32"),
        (lambda o: o.update(probabilities=o["probabilities"][:, :2]), "probabilities is float32"),
        (lambda o: o.update(top_indices=o["top_indices"] * 0), "not those of the probabilities"),
        (lambda o: o.update(top_indices=o["top_indices"] + 9), "reaches outside the labels"),
        (lambda o: o.update(top_probabilities=o["top_probabilities"] / 2), "not those of"),
    ],
)
def test_wrong_outputs_are_refused(spoil: Callable[[Answers], object], told: str) -> None:
    spoilt = outputs(0.1, 0.7, 0.2)
    spoil(spoilt)
    with pytest.raises(Refused, match=told):
        check_outputs("here", TENSORS, SCORES, spoilt, 1)
