"""Sound files to mono PCM of one rate. The rules are in docs/decoders.md."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from export.contract import SoundInput, Tensor
from export.errors import DecodeError
from export.tensors import Tensors

Floats = npt.NDArray[np.float64]

PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
MAX_BYTES = 500_000_000
BETA = 5.0  # of the Kaiser window
HALF_LENGTH = 10  # of the filter, in samples of the slower rate


@dataclass(frozen=True)
class Wave:
    """A sound as its file holds it: float64 [samples, channels] in -1..1."""

    rate: int
    values: Floats


def make(spec: SoundInput, inputs: Sequence[Tensor], folder: Path) -> Callable[[bytes], Tensors]:  # noqa: ARG001
    """The decoder to the contract's rate and window."""

    def decode(data: bytes) -> Tensors:
        wave = read_wav(data)
        mono = wave.values.sum(axis=1) / wave.values.shape[1]
        samples = resample(mono, wave.rate, spec.rate).astype(np.float32)
        if spec.window_samples is not None:
            window = np.zeros(spec.window_samples, np.float32)
            window[: len(samples)] = samples[: spec.window_samples]
            samples = window
        return {spec.tensor: samples[None]}

    return decode


def read_wav(data: bytes) -> Wave:
    """A WAV file of 8, 16, 24 or 32 bit integers or 32 or 64 bit floats; DecodeError else."""
    if len(data) > MAX_BYTES:
        raise DecodeError(f"the file has {len(data):,} bytes, limit {MAX_BYTES:,}")
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise DecodeError("not a WAV file", code="unsupported-sound")
    chunks = _chunks(data)
    if b"fmt " not in chunks or b"data" not in chunks:
        raise DecodeError("a WAV file without a format or without data")
    kind, channels, rate, bits = _format(chunks[b"fmt "])
    body = chunks[b"data"]
    frame = channels * bits // 8
    if len(body) < frame:
        raise DecodeError("the sound is empty")
    if len(body) % frame:
        raise DecodeError(f"{len(body)} bytes of sound are no whole frames of {frame}")
    values = _values(body, kind, bits).reshape(-1, channels)
    if not np.isfinite(values).all():
        raise DecodeError("the sound holds values that are not numbers")
    return Wave(rate, values)


def resample(values: Floats, rate: int, target: int) -> Floats:
    """`values` at another rate: a polyphase filter, as scipy.signal.resample_poly.

    A sinc of cutoff 1 / max(up, down) under a Kaiser window (beta 5.0), HALF_LENGTH * max(up, down)
    taps at either side. Each sample is the sum of its taps in order of the input, in float64.
    """
    common = math.gcd(rate, target)
    up, down = target // common, rate // common
    if up == down:
        return values
    taps = kaiser_sinc(up, down)
    half = (len(taps) - 1) // 2
    count = -(-len(values) * up // down)
    centre = np.arange(count, dtype=np.int64) * down  # in steps of the common, faster rate
    first = -(-(centre - half) // up)
    result = np.zeros(count)
    for step in range(2 * half // up + 1):
        source = first + step
        position = centre - source * up + half
        inside = (source >= 0) & (source < len(values)) & (position >= 0) & (position < len(taps))
        sample = values[source.clip(0, len(values) - 1)]
        result += np.where(inside, sample * taps[position.clip(0, len(taps) - 1)], 0.0)
    return result


@lru_cache(maxsize=16)
def kaiser_sinc(up: int, down: int) -> Floats:
    """The filter's taps, float64 [2 * half + 1], scaled so that a constant stays one."""
    widest = max(up, down)
    half = HALF_LENGTH * widest
    at = np.arange(-half, half + 1)
    taps = np.sinc(at / widest) / widest * np.kaiser(2 * half + 1, BETA)
    scaled: Floats = taps / taps.sum() * up
    return scaled


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """The chunks by name, the first of each."""
    found: dict[bytes, bytes] = {}
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if at + 8 + size > len(data):
            raise DecodeError(
                f"the file is cut off: {name.decode(errors='replace')!r} says {size:,} bytes, "
                f"{len(data) - at - 8:,} are there"
            )
        found.setdefault(name, data[at + 8 : at + 8 + size])
        at += 8 + size + size % 2
    return found


def _format(chunk: bytes) -> tuple[int, int, int, int]:
    if len(chunk) < 16:
        raise DecodeError("a WAV file whose format is cut off")
    kind, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
    if kind == EXTENSIBLE and len(chunk) >= 26:
        (kind,) = struct.unpack_from("<H", chunk, 24)
    allowed = {PCM: (8, 16, 24, 32), FLOAT: (32, 64)}
    if bits not in allowed.get(kind, ()):
        raise DecodeError(f"WAV of format {kind} with {bits} bits", code="unsupported-sound")
    if not 1 <= channels <= 64 or not 1000 <= rate <= 768_000:
        raise DecodeError(f"{channels} channels at {rate} Hz: limits 1 to 64, 1,000 to 768,000")
    return kind, channels, rate, bits


def _values(body: bytes, kind: int, bits: int) -> Floats:
    if kind == FLOAT:
        return np.frombuffer(body, "<f4" if bits == 32 else "<f8").astype(np.float64)
    if bits == 8:
        return (np.frombuffer(body, np.uint8).astype(np.float64) - 128) / 128
    if bits == 24:
        wide = np.zeros((len(body) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(body, np.uint8).reshape(-1, 3)
        return wide.view("<i4")[:, 0].astype(np.float64) / 2**31
    return np.frombuffer(body, f"<i{bits // 8}").astype(np.float64) / 2.0 ** (bits - 1)
