"""Sound to PCM of one channel and one rate. The rules are in docs/decoders.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from export.contract import SoundInput, Tensor
from export.decode.resample import Samples, resample
from export.decode.wav import read_wav
from export.tensors import Tensors


def make(spec: SoundInput, _inputs: Sequence[Tensor], _folder: Path) -> Callable[[bytes], Tensors]:
    """The decoder of a WAV file."""
    return lambda data: {spec.tensor: decode(data, spec)}


def decode(data: bytes, spec: SoundInput) -> Samples:
    """The WAV file `data` as float32 [1, samples] at `spec.rate`.

    Raises DecodeError saying what is wrong with the file.
    """
    wave = read_wav(data)
    mono = mean_of_channels(wave.frames)
    samples = resample(mono, wave.rate, spec.rate, most=spec.window_samples)
    return fill(samples, spec.window_samples)[None]


def mean_of_channels(frames: Samples) -> Samples:
    """float32 [frames] of [frames, channels]: added in float64, first to last, rounded once."""
    total = np.zeros(frames.shape[0], np.float64)
    for channel in frames.T:  # np.mean would add many channels in pairs
        total += channel
    mean: Samples = (total / frames.shape[1]).astype(np.float32)
    return mean


def fill(samples: Samples, window: int | None) -> Samples:
    """`window` samples, cut or with zeros at the end; all of them where it is None."""
    if window is None:
        return samples
    filled = np.zeros(window, np.float32)
    filled[: samples.size] = samples[:window]
    return filled
