"""How a variant's answers are spread: what the report and the page draw beside the measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from export.contract import VariantName
from export.evidence import Detail, ReliabilityBin, Where, Worst

WORST = 8
BINS = 10
MOST_LABELS = 40  # a larger confusion matrix is not to be read
EDGES = [0.0, *(10.0**power for power in range(-8, 2))]

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
Words = Callable[[int], tuple[str, str]]
"""Of the input at a position: what the judge answers and what was got, in words."""


def detail(
    variant: VariantName,
    where: Where,
    data: Literal["golden examples", "labelled data"],
    ids: Sequence[str],
    differences: Floats,
    words: Words,
    *,
    probabilities: Floats | None = None,
    labels: Labels | None = None,
) -> Detail:
    """Of the largest difference of each input, and of labelled scores [inputs, labels]."""
    counts, _ = np.histogram(np.minimum(differences, EDGES[-1]), EDGES)
    order = np.argsort(-differences, kind="stable")[:WORST]
    labelled = probabilities is not None and labels is not None
    return Detail(
        variant=variant,
        where=where,
        data=data,
        count=len(differences),
        difference_edges=EDGES,
        difference_counts=counts.tolist(),
        worst=[_worst(ids[i], float(differences[i]), words(int(i))) for i in order],
        confusion=_confusion(probabilities, labels) if labelled else None,
        reliability=_reliability(probabilities, labels) if labelled else None,
    )


def _worst(id_: str, difference: float, words: tuple[str, str]) -> Worst:
    return Worst(id=id_, difference=difference, judge=words[0], got=words[1])


def _confusion(probabilities: Floats | None, labels: Labels | None) -> list[list[int]] | None:
    if probabilities is None or labels is None or probabilities.shape[1] > MOST_LABELS:
        return None
    matrix = np.zeros((probabilities.shape[1],) * 2, np.int64)
    np.add.at(matrix, (labels, probabilities.argmax(axis=1)), 1)
    rows: list[list[int]] = matrix.tolist()
    return rows


def _reliability(
    probabilities: Floats | None, labels: Labels | None
) -> list[ReliabilityBin] | None:
    if probabilities is None or labels is None:
        return None
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    return [
        ReliabilityBin(
            low=number / BINS, high=(number + 1) / BINS, count=int((bins == number).sum()),
            confidence=float(sure[bins == number].mean()),
            accuracy=float(right[bins == number].mean()),
        )
        for number in range(BINS) if (bins == number).any()
    ]  # fmt: skip
