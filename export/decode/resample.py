"""The resampler "kaiser-polyphase": a polyphase low-pass, as scipy.signal.resample_poly has it.

Every operation is named in docs/decoders.md, so that another language gives the same bits: only
float64's + - * /, which IEEE 754 rounds alike everywhere, and sums in a fixed order. Hence no
np.sin (which differs by platform), np.sum (which adds in pairs) or np.dot (which fuses).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from export.errors import DecodeError

Floats = npt.NDArray[np.float64]
Samples = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

MAX_SAMPLES = 60_000_000
ZEROS = 10  # of the sine on either side
QUARTER_BETA_SQUARED = 6.25  # beta 5
BLOCK = 1 << 16  # outputs at once, so that memory does not grow with the sound


def resample(samples: Samples, source: int, target: int, *, most: int | None = None) -> Samples:
    """From `source` to `target` samples a second; `most`: no more than so many of the result.

    Raises DecodeError when more than MAX_SAMPLES would come out, or one is beyond float32.
    """
    common = math.gcd(source, target)
    up, down = target // common, source // common
    count = -(-samples.size * up // down)
    count = count if most is None else min(count, most)
    if count > MAX_SAMPLES:
        raise DecodeError(
            f"{count:,} samples at {target:,} a second, limit {MAX_SAMPLES:,}; give a part of it"
        )
    if up == down:
        return samples[:count]
    result = np.empty(count, np.float32)
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        with np.errstate(over="ignore"):
            result[start:stop] = _outputs(samples, up, down, start, stop)
    if not np.isfinite(result).all():
        raise DecodeError(
            "the sound is too loud: resampled it is beyond float32; scale it to -1..1"
        )
    return result


def _outputs(samples: Samples, up: int, down: int, start: int, stop: int) -> Floats:
    """Outputs start..stop - 1, each summed from its earliest sample to its latest."""
    half = ZEROS * max(up, down)
    # Not every output has as many samples in reach: zeros stand for a coefficient beyond `half`.
    filter_ = np.concatenate([coefficients(up, down), np.zeros(up)])
    places = np.arange(start, stop, dtype=np.int64) * down
    first = -((half - places) // up)  # the earliest i with |place - i * up| <= half
    # Zeros around the samples stand for those that are not there; adding 0 changes no sum.
    low = int(first[0])
    high = (int(places[-1]) + half) // up + 1
    padded = np.zeros(high - low + 1, np.float64)
    there = samples[max(low, 0) : max(high, 0)]
    padded[max(low, 0) - low :][: there.size] = there
    distance = places - first * up
    at = first - low
    total = np.zeros(stop - start, np.float64)
    for _ in range(2 * half // up + 1):
        total += padded[at] * filter_[np.abs(distance)]
        at += 1
        distance -= up
    return total


@lru_cache(maxsize=4)
def coefficients(up: int, down: int) -> Floats:
    """c[0..half] of the symmetric low-pass: Kaiser window (beta 5) times sine, gain `up`."""
    r = max(up, down)
    half = ZEROS * r
    m = np.arange(1, half + 1, dtype=np.int64)
    sides = _sine(m, r) / m.astype(np.float64) * _window(m, half)
    middle = math.pi / r * _window(np.zeros(1, np.int64), half)
    raw = np.concatenate([middle, sides])
    terms = raw * np.where(np.arange(half + 1) == 0, 1.0, 2.0)
    total = np.add.accumulate(terms)[-1]  # accumulate adds from left to right
    return np.asarray(raw / total * up)


def _sine(m: Integers, r: int) -> Floats:
    """sin(pi m / r), by the first eighth of the circle alone."""
    k = m % r
    k = np.minimum(k, r - k)
    small = 4 * k <= r
    angle = np.where(small, math.pi * k / r, math.pi * (r - 2 * k) / (2 * r))
    sine, cosine = angle * _series(angle, 16), _series(angle, 15)
    sign = np.where(m // r % 2 == 1, -1.0, 1.0)
    return np.asarray(sign * np.where(small, sine, cosine))


def _series(angle: Floats, terms: int) -> Floats:
    """Taylor's series of sin(a) / a (from an even number of terms) or cos(a) (an odd one)."""
    square = angle * angle
    total = np.ones_like(angle)
    for n in range(terms, 0, -2):
        total = 1.0 - square / (n * (n + 1)) * total
    return total


def _window(m: Integers, half: int) -> Floats:
    """Bessel's I0 of 5 sqrt(1 - (m / half)^2), by its power series."""
    ratio = m / half
    square = QUARTER_BETA_SQUARED * (1.0 - ratio * ratio)
    total = np.ones_like(ratio)
    for n in range(25, 0, -1):
        total = 1.0 + square / (n * n) * total
    return total
