"""Comparing two sets of answers: pure functions over arrays, used for every runtime alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from export.contract import (
    BoxesDecision,
    Datatype,
    Decision,
    FramesDecision,
    ScoresDecision,
    Tensor,
)
from export.errors import Refused
from export.spec import judged_outputs
from export.tensors import Answers, Array

Floats = npt.NDArray[np.float64]

DTYPES: dict[Datatype, type[np.generic]] = {
    "bool": np.bool_, "uint8": np.uint8, "int32": np.int32, "int64": np.int64,
    "float32": np.float32, "string": np.object_,
}  # fmt: skip
SAME_BOX = 0.9  # intersection over union of two boxes that are taken for one


@dataclass(frozen=True)
class Comparison:
    """Of one runtime with the judge, over all inputs.

    `differences`: the largest of each input, float64 [inputs]. `decided`: how many answers (labels,
    frames, boxes) the judge gives with a margin beyond the tolerance, `agreeing` how many of them
    are the same; 0 where an answer is no choice. `cosine`: the smallest, of an embedding.
    """

    differences: Floats
    agreeing: int = 0
    decided: int = 0
    cosine: float | None = None

    @property
    def count(self) -> int:
        """How many inputs were compared."""
        return len(self.differences)

    @property
    def max_difference(self) -> float:
        """Of any output's value to the judge's."""
        return float(self.differences.max())

    @property
    def label_agreement(self) -> float | None:
        """Share of the decided answers that are the judge's; None where there is no choice."""
        return self.agreeing / self.decided if self.decided else None


def compare(
    where: str,
    decision: Decision,
    judge: Sequence[Answers],
    got: Sequence[Answers],
    tolerance: float,
) -> Comparison:
    """Compare answers input by input.

    Refused when nothing was compared, shapes differ or a value is not a number: absence of
    evidence is no evidence.
    """
    if not judge:
        raise Refused([f"{where}: nothing was compared"])
    if len(judge) != len(got):
        raise Refused([f"{where}: {len(got)} answers, the judge has {len(judge)}"])
    names = judged_outputs(decision)
    for position, (ours, theirs) in enumerate(zip(got, judge, strict=True)):
        _comparable(f"{where}, input {position}", names, theirs, ours)
    if decision.kind == "boxes":
        return _boxes(where, decision, judge, got, tolerance)
    differences = np.array(
        [max(_difference(j[n], g[n]) for n in names) for j, g in zip(judge, got, strict=True)]
    )
    match decision:
        case ScoresDecision():
            return _labels(where, decision, judge, got, tolerance, differences)
        case FramesDecision():
            return _frames(decision, judge, got, tolerance, differences)
    if decision.kind == "embedding":
        return Comparison(differences, cosine=_cosine(where, decision.vector, judge, got))
    return Comparison(differences)


def check_outputs(
    where: str, expected: Sequence[Tensor], decision: Decision, batch: Answers, count: int
) -> None:
    """Every output present, of the right type and shape, for `count` inputs at once; and the top k
    those of the probabilities. Refused with all that is wrong.
    """
    wrong = []
    names = [tensor.name for tensor in expected]
    if set(batch) != set(names):
        wrong.append(f"{where}: outputs {sorted(batch)}, expected {sorted(names)}")
    for tensor in expected:
        if tensor.name in batch and (reason := _misfit(tensor, batch[tensor.name], count)):
            wrong.append(f"{where}: {reason}")
    if wrong:
        raise Refused(wrong)
    if isinstance(decision, ScoresDecision):
        _check_top(where, decision, batch)


def _misfit(tensor: Tensor, got: Array, count: int) -> str | None:
    shape = tensor.shape or []
    sizes = [count if i == 0 and isinstance(s, str) else s for i, s in enumerate(shape)]
    fits = tensor.shape is None or (
        len(sizes) == got.ndim
        and all(not isinstance(s, int) or s == g for s, g in zip(sizes, got.shape, strict=True))
    )
    if not fits or got.dtype != DTYPES[tensor.dtype]:
        return f"{tensor.name} is {got.dtype} {list(got.shape)}, expected {tensor.dtype} {sizes}"
    return None


def _check_top(where: str, decision: ScoresDecision, batch: Answers) -> None:
    probabilities = batch[decision.probabilities].astype(np.float64)
    best, indices = batch[decision.top_probabilities], batch[decision.top_indices].astype(np.int64)
    if not np.isfinite(probabilities).all():
        return  # told as such by the comparison
    if indices.size and (indices.min() < 0 or indices.max() >= probabilities.shape[1]):
        raise Refused([f"{where}: {decision.top_indices} reaches outside the labels"])
    sorted_best = -np.sort(-probabilities, axis=1)[:, : best.shape[1]]
    taken = np.take_along_axis(probabilities, indices, axis=1)
    if not (np.array_equal(best, sorted_best) and np.array_equal(best, taken)):
        raise Refused([f"{where}: the top {best.shape[1]} are not those of the probabilities"])


def _comparable(where: str, names: Sequence[str], judge: Answers, got: Answers) -> None:
    for name in names:
        if name not in got:
            raise Refused([f"{where}: no output {name}"])
        if judge[name].shape != got[name].shape:
            raise Refused([
                f"{where}: {name} has shape {list(got[name].shape)}, "
                f"the judge's {list(judge[name].shape)}"
            ])  # fmt: skip
        if judge[name].size == 0:
            raise Refused([f"{where}: {name} is empty; nothing was compared"])
        if not np.isfinite(got[name].astype(np.float64)).all():
            raise Refused([f"{where}: {name} holds values that are not numbers"])


def _difference(judge: Array, got: Array) -> float:
    return float(np.abs(judge.astype(np.float64) - got.astype(np.float64)).max())


def _labels(
    where: str, decision: ScoresDecision, judge: Sequence[Answers], got: Sequence[Answers],
    tolerance: float, differences: Floats,
) -> Comparison:  # fmt: skip
    theirs = np.concatenate([one[decision.probabilities] for one in judge]).astype(np.float64)
    ours = np.concatenate([one[decision.probabilities] for one in got]).astype(np.float64)
    top_two = np.sort(theirs, axis=1)[:, -2:]
    decided = top_two[:, 1] - top_two[:, 0] > 2 * tolerance
    if not decided.any():
        raise Refused([f"{where}: the judge is undecided on all {len(judge)} inputs"])
    same = theirs.argmax(axis=1) == ours.argmax(axis=1)
    return Comparison(differences, int((same & decided).sum()), int(decided.sum()))


def _frames(decision: FramesDecision, judge: Sequence[Answers], got: Sequence[Answers],
            tolerance: float, differences: Floats) -> Comparison:  # fmt: skip
    theirs = np.concatenate([one[decision.probabilities].ravel() for one in judge])
    ours = np.concatenate([one[decision.probabilities].ravel() for one in got])
    decided = np.abs(theirs - decision.threshold) > tolerance
    same = (theirs >= decision.threshold) == (ours >= decision.threshold)
    return Comparison(differences, int((same & decided).sum()), int(decided.sum()))


def _cosine(where: str, name: str, judge: Sequence[Answers], got: Sequence[Answers]) -> float:
    theirs = np.concatenate([one[name] for one in judge]).astype(np.float64)
    ours = np.concatenate([one[name] for one in got]).astype(np.float64)
    lengths = np.linalg.norm(theirs, axis=1) * np.linalg.norm(ours, axis=1)
    if not lengths.all():
        raise Refused([
            f"{where}: {name} of input {lengths.argmin()} is all zeros, which points nowhere"
        ])  # fmt: skip
    return float(((theirs * ours).sum(axis=1) / lengths).min())


def _boxes(where: str, decision: BoxesDecision, judge: Sequence[Answers], got: Sequence[Answers],
           tolerance: float) -> Comparison:  # fmt: skip
    """Boxes are compared as sets: tied ones may come in any order."""
    agreeing = decided = 0
    differences = []
    for theirs, ours in zip(judge, got, strict=True):
        forth, back = _matched(decision, theirs, ours), _matched(decision, ours, theirs)
        sure = decision.threshold + tolerance
        found = [same for score, same, _ in (*forth, *back) if score > sure]
        decided += len(found)
        agreeing += sum(found)
        differences.append(max((gap for _, same, gap in forth if same), default=0.0))
    if not decided:
        raise Refused([f"{where}: the judge finds no box in any of {len(judge)} pictures"])
    return Comparison(np.array(differences), agreeing, decided)


def _matched(
    decision: BoxesDecision, one: Answers, other: Answers
) -> list[tuple[float, bool, float]]:
    """For each box of `one`: its score, whether `other` has it too, and how far that is away:
    the larger of the scores' difference and what the two do not share."""
    matched = []
    for box, score, label in _listed(decision, one):
        same = [
            (overlap(box, its_box), abs(score - its_score))
            for its_box, its_score, its_label in _listed(decision, other)
            if its_label == label
        ]
        best = max(same, default=(0.0, 0.0))
        matched.append((score, best[0] >= SAME_BOX, max(best[1], 1 - best[0])))
    return matched


def _listed(decision: BoxesDecision, answer: Answers) -> list[tuple[Floats, float, int]]:
    boxes, scores = answer[decision.boxes][0], answer[decision.scores][0]
    classes = answer[decision.classes][0]
    return [
        (boxes[i].astype(np.float64), float(scores[i]), int(classes[i]))
        for i in np.flatnonzero(scores > 0)
    ]


def overlap(one: Floats, other: Floats) -> float:
    """Intersection over union of two boxes x1, y1, x2, y2."""
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    shared = float(np.prod(np.clip(sides, 0, None)))
    union = float(np.prod(one[2:] - one[:2]) + np.prod(other[2:] - other[:2])) - shared
    return shared / union if union > 0 else 0.0
