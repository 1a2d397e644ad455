"""Magika (Fratantonio et al., 2024, arXiv:2409.13768): what kind of file some bytes are."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import pickle
import sys
import tarfile
import wave
import zipfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from export.sample import Sample, SourceContext

MODEL = "magika/models/standard_v3_3"
KINDS = "magika/config/content_types_kb.min.json"
EVALUATED = ("numpy", "matplotlib", "scikit-image", "scikit-learn", "bootstrap")
LEAST_BYTES = 16  # Magika itself does not ask the network below 8
MOST_A_KIND = 40

Files = list[tuple[Path, int]]


def config(context: SourceContext) -> dict[str, Any]:
    """What the network was trained with."""
    path = context.packages["magika"] / MODEL / "config.min.json"
    told: dict[str, Any] = json.loads(path.read_text())
    return told


def kinds(context: SourceContext) -> dict[str, Any]:
    """What Magika knows of each kind of file."""
    told: dict[str, Any] = json.loads((context.packages["magika"] / KINDS).read_text())
    return told


def labels(context: SourceContext) -> list[str]:
    """The kinds in words, in the network's order."""
    known = kinds(context)
    return [known[name]["description"] for name in config(context)["target_labels_space"]]


def reference(context: SourceContext, files: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Probabilities [files, 214] by Magika's own Python package: its reading, its session.

    One file at a time, since the network answers a row by its neighbours (up to 1e-3).
    """
    folder = context.packages["magika"]
    magika = magika_of(folder)
    seekable = importlib.import_module("magika.types.seekable").Seekable
    told = config(context)
    names = ("beg_size", "mid_size", "end_size", "padding_token", "block_size",
             "use_inputs_at_offsets")  # fmt: skip
    sizes = {name: told[name] for name in names}
    features = [
        (Path("-"), magika._extract_features_from_seekable(seekable(io.BytesIO(data)), **sizes))
        for data in files
    ]
    answers = [magika._get_raw_predictions([one])[0] for one in features]
    return np.array(answers, np.float32)


@cache
def magika_of(folder: Path) -> Any:
    """The package, imported from where it was unpacked; its session takes a second to make."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    return importlib.import_module("magika").Magika()


def endings(context: SourceContext) -> dict[str, int]:
    """Endings of file names that belong to one kind alone, and that kind's label."""
    space = config(context)["target_labels_space"]
    known = kinds(context)
    counted = Counter(ending for name in space for ending in known[name]["extensions"])
    return {
        ending: label
        for label, name in enumerate(space)
        for ending in known[name]["extensions"]
        if counted[ending] == 1
    }


def known_files(context: SourceContext) -> Files:
    """Every file of the packages to evaluate with whose ending tells its kind; each text once."""
    told = endings(context)
    seen: set[bytes] = set()
    found: Files = []
    for package in EVALUATED:
        for path in sorted(context.packages[package].rglob("*")):
            label = told.get(path.suffix[1:].lower())
            if label is None or not path.is_file():
                continue
            data = path.read_bytes()
            if len(data) >= LEAST_BYTES and data not in seen:
                seen.add(data)
                found.append((path, label))
    return found


def evenly(files: Files) -> tuple[Files, Files]:
    """At most 40 files a kind, evenly picked; and all others."""
    by_kind: dict[int, Files] = {}
    for path, label in files:
        by_kind.setdefault(label, []).append((path, label))
    chosen: Files = []
    for same in by_kind.values():
        count = min(MOST_A_KIND, len(same))
        chosen += [same[i] for i in np.linspace(0, len(same) - 1, count).round().astype(int)]
    taken = {path for path, _ in chosen}
    return chosen, [one for one in files if one[0] not in taken]


def samples(files: Files) -> list[Sample]:
    """Numbered, for names repeat."""
    return [
        Sample(f"file-{number:03}", path.read_bytes(), label, path.name)
        for number, (path, label) in enumerate(files)
    ]


def labelled(context: SourceContext) -> list[Sample]:
    """Files of packages; their ending tells what they are."""
    return samples(evenly(known_files(context))[0])


def calibration(context: SourceContext) -> list[Sample]:
    """200 of the files that are not evaluated."""
    others = evenly(known_files(context))[1]
    return samples([others[i] for i in np.linspace(0, len(others) - 1, 200).astype(int)])


def examples(context: SourceContext) -> list[Sample]:
    """Files of many kinds, written for this recipe."""
    names = config(context)["target_labels_space"]

    def sample(name: str, kind: str | None, data: bytes, title: str, shown: bool = False) -> Sample:
        return Sample(name, data, None if kind is None else names.index(kind), title, shown)

    generator = np.random.default_rng(7)
    folder, known = Path(__file__).parent / "files", kinds(context)
    texts = [
        sample(path.name, path.name, path.read_bytes(), known[path.name]["description"],
               path.name in ("python", "markdown"))
        for path in sorted(folder.iterdir())
    ]  # fmt: skip
    long = b"\n".join(b"%d,%d,%d" % (n, n * n % 97, n % 7) for n in range(40_000))
    return [
        *texts,
        sample("png", "png", picture("PNG"), "A PNG picture", shown=True),
        sample("jpeg", "jpeg", picture("JPEG"), "A JPEG picture"),
        sample("gif", "gif", picture("GIF"), "A GIF picture"),
        sample("webp", "webp", picture("WEBP"), "A WebP picture"),
        sample("bmp", "bmp", picture("BMP"), "A BMP picture"),
        sample("tiff", "tiff", picture("TIFF"), "A TIFF picture"),
        sample("wav", "wav", sound(), "A sound"),
        sample("zip", "zip", zipped(), "A ZIP archive", shown=True),
        sample("tar", "tar", tarred(), "A tar archive"),
        sample("gzip", "gzip", gzip.compress(long, mtime=0), "A gzip file"),
        sample("npy", "npy", array(), "A NumPy array"),
        sample("pickle", "pickle", pickle.dumps({"rows": list(range(400))}, 4), "A pickle"),
        sample("onnx", "onnx", (context.packages["magika"] / MODEL / "model.onnx").read_bytes(),
               "Magika itself: 3 megabytes of ONNX"),
        sample("csv", "csv", b"number,square,day\n" + long, "A long CSV table"),
        sample("spaces", None, b" \n\t" * 500 + b"x = 1\n" + b"\n" * 5000, "Mostly white space"),
        sample("random", "randombytes", generator.bytes(5000), "Random bytes"),
        sample("zeros", None, bytes(100_000), "Zeros"),
        sample("tiny", None, b"ab", "Two bytes"),
        sample("empty", None, b"", "Nothing at all"),
    ]  # fmt: skip


def picture(kind: str) -> bytes:
    """A gradient as a file."""
    across = np.linspace(0, 255, 64).astype(np.uint8)
    pixels = np.stack([np.tile(across, (64, 1)), np.tile(across[:, None], (1, 64)),
                       np.full((64, 64), 99, np.uint8)], 2)  # fmt: skip
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return buffer.getvalue()


def sound() -> bytes:
    """A quarter of a second of a tone."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as opened:
        opened.setnchannels(1)
        opened.setsampwidth(2)
        opened.setframerate(8000)
        opened.writeframes((np.sin(np.arange(2000) / 3) * 9000).astype("<i2").tobytes())
    return buffer.getvalue()


def zipped() -> bytes:
    """Two texts in an archive; a fixed date, for equal bytes every time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as opened:
        for name in ("first.txt", "second.txt"):
            text = f"This is the {name} of two.\n" * 20
            opened.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text)
    return buffer.getvalue()


def tarred() -> bytes:
    """The same, uncompressed."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as opened:
        for name in ("first.txt", "second.txt"):
            data = (f"This is the {name} of two.\n" * 20).encode()
            about = tarfile.TarInfo(name)
            about.size = len(data)
            opened.addfile(about, io.BytesIO(data))
    return buffer.getvalue()


def array() -> bytes:
    """A NumPy array as a file."""
    buffer = io.BytesIO()
    np.save(buffer, np.arange(600, dtype=np.float32).reshape(20, 30))
    return buffer.getvalue()
