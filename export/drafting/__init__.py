"""`likewise init`: a first recipe for a model that somebody else made."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from export.contract import NAME_PATTERN
from export.drafting.draft import TODO, draft
from export.drafting.look_onnx import look_at_folder, look_at_onnx
from export.drafting.look_others import look_at_keras, look_at_sklearn, look_at_torch
from export.drafting.look_tensorflow import look_at_tensorflow
from export.drafting.looked import Looked
from export.errors import SourceError
from export.sample import SourceContext

SKLEARN = {".skops", ".joblib", ".pkl", ".pickle"}
TORCH = {".pt", ".pt2", ".jit", ".pth"}
OF_TORCH = (
    'let a function of source.py build it: [source] kind = "torch", entry = "source:model", file ='
    " this one"
)
WEIGHTS = {
    ".safetensors": OF_TORCH, ".bin": OF_TORCH, ".ckpt": OF_TORCH,
    ".h5": "load it in Keras and save it whole as .keras: model.save('model.keras')",
    ".hdf5": "load it in Keras and save it whole as .keras: model.save('model.keras')",
}  # fmt: skip
EXAMPLES = "examples"


def look(path: Path, context: SourceContext) -> Looked:
    """Whatever the file or folder tells. SourceError for what is not a model that is known."""
    if not path.exists():
        raise SourceError(f"{path}: there is no such file or folder")
    if path.is_dir():
        if (path / "saved_model.pb").is_file():
            return look_at_tensorflow("tensorflow", path, context)
        return look_at_folder(path)
    match path.suffix.lower():
        case ".onnx":
            return look_at_onnx(path)
        case ".keras":
            return look_at_keras(path)
        case ".tflite":
            return look_at_tensorflow("tflite", path, context)
        case suffix if suffix in SKLEARN:
            return look_at_sklearn(path, trust=context.trust)
        case suffix if suffix in TORCH:
            return look_at_torch(path)
        case suffix if suffix in WEIGHTS:
            raise SourceError(f"{path}: holds weights without a network; {WEIGHTS[suffix]}")
    raise SourceError(
        f"{path}: {path.suffix or 'no ending'} is not known; known are .onnx, .keras, .tflite,"
        " .pt2, .pt, .jit, .skops, .joblib, .pkl, and folders: a SavedModel, or one with"
        " onnx/model.onnx. What can be converted to one of them can be read"
    )


def new_folder(models: Path, name: str) -> Path:
    """Where the recipe will lie. SourceError for what is no name, and for what is there already."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise SourceError(
            f"{name!r} cannot be a model's name: small letters, digits and hyphens, beginning with "
            "a letter, at most 63; give another with --name"
        )
    folder = models / name
    if folder.exists():
        raise SourceError(f"{folder}: exists already; give another name with --name")
    return folder


def initialise(folder: Path, looked: Looked) -> tuple[Path, list[str]]:
    """Write the new folder, all or nothing; returns its recipe and the TODO lines in it."""
    made = draft(looked, folder.name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".init-") as scratch:
        unfinished = Path(scratch) / folder.name
        (unfinished / EXAMPLES).mkdir(parents=True)
        for target, source in looked.files.items():
            _copy(source, unfinished / target)
        for target, text in made.beside.items():
            (unfinished / target).write_text(text)
        (unfinished / "recipe.toml").write_text(made.text())
        unfinished.rename(folder)
    return folder / "recipe.toml", list(_todo(made.text()))


def _todo(recipe: str) -> Iterator[str]:
    """What to fill in, with its line, and its key where it stands beside one."""
    for number, line in enumerate(recipe.splitlines(), start=1):
        before, marked, text = line.partition(TODO)
        if marked:
            key = before.split("=")[0].strip()
            yield f"line {number}: " + (f"{key}: " if key else "") + text.strip()


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)
