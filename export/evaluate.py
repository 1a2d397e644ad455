"""How good a model file is natively on real data: what the search for sensitive layers asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from export.contract import ScoresDecision
from export.parity import compare
from export.runtime import Session
from export.sample import Sample
from export.samples import JudgedSamples
from export.spec import stream_of
from export.stages.results import Exported
from export.statistics import Scores
from export.tensors import Answers, Tensors

TIE = 1e-5  # a judge undecided by less may fall either way by the order of float32 sums alone
AT_MOST = 2000  # the search asks often

Score = Callable[[Sequence[Answers], Sequence[Sample]], Scores]


@dataclass(frozen=True)
class Evaluation:
    """Against the judge or fp32; `accuracy` where labels or a score tell what is right."""

    label_agreement: float | None
    accuracy: float | None
    cosine: float | None


Evaluate = Callable[[Path], Evaluation]


def evaluate(
    exported: Exported, labelled: JudgedSamples, tensors: Sequence[Tensors], score: Score | None
) -> Evaluate:
    """Evaluates any variant of `exported`, on at most AT_MOST of the labelled data."""
    positions = _evenly(len(labelled))
    few, feeds = labelled.pick(positions), [tensors[i] for i in positions]
    decision = exported.sourced.decision
    stream = stream_of(exported.sourced.recipe.file.input)

    def evaluated(path: Path) -> Evaluation:
        answers = Session(path, stream).run(feeds)
        found = compare(path.name, decision, few.answers, answers, TIE)
        right = rights(decision, few, answers, score)
        accuracy = None if right is None else float(right.mean())
        return Evaluation(found.label_agreement, accuracy, found.cosine)

    return evaluated


def evaluate_unlabelled(exported: Exported, inputs: Sequence[Tensors]) -> Evaluate:
    """Evaluates any variant by fp32's own answers, on at most AT_MOST inputs without labels."""
    feeds = [inputs[i] for i in _evenly(len(inputs))]
    stream = stream_of(exported.sourced.recipe.file.input)
    right = Session(exported.path, stream).run(feeds)

    def evaluated(path: Path) -> Evaluation:
        answers = Session(path, stream).run(feeds)
        found = compare(path.name, exported.sourced.decision, right, answers, TIE)
        return Evaluation(found.label_agreement, None, found.cosine)

    return evaluated


def _evenly(count: int) -> list[int]:
    """At most AT_MOST positions."""
    found: list[int] = np.linspace(0, count - 1, min(AT_MOST, count)).round().astype(int).tolist()
    return found


def rights(
    decision: object, judged: JudgedSamples, answers: Sequence[Answers], score: Score | None
) -> Scores | None:
    """How right each answer is, 0 to 1; None where neither labels nor a score can tell."""
    if score is not None:
        return score(answers, judged.samples)
    labels = judged.labels()
    if labels is None or not isinstance(decision, ScoresDecision):
        return None
    best = np.array([one[decision.probabilities].argmax() for one in answers])
    right: Scores = (best == labels).astype(np.float64)
    return right
