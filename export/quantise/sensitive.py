"""Which layers q8 has to leave in float32, found by measuring."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from export.evaluate import Evaluate, Evaluation
from export.quantise.nodes import layers
from export.recipe.limits import Aim

Make = Callable[[Sequence[str], Path], None]
"""Writes the variant that keeps these nodes in float32."""
Say = Callable[[str], None]

GROUPS: tuple[tuple[str, ...], ...] = (("first-layer",), ("first-layer", "depthwise"))


@dataclass(frozen=True)
class Found:
    """What to keep. `reached`: whether the aim is met with it."""

    keep: tuple[str, ...]
    reached: bool
    evaluation: Evaluation


def search(
    graph: onnx.GraphProto, start: Sequence[str], aim: Aim, fp32: Evaluation,
    make: Make, evaluate: Evaluate, scratch: Path, minutes: float, say: Say,
) -> Found:  # fmt: skip
    """The fewest layers whose float32 reaches the aim, within a time.

    First what the recipe keeps, then the first layer and the depthwise convolutions, which cost
    little; then every layer by itself is given back its float32 and the loss measured, and the most
    sensitive ones are kept, twice as many each time, until the aim is met or the time is over.
    """
    ends = time.monotonic() + minutes * 60
    path = scratch / "tried.onnx"

    def tried(keep: Sequence[str]) -> Found:
        make(keep, path)
        got = evaluate(path)
        return Found(tuple(keep), _reached(aim, fp32, got), got)

    best = tried(start)
    for group in GROUPS:
        if best.reached or time.monotonic() > ends:
            return best
        best = _better(best, tried([*start, *(n for n in group if n not in start)]), aim, fp32)
    if best.reached:
        return best
    names = [name for name in layers(graph) if name not in best.keep]
    gains: list[tuple[float, str]] = []
    for number, name in enumerate(names, start=1):
        if time.monotonic() > ends:
            say(f"q8: time is over after {number - 1} of {len(names)} layers")
            break
        got = tried([*best.keep, name])
        gains.append((_distance(aim, fp32, got.evaluation), name))
        say(f"q8: layer {number} of {len(names)}; best so far {_words(best.evaluation)}")
    ordered = [name for _, name in sorted(gains)]
    count = 1
    base = best.keep
    while not best.reached and ordered and time.monotonic() <= ends:
        best = _better(best, tried([*base, *ordered[:count]]), aim, fp32)
        say(f"q8: {len(best.keep)} kept, {_words(best.evaluation)}")
        if count >= len(ordered):
            break
        count *= 2
    return best


def _reached(aim: Aim, fp32: Evaluation, got: Evaluation) -> bool:
    return _distance(aim, fp32, got) <= 0


def _distance(aim: Aim, fp32: Evaluation, got: Evaluation) -> float:
    """How far the aim is missed, 0 when it is met; in shares of one."""
    missed = 0.0
    if aim.label_agreement is not None and got.label_agreement is not None:
        missed += max(0.0, aim.label_agreement - got.label_agreement)
    if aim.accuracy_loss_points is not None and got.accuracy is not None:
        lost = (fp32.accuracy or 0.0) - got.accuracy
        missed += max(0.0, lost - aim.accuracy_loss_points / 100)
    if aim.cosine is not None and got.cosine is not None:
        missed += max(0.0, aim.cosine - got.cosine)
    return missed


def _better(one: Found, other: Found, aim: Aim, fp32: Evaluation) -> Found:
    closer = _distance(aim, fp32, other.evaluation) < _distance(aim, fp32, one.evaluation)
    return other if closer else one


def _words(got: Evaluation) -> str:
    told = {"agreement": got.label_agreement, "accuracy": got.accuracy, "cosine": got.cosine}
    return ", ".join(f"{name} {value:.3f}" for name, value in told.items() if value is not None)
