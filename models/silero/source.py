"""Silero's voice activity detector (MIT), rebuilt around the weights of its TorchScript file."""

from __future__ import annotations

import io
import warnings
import wave
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import onnxruntime
import torch
import torch.nn.functional as F
from scipy.signal import resample_poly
from torch import nn

from export.sample import Sample, SourceContext

RATE, STEP, BEFORE = 16_000, 512, 64
WINDOW, HOP, BANDS = 256, 128, 129
# Three bands of nothing: of 129 channels ONNX Runtime 1.30's convolution is wrong on WebGPU.
ALL_BANDS = 132
WIDE = 128
WEIGHTS = "silero_vad/data/silero_vad.jit"

SOUNDS = "usr/share/asterisk/sounds/en_US_f_Allison"
TONES = {"beep", "beeperr", "ascending-2tone", "descending-2tone", "tt-monkeys"}  # no speech
SEED = 7
CLIPS = 60
NOISES = ("silence", "white noise", "rumble")
# A frame is speech where the clean prompt is louder than this, beside its loudest frame.
AUDIBLE_DB = -35.0
# Frames so near to a change between speech and silence are not counted: neither is right there.
UNSURE = 2

Floats = npt.NDArray[np.float32]


class Detector(nn.Module):
    """One step: samples [batch, 512] and both states to a probability [batch, 1] and new states.

    `state` holds a recurrent cell's two vectors, `context` the last 64 samples of the step before.
    """

    state_shapes: ClassVar[dict[str, list[int | str]]] = {
        "state": [2, "batch", WIDE],
        "context": ["batch", BEFORE],
    }

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("waves", torch.empty(2 * ALL_BANDS, 1, WINDOW))
        sizes = ((ALL_BANDS, 128, 1), (128, 64, 2), (64, 64, 2), (64, WIDE, 1))
        self.encoder = nn.ModuleList(
            nn.Conv1d(inputs, outputs, 3, stride, 1) for inputs, outputs, stride in sizes
        )
        self.input, self.memory = nn.Linear(WIDE, 4 * WIDE), nn.Linear(WIDE, 4 * WIDE)
        self.decoder = nn.Conv1d(WIDE, 1, 1)

    def forward(
        self, samples: torch.Tensor, state: torch.Tensor, context: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The probability that the step holds speech, and the states for the next."""
        heard = torch.cat([context, samples], 1)
        x = self.spectrum(heard)
        for layer in self.encoder:
            x = layer(x).relu()
        state = self.remember(x.squeeze(-1), state)
        scores = self.decoder(state[0].relu().unsqueeze(-1)).sigmoid().squeeze(1)
        return scores, state, samples[:, -BEFORE:]

    def spectrum(self, heard: torch.Tensor) -> torch.Tensor:
        """Magnitudes [batch, 132, 4] of a short-time Fourier transform."""
        filled = F.pad(heard, (0, BEFORE), "reflect").unsqueeze(1)
        real, imaginary = F.conv1d(filled, self.get_buffer("waves"), stride=HOP).chunk(2, 1)
        return (real**2 + imaginary**2).sqrt()

    def remember(self, x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        """A long short-term memory's cell, written out: torch.nn.LSTMCell's own equations."""
        gates = self.input(x) + self.memory(state[0])
        enter, keep, new, leave = gates.chunk(4, 1)
        cell = keep.sigmoid() * state[1] + enter.sigmoid() * new.tanh()
        return torch.stack([leave.sigmoid() * cell.tanh(), cell])


def original(context: SourceContext) -> Any:
    """The TorchScript module as Silero delivers it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchScript is deprecated
        return torch.jit.load(context.packages["silero-vad"] / WEIGHTS, map_location="cpu")  # type: ignore[no-untyped-call]


def model(context: SourceContext) -> nn.Module:
    """Our module with the delivered weights for 16,000 samples a second."""
    stored = original(context).state_dict()
    names = {"waves": "stft.forward_basis_buffer"}
    for kind in ("weight", "bias"):
        names |= {f"encoder.{i}.{kind}": f"encoder.{i}.reparam_conv.{kind}" for i in range(4)} | {
            f"input.{kind}": f"decoder.rnn.{kind}_ih",
            f"memory.{kind}": f"decoder.rnn.{kind}_hh",
            f"decoder.{kind}": f"decoder.decoder.2.{kind}",
        }
    weights = {ours: stored[f"_model.{its}"] for ours, its in names.items()}
    waves = weights["waves"].unflatten(0, (2, BANDS))
    weights["waves"] = F.pad(waves, (0, 0, 0, 0, 0, ALL_BANDS - BANDS)).flatten(0, 1)
    first = weights["encoder.0.weight"]
    weights["encoder.0.weight"] = F.pad(first, (0, 0, 0, ALL_BANDS - BANDS))
    net = Detector()
    net.load_state_dict(weights)
    return net.eval()


def reference(context: SourceContext, sounds: Sequence[bytes]) -> list[Floats]:
    """Probabilities [frames] by the delivered TorchScript module, frame by frame."""
    detector = original(context)
    return [heard_by(detector, read(sound)) for sound in sounds]


def by_onnx(context: SourceContext, sounds: Sequence[bytes]) -> list[Floats]:
    """The same by the ONNX file that Silero delivers beside it: a second opinion, for the tests."""
    path = context.packages["silero-vad"] / "silero_vad/data/silero_vad_16k_op15.onnx"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    answers = []
    for sound in sounds:
        state, before = np.zeros((2, 1, WIDE), np.float32), np.zeros((1, BEFORE), np.float32)
        scores = []
        for step in stepped(read(sound)):
            heard = np.concatenate([before, step[None]], 1)
            score, state = session.run(None, {"input": heard, "state": state, "sr": np.array(RATE)})
            before = heard[:, -BEFORE:]
            scores.append(score.ravel())
        answers.append(np.concatenate(scores))
    return answers


def heard_by(detector: Any, samples: Floats) -> Floats:
    """One probability a step of 512 samples, the last one filled with zeros."""
    detector.reset_states()
    with torch.inference_mode(), one_thread():
        steps = [detector(torch.from_numpy(step)[None], RATE) for step in stepped(samples)]
    answer: Floats = torch.cat(steps).flatten().numpy()
    return answer


@contextmanager
def one_thread() -> Iterator[None]:
    """A step is too little work to share: with more threads they mostly wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def stepped(samples: Floats) -> Floats:
    """[steps, 512], zeros at the end."""
    count = max(1, -(-len(samples) // STEP))
    filled: Floats = np.pad(samples, (0, count * STEP - len(samples))).reshape(count, STEP)
    return filled


def read(sound: bytes) -> Floats:
    """A PCM file of 16 bits as mono at 16,000 samples a second, by scipy's resampling."""
    with wave.open(io.BytesIO(sound)) as opened:
        if opened.getsampwidth() != 2:
            raise ValueError(f"{8 * opened.getsampwidth()} bits a sample; 16 are read here")
        values = np.frombuffer(opened.readframes(opened.getnframes()), "<i2")
        frames = (values / 32768).astype(np.float64).reshape(-1, opened.getnchannels())
        rate = opened.getframerate()
    mono: Floats = frames.mean(1).astype(np.float32)
    if rate == RATE:
        return mono
    common = int(np.gcd(RATE, rate))
    resampled = resample_poly(mono.astype(np.float64), RATE // common, rate // common)
    answer: Floats = resampled.astype(np.float32)
    return answer


def written(samples: npt.NDArray[Any], rate: int) -> bytes:
    """Values of -1..1 [frames] or [frames, channels] as a WAV file of 16 bits."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as opened:
        opened.setnchannels(samples.shape[1] if samples.ndim == 2 else 1)
        opened.setsampwidth(2)
        opened.setframerate(rate)
        opened.writeframes((samples * 32767).round().clip(-32768, 32767).astype("<i2").tobytes())
    return buffer.getvalue()


class Clip(NamedTuple):
    """A sound and, a frame, what is right: 1 speech, 0 none, -1 not counted."""

    sample: Sample
    right: npt.NDArray[np.int8]


@cache
def clips(folder: Path) -> tuple[Clip, ...]:
    """60 clips: two or three prompts each with pauses between, silent or noisy."""
    generator = np.random.default_rng(SEED)
    names = sorted(path for path in folder.glob("*.wav") if path.stem not in TONES)
    prompts = [samples for path in names if len(samples := read(path.read_bytes())) > 1.5 * RATE]
    return tuple(clip(prompts, number, generator) for number in range(CLIPS))


def clip(prompts: Sequence[Floats], number: int, generator: np.random.Generator) -> Clip:
    """Prompts picked at random, at most 5 s of each, as loud as people speak near or far."""
    parts = [pause(generator)]
    for chosen in generator.choice(len(prompts), generator.integers(2, 4), replace=False):
        parts += [prompts[chosen][: 5 * RATE] * generator.uniform(0.3, 1.0), pause(generator)]
    clean = np.concatenate(parts)
    kind = NOISES[number % len(NOISES)]
    heard = clean + noise(kind, clean, generator)
    title = f"Prompts with {kind}"
    return Clip(Sample(f"clip-{number:02}", written(heard, RATE), None, title), speech(clean))


def pause(generator: np.random.Generator) -> Floats:
    """0.6 to 2 s of nothing."""
    return np.zeros(int(generator.uniform(0.6, 2.0) * RATE), np.float32)


def noise(kind: str, clean: Floats, generator: np.random.Generator) -> Floats:
    """White or low noise, 15 to 25 dB below the speech."""
    white = generator.normal(size=len(clean))
    if kind == "silence":
        return np.zeros_like(clean)
    if kind == "rumble":
        white = np.convolve(white, np.ones(64) / 8, "same")  # mostly below 250 Hz
    below = 10 ** (-generator.uniform(15, 25) / 20)
    loud = np.sqrt((clean[clean != 0] ** 2).mean())
    quiet: Floats = (white / np.sqrt((white**2).mean()) * loud * below).astype(np.float32)
    return quiet


def speech(clean: Floats) -> npt.NDArray[np.int8]:
    """By the loudness of the clean prompts alone: 1, 0, or -1 near a change."""
    loud = 10 * np.log10((stepped(clean).astype(np.float64) ** 2).mean(1) + 1e-12)
    right: npt.NDArray[np.int8] = (loud > loud.max() + AUDIBLE_DB).astype(np.int8)
    changes = np.flatnonzero(np.diff(right))
    for change in changes:
        right[max(0, change + 1 - UNSURE) : change + 1 + UNSURE] = -1
    return right


def sounds(context: SourceContext) -> Path:
    """The prompts of Asterisk, spoken by Allison Smith."""
    return context.packages["asterisk-core-sounds-en-wav"] / SOUNDS


def labelled(context: SourceContext) -> list[Sample]:
    """The clips."""
    return [one.sample for one in clips(sounds(context))]


def score(
    context: SourceContext, answers: Sequence[Mapping[str, Any]], samples: Sequence[Sample]
) -> npt.NDArray[np.float64]:
    """Share of a clip's counted frames that are called rightly at a threshold of 0.5."""
    right = {one.sample.id: one.right for one in clips(sounds(context))}
    shares = []
    for answer, sample in zip(answers, samples, strict=True):
        wanted = right[sample.id]
        called = answer["probabilities"][0] >= 0.5
        shares.append(float((called == wanted)[wanted >= 0].mean()))
    return np.array(shares)


def calibration(context: SourceContext) -> list[Sample]:
    """Prompts that are no golden example, as they are."""
    paths = sorted(sounds(context).glob("vm-*.wav"))[:24]
    return [Sample(path.stem.lower(), path.read_bytes()) for path in paths]


def examples(context: SourceContext) -> list[Sample]:
    """Prompts and tones as they are, and sounds of other rates, channels, lengths and loudness."""

    def prompt(name: str, title: str, *, shown: bool = True) -> Sample:
        return Sample(name, (sounds(context) / f"{name}.wav").read_bytes(), None, title, shown)

    def made(name: str, title: str, samples: npt.NDArray[Any], rate: int) -> Sample:
        return Sample(name, written(samples, rate), None, title, shown=False)

    generator = np.random.default_rng(SEED)
    hello = read((sounds(context) / "hello-world.wav").read_bytes()).astype(np.float64)
    quiet = np.zeros(RATE // 2)
    both = np.concatenate([quiet, hello, quiet])
    left_only = np.stack([both, np.zeros_like(both)], 1)
    return [
        prompt("tt-weasels", "A sentence"),
        prompt("queue-periodic-announce", "Three sentences with pauses"),
        prompt("vm-intro", "An answering machine"),
        prompt("ascending-2tone", "Two tones, no speech"),
        prompt("demo-thanks", "A farewell", shown=False),
        prompt("beep", "A beep, no speech", shown=False),
        made("stereo-44100", "Stereo at 44,100, speech on the left",
             resample_poly(left_only, 441, 160), 44_100),
        made("rate-48000", "48,000 samples a second", resample_poly(both, 3, 1), 48_000),
        made("rate-22050", "22,050 samples a second", resample_poly(both, 441, 320), 22_050),
        made("far", "Speech from far away", both / 30, RATE),
        made("noisy", "Speech in noise", both + generator.normal(size=len(both)) / 60, RATE),
        made("noise", "Noise alone", generator.normal(size=2 * RATE) / 10, RATE),
        made("silence", "Silence", np.zeros(RATE), RATE),
        made("one-step", "Exactly one step", hello[4000 : 4000 + STEP], RATE),
        made("short", "A hundred samples", hello[5000:5100], RATE),
        made("odd-end", "A last step of one sample", hello[: 20 * STEP + 1], RATE),
    ]  # fmt: skip
