"""RIFF WAVE, read whole or refused. The rules are in docs/decoders.md.

Source: Microsoft's and IBM's Multimedia Programming Interface 1.0, and mmreg.h's
WAVEFORMATEXTENSIBLE.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from export.errors import DecodeError

Samples = npt.NDArray[np.float32]

PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
SUBFORMAT_TAIL = bytes.fromhex("000000001000800000aa00389b71")
NAMES = {2: "ADPCM", 6: "A-law", 7: "mu-law", 0x11: "IMA ADPCM", 0x31: "GSM", 0x55: "MP3"}
BITS = {PCM: (8, 16, 24, 32), FLOAT: (32, 64)}
RATES = (1_000, 384_000)
MAX_FRAMES = 60_000_000
WAY_OUT = "save it as WAV with 16 bits PCM"

# What people give instead, by its first bytes.
OTHERS = {
    b"ID3": "MP3", b"\xff\xfb": "MP3", b"OggS": "Ogg", b"fLaC": "FLAC", b"\x1aE\xdf\xa3": "WebM",
    b"FORM": "AIFF", b"RF64": "RF64", b"RIFX": "big-endian WAVE", b"caff": "CAF",
}  # fmt: skip


@dataclass(frozen=True)
class Format:
    """How the samples lie in the data."""

    tag: int
    channels: int
    rate: int
    bits: int


@dataclass(frozen=True)
class Wave:
    """Decoded sound: float32 [frames, channels], `rate` frames a second."""

    rate: int
    frames: Samples


def read_wav(data: bytes) -> Wave:
    """Decode the file; DecodeError says what is missing or not supported."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise DecodeError(f"{_what(data)}: not a WAV file; {WAY_OUT}")
    format_: Format | None = None
    at = 12
    while at + 8 <= len(data):
        kind, start = data[at : at + 4], at + 8
        (size,) = struct.unpack_from("<I", data, at + 4)
        _check_there(data, kind, start, size)
        if kind == b"fmt " and format_ is None:
            format_ = _format(data[start : start + size])
        if kind == b"data":
            if format_ is None:
                raise DecodeError(f'the WAV\'s "data" comes before its "fmt "; {WAY_OUT}')
            return Wave(format_.rate, _frames(data[start : start + size], format_))
        at = start + size + size % 2
    raise DecodeError(f'the WAV of {len(data):,} bytes ends before its "data"; save it anew')


def _what(data: bytes) -> str:
    for begin, name in OTHERS.items():
        if data.startswith(begin):
            return name
    if data[4:8] == b"ftyp":
        return "MP4 or M4A"
    return f"it begins with {data[:12].hex(' ') or 'nothing'}"


def _check_there(data: bytes, kind: bytes, start: int, size: int) -> None:
    if start + size > len(data):
        raise DecodeError(
            f'the WAV is cut short: its chunk "{_name(kind)}" says {size:,} bytes, '
            f"{len(data) - start:,} are there; save or fetch it anew"
        )


def _name(kind: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in kind)


def _format(chunk: bytes) -> Format:
    if len(chunk) < 16:
        raise DecodeError(f'the WAV\'s "fmt " has {len(chunk)} bytes, 16 at least; {WAY_OUT}')
    tag, channels, rate, _, frame_bytes, bits = struct.unpack_from("<HHIIHH", chunk)
    if tag == EXTENSIBLE:
        tag = _subformat(chunk)
    if bits not in BITS.get(tag, ()):
        name = {PCM: "PCM", FLOAT: "float"}.get(tag, NAMES.get(tag, f"format {tag}"))
        raise DecodeError(
            f"WAV of {name} with {bits} bits: not supported "
            f"(PCM of 8, 16, 24 or 32 bits, float of 32 or 64); {WAY_OUT}"
        )
    if channels == 0 or frame_bytes != channels * bits // 8:
        raise DecodeError(
            f"the WAV says {frame_bytes} bytes a frame for {channels} channels of {bits} bits, "
            f"which make {channels * bits // 8}; {WAY_OUT}"
        )
    if not RATES[0] <= rate <= RATES[1]:
        raise DecodeError(f"{rate:,} samples a second, {RATES[0]:,} to {RATES[1]:,} are supported")
    return Format(tag, channels, rate, bits)


def _subformat(chunk: bytes) -> int:
    if len(chunk) < 40 or chunk[26:40] != SUBFORMAT_TAIL:
        raise DecodeError(f"WAV of an extensible format that is neither PCM nor float; {WAY_OUT}")
    return int.from_bytes(chunk[24:26], "little")


def _frames(raw: bytes, format_: Format) -> Samples:
    frame_bytes = format_.channels * format_.bits // 8
    count, rest = divmod(len(raw), frame_bytes)
    if rest:
        raise DecodeError(
            f"the WAV is cut short: {len(raw):,} bytes of data are no whole number of frames of "
            f"{frame_bytes} bytes; save it anew"
        )
    if count == 0:
        raise DecodeError("the WAV holds no sound; record at least one sample")
    if count > MAX_FRAMES:
        raise DecodeError(f"{count:,} frames of sound, limit {MAX_FRAMES:,}; give a part of it")
    return _samples(raw, format_).reshape(count, format_.channels)


def _samples(raw: bytes, format_: Format) -> Samples:
    match format_.tag, format_.bits:
        case 1, 8:
            return _scaled(np.frombuffer(raw, np.uint8).astype(np.int16) - 128, 7)
        case 1, 16:
            return _scaled(np.frombuffer(raw, "<i2"), 15)
        case 1, 24:
            return _scaled(_three_bytes(raw), 31)
        case 1, _:
            return _scaled(np.frombuffer(raw, "<i4"), 31)
        case _:
            return _floats(np.frombuffer(raw, f"<f{format_.bits // 8}"))


def _scaled(values: npt.NDArray[np.signedinteger], bits: int) -> Samples:
    """Divided by 2^bits, which is exact but for the rounding of 32 bits to float32."""
    return values.astype(np.float32) * np.float32(0.5**bits)


def _three_bytes(raw: bytes) -> npt.NDArray[np.int32]:
    """24 bits as the upper three bytes of 32, which keeps their sign."""
    wide = np.zeros((len(raw) // 3, 4), np.uint8)
    wide[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
    return wide.view("<i4").ravel()


def _floats(values: npt.NDArray[np.floating]) -> Samples:
    with np.errstate(over="ignore"):
        samples = values.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(samples))
    if wrong.size:
        raise DecodeError(
            f"sample {wrong[0]:,} of the WAV is {values[wrong[0]]}, which is no float32; "
            f"{wrong.size:,} are; {WAY_OUT}"
        )
    return samples
