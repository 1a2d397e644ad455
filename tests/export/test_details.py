"""How answers are spread: histogram, worst inputs, confusion, reliability."""

from __future__ import annotations

import numpy as np
import pytest

from export.details import BINS, EDGES, MOST_LABELS, WORST, Floats, detail
from export.evidence import Detail


def spread(differences: list[float], probabilities: Floats | None = None,
           labels: list[int] | None = None) -> Detail:  # fmt: skip
    return detail(
        "q8", "python-cpu", "labelled data", [f"id-{i}" for i in range(len(differences))],
        np.array(differences), lambda i: (f"judge {i}", f"got {i}"), probabilities=probabilities,
        labels=None if labels is None else np.array(labels, np.int64),
    )  # fmt: skip


def test_every_input_is_in_the_histogram_however_far_off() -> None:
    found = spread([0.0, 5e-9, 1e-8, 0.5, 1.0, 10.0, 1e6])
    assert sum(found.difference_counts) == found.count == 7
    assert len(found.difference_edges) == len(found.difference_counts) + 1
    assert found.difference_counts[0] == 2
    assert found.difference_counts[-1] == 3


def test_edges_grow_by_tens() -> None:
    assert EDGES[0] == 0
    ratios = np.array(EDGES[2:]) / np.array(EDGES[1:-1])
    assert ratios == pytest.approx(10)


def test_the_worst_inputs_come_first_and_equal_ones_in_their_order() -> None:
    differences = [0.1, 0.3, 0.3, *([0.2] * 10)]
    found = spread(differences)
    assert [one.id for one in found.worst[:3]] == ["id-1", "id-2", "id-3"]
    assert (found.worst[0].judge, found.worst[0].got) == ("judge 1", "got 1")
    assert len(found.worst) == WORST


def test_the_confusion_matrix_has_right_labels_in_rows() -> None:
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    found = spread([0.0] * 3, probabilities, [0, 1, 0])
    assert found.confusion == [[1, 1], [0, 1]]


def test_too_many_labels_make_no_confusion_matrix_but_a_reliability_curve() -> None:
    probabilities = np.eye(MOST_LABELS + 1)
    found = spread([0.0] * len(probabilities), probabilities, [*range(len(probabilities))])
    assert found.confusion is None
    assert found.reliability is not None
    few = np.eye(MOST_LABELS)
    assert spread([0.0] * len(few), few, [*range(len(few))]).confusion is not None


def test_reliability_tells_how_sure_and_how_often_right_bin_by_bin() -> None:
    probabilities = np.array([[1.0, 0.0], [0.75, 0.25], [0.73, 0.27], [0.45, 0.55]])
    bins = spread([0.0] * 4, probabilities, [0, 0, 1, 1]).reliability
    assert bins is not None
    assert [(b.low, b.high, b.count, b.accuracy) for b in bins] == [
        (0.5, 0.6, 1, 1.0), (0.7, 0.8, 2, 0.5), (0.9, 1.0, 1, 1.0),
    ]  # fmt: skip
    assert bins[1].confidence == pytest.approx(0.74)
    assert len(bins) <= BINS


@pytest.mark.parametrize(
    ("probabilities", "labels"), [(None, [0]), (np.array([[0.6, 0.4]]), None), (None, None)]
)
def test_without_labelled_scores_neither_is_told(
    probabilities: Floats | None, labels: list[int] | None
) -> None:
    found = spread([0.0], probabilities, labels)
    assert found.confusion is None
    assert found.reliability is None
