"""Data for basic-pitch (Bittner et al., 2022, arXiv:2203.09893): music from recorded notes."""

from __future__ import annotations

import io
import struct
import wave
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from export.sample import Sample, SourceContext

RATE, WINDOW = 22_050, 43_844
FRAME = 256  # samples
FRAMES, KEYS, LOWEST = 172, 88, 21  # a piano's keys, from MIDI's note 21
SOUNDING = 0.3  # basic-pitch's own threshold of a frame
CLIPS, SEED = 60, 7
PATCHES = "usr/share/midi/freepats/Tone_000"
# Instrument: the lowest and highest note that it plays here.
INSTRUMENTS = {
    "000_Acoustic_Grand_Piano": (36, 84), "024_Nylon_Guitar": (40, 76),
    "025_Steel_Guitar": (40, 76), "040_Violin": (55, 84), "042_Cello": (38, 64),
    "056_Trumpet": (55, 80), "071_Clarinet": (52, 84), "073_Flute": (60, 88),
}  # fmt: skip

Floats = npt.NDArray[np.float64]


class Recording(NamedTuple):
    """One recorded note."""

    samples: Floats
    rate: int
    note: float


class Note(NamedTuple):
    """A note of a piece: MIDI's number, when it begins and how long it is held, in seconds."""

    note: int
    begins: float
    lasts: float


class Clip(NamedTuple):
    """A piece of two seconds and what is played in it."""

    sample: Sample
    notes: tuple[Note, ...]


@cache
def recordings(path: Path) -> tuple[Recording, ...]:
    """The notes of a Gravis Ultrasound patch, a format of 1993: sizes and rates in headers."""
    data = path.read_bytes()
    (count,) = struct.unpack_from("<B", data, 129 + 63 + 6)  # of the first layer
    at = 129 + 63 + 47
    found = []
    for _ in range(count):
        size, _, _, rate, _, _, root = struct.unpack_from("<IIIHIII", data, at + 8)
        mode = data[at + 55]
        if not mode & 1:
            raise ValueError(f"{path.name}: 8 bits a sample; 16 are read here")
        values = np.frombuffer(data, "<u2" if mode & 2 else "<i2", size // 2, at + 96)
        samples = values.astype(np.float64) / 32768 - (1 if mode & 2 else 0)
        found.append(Recording(samples, rate, 69 + 12 * np.log2(root / 440_000)))
        at += 96 + size
    return tuple(found)


def played(patch: Path, note: Note, rate: int) -> Floats:
    """The nearest recorded note, faster or slower for its pitch, faded out where it is let go."""
    nearest = min(recordings(patch), key=lambda one: abs(one.note - note.note))
    speed = 2 ** ((note.note - nearest.note) / 12) * nearest.rate / rate
    places = np.arange(0, min(len(nearest.samples) - 1, note.lasts * rate * speed), speed)
    samples: Floats = np.interp(places, np.arange(len(nearest.samples)), nearest.samples)
    fade = min(len(samples), int(0.03 * rate))
    samples[len(samples) - fade :] *= np.linspace(1, 0, fade)
    samples /= max(1e-6, float(np.abs(samples).max()))
    return samples


def piece(folder: Path, parts: Mapping[str, Sequence[Note]], rate: int, seconds: float) -> Floats:
    """All parts together, as loud as a file is."""
    mixed = np.zeros(int(seconds * rate))
    for instrument, notes in parts.items():
        for note in notes:
            samples = played(folder / f"{instrument}.pat", note, rate)
            at = int(note.begins * rate)
            part = samples[: len(mixed) - at]
            mixed[at : at + len(part)] += part
    mixed *= 0.7 / max(1e-6, float(np.abs(mixed).max()))
    return mixed


def written(samples: Floats, rate: int) -> bytes:
    """Values of -1..1 [frames] or [frames, channels] as a WAV file of 16 bits."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as opened:
        opened.setnchannels(samples.shape[1] if samples.ndim == 2 else 1)
        opened.setsampwidth(2)
        opened.setframerate(rate)
        opened.writeframes((samples * 32767).round().astype("<i2").tobytes())
    return buffer.getvalue()


@cache
def clips(folder: Path) -> tuple[Clip, ...]:
    """60 pieces: melodies of one instrument, and chords of one or two."""
    generator = np.random.default_rng(SEED)
    return tuple(clip(folder, number, generator) for number in range(CLIPS))


def clip(folder: Path, number: int, generator: np.random.Generator) -> Clip:
    """Even numbers are melodies, odd ones chords."""
    names = list(INSTRUMENTS)
    chosen = [names[number % len(names)]]
    if number % 4 == 3:
        chosen.append(names[int(generator.integers(len(names)))])
    parts = {name: notes(generator, *INSTRUMENTS[name], 1 + number % 2) for name in chosen}
    samples = piece(folder, parts, RATE, WINDOW / RATE)
    every = tuple(note for part in parts.values() for note in part)
    title = " and ".join(name[4:].replace("_", " ").lower() for name in chosen)
    return Clip(Sample(f"clip-{number:02}", written(samples, RATE), None, title), every)


def notes(generator: np.random.Generator, lowest: int, highest: int, voices: int) -> list[Note]:
    """Four to six beats, on each so many different notes."""
    beats = int(generator.integers(4, 7))
    length = 1.9 / beats
    return [
        Note(int(note), 0.05 + beat * length, length * 0.9)
        for beat in range(beats)
        for note in generator.choice(np.arange(lowest, highest), voices, replace=False)
    ]


def roll(played_notes: Sequence[Note]) -> npt.NDArray[np.bool_]:
    """Which keys sound in which frame: [172, 88]."""
    wanted = np.zeros((FRAMES, KEYS), np.bool_)
    for note in played_notes:
        begins, ends = (round(t * RATE / FRAME) for t in (note.begins, note.begins + note.lasts))
        wanted[begins:ends, note.note - LOWEST] = True
    return wanted


def patches(context: SourceContext) -> Path:
    """The recorded instruments."""
    return context.packages["freepats"] / PATCHES


def labelled(context: SourceContext) -> list[Sample]:
    """The pieces."""
    return [one.sample for one in clips(patches(context))]


def score(
    context: SourceContext, answers: Sequence[Mapping[str, Any]], samples: Sequence[Sample]
) -> Floats:
    """Of each piece the F1 of its sounding notes, frame by frame."""
    played_in = {one.sample.id: one.notes for one in clips(patches(context))}
    scores = []
    for answer, sample in zip(answers, samples, strict=True):
        wanted, heard = roll(played_in[sample.id]), answer["note"][0] >= SOUNDING
        both = int((wanted & heard).sum())
        scores.append(2 * both / max(1, int(wanted.sum()) + int(heard.sum())))
    return np.array(scores)


def examples(context: SourceContext) -> list[Sample]:
    """Pieces of each instrument, and as people have them: other rates, lengths, channels."""
    folder = patches(context)
    tune = [Note(note, 0.05 + beat * 0.31, 0.28) for beat, note in enumerate((60, 62, 64, 65, 67))]
    chord = [Note(note, 0.1, 1.7) for note in (48, 55, 60, 64)]

    def made(
        name: str, instrument: str, notes: Sequence[Note], title: str, *,
        shown: bool = False, rate: int = RATE, seconds: float = 2.0,
    ) -> Sample:  # fmt: skip
        samples = piece(folder, {instrument: notes}, rate, seconds)
        return Sample(name, written(samples, rate), None, title, shown)

    piano, guitar, _, violin, _, trumpet, clarinet, flute = INSTRUMENTS
    hush = np.random.default_rng(SEED).integers(-1, 2, RATE).astype(np.float64)
    both = piece(folder, {piano: chord, flute: tune}, 44_100, 2.0)
    high = [Note(note + 12, begins, lasts) for note, begins, lasts in tune]
    return [
        made("piano-tune", piano, tune, "Five notes on a piano", shown=True),
        made("piano-chord", piano, chord, "A chord on a piano", shown=True),
        made("guitar", guitar, tune, "Five notes on a guitar", shown=True),
        made("clarinet", clarinet, tune, "Five notes on a clarinet", shown=True),
        made("violin", violin, high, "Five notes on a violin", shown=True),
        made("trumpet", trumpet, tune, "Five notes on a trumpet"),
        made("organ", "019_Church_Organ", chord, "A chord on an organ, with its overtones"),
        made("rate-44100", flute, high, "A flute at 44,100", rate=44_100),
        made("rate-16000", piano, tune, "A piano at 16,000", rate=16_000),
        made("short", piano, tune[:2], "Less than a window", seconds=0.7),
        made("long", guitar, tune, "More than a window", seconds=3.0),
        Sample("stereo", written(np.stack([both, both[::-1]], 1), 44_100), None,
               "Piano and flute in stereo", shown=False),
        # Not silence itself: the network divides by its range, 0, and TensorFlow's own answers
        # then differ by 0.05 from row to row of one batch.
        Sample("hush", written(hush / 32767, RATE), None, "Next to silence", shown=False),
    ]  # fmt: skip
