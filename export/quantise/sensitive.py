"""Which layers q8 has to leave in float32, found by measuring."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from export.evaluate import Evaluation
from export.quantise.aim import aim_words, missed_by, words
from export.recipe.limits import Aim

Try = Callable[[Sequence[str]], Evaluation]
"""Measures the variant that keeps these nodes in float32."""
Harm = Callable[[str], float]
"""How much the answers change when this layer alone is in 8 bits: cheap to ask."""
Say = Callable[[str], None]


@dataclass(frozen=True)
class Found:
    """What to keep. `missed`: how far the aim still is, 0 when it is reached."""

    keep: tuple[str, ...]
    missed: float
    evaluation: Evaluation


@dataclass(frozen=True)
class Question:
    """`groups` are cheap to keep and tried first; then `layers`, with what goes with each."""

    aim: Aim
    fp32: Evaluation
    start: Sequence[str]
    groups: Sequence[Sequence[str]]
    layers: dict[str, list[str]]


def search(question: Question, attempt: Try, harm: Harm, minutes: float, say: Say) -> Found:
    """The fewest layers whose float32 reaches the aim; within a time, else the closest found.

    First what the recipe keeps and the cheap groups. Then every layer is put into 8 bits alone and
    the harm measured; the most harmful are kept, twice as many each time until the aim is reached,
    and their number is narrowed down from there. The same every time, unless the time runs out.
    """
    ends = time.monotonic() + minutes * 60

    def tried(keep: Sequence[str]) -> Found:
        got = attempt(keep)
        found = Found(tuple(keep), missed_by(question.aim, question.fp32, got), got)
        say(f"kept {len(keep)}: {words(got)}, aim {aim_words(question.aim)}")
        return found

    best = tried(question.start)
    for group in question.groups:
        if best.missed == 0 or time.monotonic() > ends:
            return best
        other = tried([*question.start, *(name for name in group if name not in question.start)])
        best = min(best, other, key=lambda found: found.missed)
    if best.missed == 0:
        return best
    ranked = _ranked(question, harm, (ends + time.monotonic()) / 2, say)
    base = best.keep

    def keeping(count: int) -> Found:
        more = [node for name in ranked[:count] for node in question.layers[name]]
        return tried([*base, *(name for name in more if name not in base)])

    return _fewest(best, keeping, len(ranked), ends)


def _fewest(best: Found, keeping: Callable[[int], Found], most: int, ends: float) -> Found:
    too_few, count = 0, 1
    while best.missed > 0 and too_few < most and time.monotonic() <= ends:
        count = min(count, most)
        found = keeping(count)
        best = min(best, found, key=lambda one: one.missed)
        if found.missed > 0:
            too_few, count = count, count * 2
    while best.missed == 0 and count - too_few > 1 and time.monotonic() <= ends:
        middle = (too_few + count) // 2
        found = keeping(middle)
        if found.missed > 0:
            too_few = middle
        else:
            best, count = found, middle
    return best


def _ranked(question: Question, harm: Harm, ends: float, say: Say) -> list[str]:
    """Layers by harm, the worst first; those that the time did not suffice for come last."""
    names = list(question.layers)
    harms: dict[str, float] = {}
    for number, name in enumerate(names, start=1):
        if time.monotonic() > ends:
            say(f"time is over after {number - 1} of {len(names)} layers")
            break
        say(f"layer {number} of {len(names)}")
        harms[name] = harm(name)
    return sorted(names, key=lambda name: (-harms.get(name, -1.0), names.index(name)))
