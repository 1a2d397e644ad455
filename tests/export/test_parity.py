"""Comparisons: nothing compared, shapes, values that are not numbers, ties, top k."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from export.errors import Refused
from export.parity import Arrays, check_outputs, compare

CASES = Path(__file__).parents[1] / "cases"


def rows(*values: list[float]) -> np.ndarray:
    return np.array(values, np.float32)


def outputs(probabilities: np.ndarray, k: int = 2) -> Arrays:
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :k]
    return {
        "probabilities": probabilities,
        "top_probabilities": np.take_along_axis(probabilities, order, 1),
        "top_indices": order.astype(np.int64),
    }


def test_equal_answers_agree() -> None:
    found = compare("here", rows([0.9, 0.1]), rows([0.9, 0.1]), 1e-5)
    assert (found.max_difference, found.label_agreement, found.count) == (0, 1, 1)


def test_the_largest_difference_of_all_counts() -> None:
    found = compare("here", rows([0.9, 0.1], [0.2, 0.8]), rows([0.9, 0.1], [0.7, 0.3]), 1e-5)
    assert found.max_difference == pytest.approx(0.5)
    assert found.label_agreement == 0.5


def test_comparing_nothing_is_refused() -> None:
    with pytest.raises(Refused, match="nothing was compared"):
        compare("here", np.zeros((0, 10), np.float32), np.zeros((0, 10), np.float32), 1e-5)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(Refused, match=r"shape \[1, 3\], the judge has \[1, 2\]"):
        compare("here", rows([0.5, 0.5]), rows([0.2, 0.2, 0.6]), 1e-5)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_a_number_is_refused(value: float) -> None:
    with pytest.raises(Refused, match=r"1 of 2 answers .* first in sample 1"):
        compare("here", rows([0.5, 0.5], [0.1, 0.9]), rows([0.5, 0.5], [value, 0.9]), 1e-5)


def test_rows_with_nan_of_the_public_case_are_refused() -> None:
    stored = np.load(CASES / "parity-nan-in-scores/expected.npz")
    name = next(n for n in stored.files if np.isnan(np.asarray(stored[n], np.float64)).any())
    scores = np.atleast_2d(stored[name]).astype(np.float32)
    with pytest.raises(Refused, match="not numbers"):
        compare("here", np.nan_to_num(scores), scores, 1e-5)


def test_a_tie_of_the_judge_is_not_held_against_anyone() -> None:
    judge = rows([0.500001, 0.499999], [0.9, 0.1])
    found = compare("here", judge, rows([0.499999, 0.500001], [0.9, 0.1]), 1e-5)
    assert (found.ties, found.label_agreement) == (1, 1.0)


def test_a_judge_undecided_on_everything_proves_nothing() -> None:
    with pytest.raises(Refused, match="undecided on all 1"):
        compare("here", rows([0.500001, 0.499999]), rows([0.499999, 0.500001]), 1e-5)


def test_a_clear_difference_of_labels_is_no_tie() -> None:
    found = compare("here", rows([0.51, 0.49]), rows([0.49, 0.51]), 1e-5)
    assert (found.ties, found.label_agreement) == (0, 0.0)


def test_right_outputs_give_the_probabilities() -> None:
    probabilities = rows([0.1, 0.7, 0.2])
    assert check_outputs("here", outputs(probabilities), 1, 3, 2) is not None


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
def test_wrong_outputs_are_refused(spoil: object, told: str) -> None:
    spoilt = outputs(rows([0.1, 0.7, 0.2]))
    spoil(spoilt)  # type: ignore[operator]
    with pytest.raises(Refused, match=told):
        check_outputs("here", spoilt, 1, 3, 2)
