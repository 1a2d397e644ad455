"""An answer in words, for reports: the best label, how many boxes, the length of a vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from export.contract import Decision
from export.tensors import Answers

MANY = 3


def in_words(decision: Decision, labels: Sequence[str]) -> Callable[[Answers], str]:
    """A function from an answer to a few words."""

    def told(answer: Answers) -> str:
        match decision.kind:
            case "scores":
                row = answer[decision.probabilities][0]
                return f"{labels[int(row.argmax())]} {float(row.max()):.3f}"
            case "frames":
                active = answer[decision.probabilities][0] >= decision.threshold
                return f"{int(active.sum())} of {active.size} frames active"
            case "boxes":
                scores, classes = answer[decision.scores][0], answer[decision.classes][0]
                found = [
                    f"{labels[int(classes[i])]} {float(scores[i]):.3f}"
                    for i in np.flatnonzero(scores > decision.threshold)
                ]
                return ", ".join(found[:MANY]) or "nothing"
            case "embedding":
                return _few(answer[decision.vector])
            case "values":
                return _few(answer[decision.values[0]])

    return told


def _few(values: np.ndarray) -> str:
    return ", ".join(f"{float(value):.4f}" for value in values.ravel()[:MANY]) + ", ..."
