"""How sure a measured share is, and whether two variants really differ on the same inputs."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Z95 = 1.959963984540054  # two-sided 95 %
FLIPS = 9_999

Scores = npt.NDArray[np.float64]


def interval(scores: Scores) -> tuple[float, float]:
    """95 % interval of the mean of scores in 0..1.

    Wilson's for right and wrong (Wilson 1927), else the normal one.
    """
    count, mean = len(scores), float(scores.mean())
    if _binary(scores):
        centre = (mean + Z95**2 / (2 * count)) / (1 + Z95**2 / count)
        half = mean * (1 - mean) / count + Z95**2 / (4 * count**2)
        half = Z95 * math.sqrt(half) / (1 + Z95**2 / count)
        return max(0.0, centre - half), min(1.0, centre + half)
    half = Z95 * float(scores.std(ddof=1)) / math.sqrt(count) if count > 1 else 1.0
    return max(0.0, mean - half), min(1.0, mean + half)


def paired_p_value(one: Scores, other: Scores) -> float:
    """Two-sided p value that two variants are equally good on the same inputs.

    McNemar's exact test for right and wrong (McNemar 1947), else 9,999 random sign flips of the
    differences (Fisher 1935), with a fixed seed.
    """
    difference = one - other
    if not difference.any():
        return 1.0
    if _binary(one) and _binary(other):
        return _mcnemar(int((difference > 0).sum()), int((difference < 0).sum()))
    observed = abs(difference.sum())
    generator = np.random.default_rng(0)
    changed = difference[difference != 0]
    at_least = sum(
        abs((changed * generator.choice((-1.0, 1.0), len(changed))).sum()) >= observed - 1e-12
        for _ in range(FLIPS)
    )
    return float((at_least + 1) / (FLIPS + 1))


def _mcnemar(better: int, worse: int) -> float:
    count, least = better + worse, min(better, worse)
    tail = sum(math.comb(count, i) for i in range(least + 1))
    return float(min(1.0, 2 * tail / 2**count))


def _binary(scores: Scores) -> bool:
    return bool(np.isin(scores, (0.0, 1.0)).all())
