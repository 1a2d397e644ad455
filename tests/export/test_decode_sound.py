"""WAV files to mono PCM at the model's rate: what is read, what is refused, and every bit of it."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.signal import resample_poly

from export.contract import SoundInput
from export.decode import decoder
from export.decode.resample import Samples, resample
from export.decode.sound import mean_of_channels
from export.decode.wav import SUBFORMAT_TAIL, read_wav
from export.errors import DecodeError
from export.workspace import ROOT

CASE = ROOT / "tests/cases/audio-48k-stereo-to-16k-mono"


def chunk(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)


def fmt(
    tag: int = 1, channels: int = 1, rate: int = 16_000, bits: int = 16, *, more: bytes = b""
) -> bytes:
    frame = channels * bits // 8
    return chunk(
        b"fmt ", struct.pack("<HHIIHH", tag, channels, rate, rate * frame, frame, bits) + more
    )


def extensible(subformat: int, bits: int, tail: bytes = SUBFORMAT_TAIL) -> bytes:
    guid = struct.pack("<H", subformat) + tail
    return fmt(0xFFFE, bits=bits, more=struct.pack("<HHI", 22, bits, 4) + guid)


def riff(*chunks: bytes) -> bytes:
    body = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def wav(values: Sequence[int], *, rate: int = 16_000) -> bytes:
    return riff(fmt(rate=rate), chunk(b"data", np.array(values, "<i2").tobytes()))


def sound(**change: object) -> SoundInput:
    spec = {
        "kind": "sound",
        "tensor": "samples",
        "rate": 16_000,
        "mono": "mean",
        "resample": "kaiser-polyphase",
        "window_samples": None,
        "stream": None,
    }
    return SoundInput.model_validate(spec | change)


def decoded(data: bytes, **change: object) -> np.ndarray:
    return decoder(sound(**change), [], CASE)(data)["samples"]


I2 = np.array([0, 1, -1, 32_767, -32_768], "<i2").tobytes()
DATA = chunk(b"data", I2)
SIXTEEN = [0, 1 / 32_768, -1 / 32_768, 32_767 / 32_768, -1]

READ: dict[str, tuple[bytes, list[float]]] = {
    "8 bits": (riff(fmt(bits=8), chunk(b"data", bytes([0, 128, 255]))), [-1, 0, 127 / 128]),
    "16 bits": (riff(fmt(), DATA), SIXTEEN),
    "24 bits": (
        riff(fmt(bits=24), chunk(b"data", bytes.fromhex("010000 ffffff ffff7f 000080"))),
        [2**-23, -(2**-23), 1 - 2**-23, -1],
    ),
    "32 bits": (
        riff(fmt(bits=32), chunk(b"data", np.array([1, 2**31 - 1, -(2**31)], "<i4").tobytes())),
        [2**-31, 1, -1],
    ),
    "float 32": (
        riff(fmt(3, bits=32), chunk(b"data", np.array([0.1, -1.5], "<f4").tobytes())),
        [0.1, -1.5],
    ),
    "float 64": (
        riff(fmt(3, bits=64), chunk(b"data", np.array([0.1, 1e-60], "<f8").tobytes())),
        [0.1, 0],
    ),
    "extensible PCM": (riff(extensible(1, 16), DATA), SIXTEEN),
    "extensible float": (
        riff(extensible(3, 32), chunk(b"data", np.array([0.25], "<f4").tobytes())),
        [0.25],
    ),
    "chunks around": (
        riff(chunk(b"JUNK", b"odd"), fmt(), chunk(b"LIST", b"x" * 5), DATA, chunk(b"id3 ", b"y")),
        SIXTEEN,
    ),
    "a longer fmt": (riff(fmt(more=b"\0\0"), DATA), SIXTEEN),
    "the first data counts": (riff(fmt(), DATA, chunk(b"data", bytes(8))), SIXTEEN),
    "an end cut off behind data": (riff(fmt(), DATA) + b"LIST\xff\0\0\0ab", SIXTEEN),
    "odd data at the file's end": (
        riff(fmt(bits=8), chunk(b"data", bytes([128, 192, 128])))[:-1],
        [0, 0.5, 0],
    ),
    "a wrong length of RIFF": (b"RIFF\0\0\0\0" + riff(fmt(), DATA)[8:], SIXTEEN),
}


@pytest.mark.parametrize("name", READ)
def test_samples_are_read_exactly(name: str) -> None:
    data, expected = READ[name]
    got = decoded(data)
    assert got.dtype == np.float32
    assert got.tobytes() == np.array([expected], np.float32).tobytes()


NAN = np.array([0, math.nan], "<f4").tobytes()
REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not a WAV file"),
    "text": (b"hello, this is no sound", "begins with 68 65 6c 6c 6f"),
    "mp3": (b"ID3\x04" + bytes(20), "^MP3: not a WAV file; save it as WAV"),
    "ogg": (b"OggS" + bytes(20), "^Ogg"),
    "m4a": (b"\0\0\0\x20ftypM4A " + bytes(20), "^MP4 or M4A"),
    "rf64": (b"RF64\xff\xff\xff\xffWAVE" + bytes(20), "^RF64"),
    "webp": (b"RIFF\0\0\0\0WEBPVP8 ", "not a WAV file"),
    "header alone": (riff()[:12], 'ends before its "data"'),
    "no data": (riff(fmt()), 'ends before its "data"'),
    "data before fmt": (riff(DATA, fmt()), 'comes before its "fmt "'),
    "a short fmt": (riff(chunk(b"fmt ", bytes(14)), DATA), "has 14 bytes, 16 at least"),
    "data cut short": (riff(fmt(), DATA)[:-3], '"data" says 10 bytes, 7 are there'),
    "data of unknown length": (
        riff(fmt()) + b"data\xff\xff\xff\xff" + I2,
        "says 4,294,967,295 bytes, 10 are there",
    ),
    "a chunk cut short": (riff(fmt()) + b"LIST\x40\0\0\0abc", '"LIST" says 64 bytes, 3'),
    "a chunk of a strange name": (riff(fmt()) + b"\xff\0ab\x40\0\0\0", r'"\?\?ab"'),
    "part of a frame": (riff(fmt(channels=2), DATA), "10 bytes .* no whole number .* 4 bytes"),
    "no frame": (riff(fmt(), chunk(b"data", b"")), "holds no sound"),
    "adpcm": (riff(fmt(2, bits=4), DATA), "WAV of ADPCM with 4 bits"),
    "a-law": (riff(fmt(6, bits=8), DATA), "WAV of A-law with 8 bits"),
    "unknown format": (riff(fmt(0x1234), DATA), "format 4660"),
    "12 bits": (riff(fmt(bits=12), DATA), "PCM with 12 bits"),
    "float of 16 bits": (riff(fmt(3), DATA), "float with 16 bits"),
    "extensible without subformat": (riff(fmt(0xFFFE), DATA), "neither PCM nor float"),
    "extensible of another kind": (riff(extensible(1, 16, bytes(14)), DATA), "neither PCM"),
    "extensible a-law": (riff(extensible(6, 8), DATA), "A-law"),
    "no channel": (riff(fmt(channels=0), DATA), "0 bytes a frame for 0 channels"),
    "rate 0": (riff(fmt(rate=0), DATA), "0 samples a second, 1,000 to 384,000"),
    "rate 384001": (riff(fmt(rate=384_001), DATA), "384,001 samples a second"),
    "a frame of another size": (
        riff(chunk(b"fmt ", struct.pack("<HHIIHH", 1, 2, 8000, 32_000, 8, 16)), DATA),
        "8 bytes a frame for 2 channels of 16 bits, which make 4",
    ),
    "not a number": (riff(fmt(3, bits=32), chunk(b"data", NAN)), "sample 1 of the WAV is nan"),
    "beyond float32": (
        riff(fmt(3, bits=64), chunk(b"data", np.array([1e39], "<f8").tobytes())),
        "is 1e.39, which is no float32",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_whole_wav_is_refused(name: str) -> None:
    data, message = REFUSED[name]
    with pytest.raises(DecodeError, match=message) as caught:
        decoded(data)
    assert caught.value.code == "bad-input"


def test_a_file_cut_anywhere_is_refused_and_never_shorter_sound() -> None:
    whole = riff(fmt(), chunk(b"LIST", b"abc"), DATA)
    for length in range(len(whole)):
        with pytest.raises(DecodeError):
            decoded(whole[:length])


def test_several_channels_become_their_mean_in_a_fixed_order() -> None:
    rng = np.random.default_rng(1)
    frames = rng.standard_normal((50, 11)).astype(np.float32)
    data = riff(fmt(3, channels=11, bits=32), chunk(b"data", frames.tobytes()))
    expected = []
    for frame in frames.tolist():
        total = 0.0
        for value in frame:
            total += value
        expected.append(total / 11)
    assert decoded(data).tobytes() == np.array(expected, np.float32).tobytes()


def test_a_window_cuts_or_fills_with_zeros_at_the_end() -> None:
    assert decoded(wav([16_384, 8192]), window_samples=1).tolist() == [[0.5]]
    assert decoded(wav([16_384, 8192]), window_samples=4).tolist() == [[0.5, 0.25, 0, 0]]


def test_a_window_of_resampled_sound_is_its_beginning() -> None:
    values = np.random.default_rng(2).integers(-32_768, 32_768, 3000).tolist()
    whole = decoded(wav(values, rate=44_100))
    assert decoded(wav(values, rate=44_100), window_samples=700).tobytes() == (
        whole[:, :700].tobytes()
    )


def as_documented(x: list[float], source: int, target: int) -> list[float]:
    """docs/decoders.md, line by line, in plain Python: what a twin in another language does."""
    up, down = target // math.gcd(source, target), source // math.gcd(source, target)
    r = max(up, down)
    half = 10 * r

    def sine(m: int) -> float:
        k = m % r
        k = min(k, r - k)
        sign = -1.0 if m // r % 2 == 1 else 1.0
        s = 1.0
        if 4 * k <= r:
            a = math.pi * k / r
            q = a * a
            for n in range(16, 0, -2):
                s = 1 - q / (n * (n + 1)) * s
            return sign * (a * s)
        a = math.pi * (r - 2 * k) / (2 * r)
        q = a * a
        for n in range(15, 0, -2):
            s = 1 - q / (n * (n + 1)) * s
        return sign * s

    def window(m: int) -> float:
        ratio = m / half
        q = 6.25 * (1 - ratio * ratio)
        w = 1.0
        for n in range(25, 0, -1):
            w = 1 + q / (n * n) * w
        return w

    raw = [math.pi / r * window(0), *(sine(m) / m * window(m) for m in range(1, half + 1))]
    total = raw[0]
    for value in raw[1:]:
        total = total + 2 * value
    c = [value / total * up for value in raw]
    y = []
    for t in range(-(-len(x) * up // down)):
        total = 0.0
        for i, value in enumerate(x):
            distance = abs(t * down - i * up)
            if distance <= half:
                total += value * c[distance]
        y.append(total)
    return y


RATES = [
    (48_000, 16_000), (44_100, 16_000), (8_000, 16_000), (11_025, 8_000), (16_000, 22_050),
    (48_000, 44_100), (7_350, 16_000), (1_000, 48_000), (96_000, 1_000),
]  # fmt: skip


@pytest.mark.parametrize(("source", "target"), RATES)
@pytest.mark.parametrize("count", [1, 2, 180])
def test_resampling_is_the_documented_arithmetic_bit_for_bit(
    source: int, target: int, count: int
) -> None:
    x = np.random.default_rng(count).standard_normal(count).astype(np.float32)
    expected = np.array(as_documented(x.tolist(), source, target), np.float32)
    assert resample(x, source, target).tobytes() == expected.tobytes()


@pytest.mark.parametrize(("source", "target"), [*RATES, (16_000, 48_000), (44_101, 16_000)])
def test_resampling_is_scipys(source: int, target: int) -> None:
    x = np.random.default_rng(3).uniform(-1, 1, 5000).astype(np.float32)
    common = math.gcd(source, target)
    right = resample_poly(x.astype(np.float64), target // common, source // common)
    got = resample(x, source, target)
    assert got.shape == right.shape
    assert np.abs(got - right).max() < 1e-6


def test_blocks_of_long_sound_join_without_a_seam() -> None:
    x = np.random.default_rng(4).uniform(-1, 1, 200_000).astype(np.float32)
    right = resample_poly(x.astype(np.float64), 160, 441)
    assert np.abs(resample(x, 44_100, 16_000) - right).max() < 1e-6
    assert np.abs(resample(x, 16_000, 16_000) - x).max() == 0


def test_sound_that_resampling_carries_beyond_float32_is_refused() -> None:
    loud = np.where(np.arange(600) % 100 < 50, 3.4e38, -3.4e38).astype(np.float32)
    with pytest.raises(DecodeError, match="too loud"):
        resample(loud, 16_000, 48_000)


def test_more_samples_than_the_limit_are_refused_before_any_is_made() -> None:
    with pytest.raises(DecodeError, match="76,800,000 samples at 384,000 a second, limit 60,0"):
        resample(np.zeros(200_000, np.float32), 1_000, 384_000)


def level_db(samples: Samples, frequency: float, rate: int) -> float:
    """Of one tone, in dB of its amplitude."""
    phase = 2 * np.pi * frequency / rate * np.arange(samples.size)
    return float(20 * np.log10(2 * np.abs(np.exp(1j * phase) @ samples) / samples.size))


def test_the_public_recording_keeps_its_tone_and_gains_no_false_one() -> None:
    with np.load(CASE / "expected.npz") as right:
        y, mono = right["y"], right["mono48k"]
    data = (CASE / "stereo48k.wav").read_bytes()
    wave = read_wav(data)
    assert wave.rate == 48_000
    assert np.abs(mean_of_channels(wave.frames) - mono).max() < 1e-6
    got = decoded(data)[0]
    assert got.shape == (4000,)
    assert np.abs(got - y).max() < 1e-6
    assert level_db(got, 1_000, 16_000) == pytest.approx(-8.1, abs=0.2)
    assert level_db(got, 6_000, 16_000) < -40
    assert level_db(got, 6_000, 16_000) < level_db(
        mean_of_channels(wave.frames)[::3], 6_000, 16_000
    )
