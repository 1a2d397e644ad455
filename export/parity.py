"""Comparing two sets of answers: pure functions over arrays, used for every runtime alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from export.errors import Refused
from export.graph_names import PROBABILITIES, TOP_INDICES, TOP_PROBABILITIES
from export.samples import Probabilities

Arrays = dict[str, npt.NDArray[np.generic]]


@dataclass(frozen=True)
class Comparison:
    """Of one runtime with the judge. `ties`: the judge itself is undecided within the tolerance."""

    count: int
    max_difference: float
    agreeing: int
    ties: int

    @property
    def label_agreement(self) -> float:
        """Share of the samples, ties left out, with the judge's best label."""
        return self.agreeing / self.decided

    @property
    def decided(self) -> int:
        """On how many samples the judge is not undecided."""
        return self.count - self.ties


def compare(where: str, judge: Probabilities, got: Probabilities, tolerance: float) -> Comparison:
    """Compare probabilities [samples, labels].

    Refused when nothing was compared, shapes differ or a value is not a number: absence of
    evidence is no evidence.
    """
    if judge.size == 0:
        raise Refused([f"{where}: nothing was compared"])
    if judge.shape != got.shape:
        raise Refused([f"{where}: shape {list(got.shape)}, the judge has {list(judge.shape)}"])
    broken = np.flatnonzero(~np.isfinite(got).all(axis=1))
    if broken.size:
        raise Refused([
            f"{where}: {broken.size} of {len(got)} answers hold values that are not numbers, "
            f"first in sample {broken[0]}"
        ])  # fmt: skip
    top_two = np.sort(judge, axis=1)[:, -2:]
    decided = top_two[:, 1] - top_two[:, 0] > 2 * tolerance
    if not decided.any():
        raise Refused([f"{where}: the judge is undecided on all {len(judge)} samples"])
    same = judge.argmax(axis=1) == got.argmax(axis=1)
    difference = np.abs(judge.astype(np.float64) - got).max()
    return Comparison(
        len(judge), float(difference), int((same & decided).sum()), int((~decided).sum())
    )


def check_outputs(
    where: str, outputs: Arrays, samples: int, labels: int, top_k: int
) -> Probabilities:
    """Every output present, of the right type and shape, and the top k those of the probabilities.

    Returns the probabilities. Refused with all that is wrong.
    """
    k = min(top_k, labels)
    expected = {
        PROBABILITIES: (np.float32, (samples, labels)),
        TOP_PROBABILITIES: (np.float32, (samples, k)),
        TOP_INDICES: (np.int64, (samples, k)),
    }
    wrong = []
    if set(outputs) != set(expected):
        wrong.append(f"{where}: outputs {sorted(outputs)}, expected {sorted(expected)}")
    for name in expected.keys() & outputs.keys():
        dtype, shape = expected[name]
        if outputs[name].dtype != dtype or outputs[name].shape != shape:
            wrong.append(
                f"{where}: {name} is {outputs[name].dtype} {list(outputs[name].shape)}, "
                f"expected {np.dtype(dtype)} {list(shape)}"
            )
    if wrong:
        raise Refused(wrong)
    probabilities = outputs[PROBABILITIES].astype(np.float32)
    if np.isfinite(probabilities).all():
        _check_top(
            where, probabilities, outputs[TOP_PROBABILITIES], outputs[TOP_INDICES].astype(np.int64)
        )
    return probabilities


def _check_top(where: str, probabilities: Probabilities, best: npt.NDArray[np.generic],
               indices: npt.NDArray[np.int64]) -> None:  # fmt: skip
    if indices.min() < 0 or indices.max() >= probabilities.shape[1]:
        raise Refused([f"{where}: {TOP_INDICES} reaches outside the labels"])
    sorted_best = -np.sort(-probabilities, axis=1)[:, : best.shape[1]]
    taken = np.take_along_axis(probabilities, indices, axis=1)
    if not (np.array_equal(best, sorted_best) and np.array_equal(best, taken)):
        raise Refused([f"{where}: the top {best.shape[1]} are not those of the probabilities"])
