"""`likewise init`: a first recipe for a model that somebody else made."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from export.contract import NAME_PATTERN
from export.drafting.draft import TODO, draft
from export.drafting.look_onnx import look_at_folder, look_at_onnx
from export.drafting.look_others import look_at_keras, look_at_sklearn, look_at_torch
from export.drafting.looked import Looked
from export.errors import SourceError

SKLEARN = {".skops", ".joblib", ".pkl", ".pickle"}
TORCH = {".pt", ".pt2", ".jit", ".pth"}
EXAMPLES = "examples"


def look(path: Path, *, trust: bool = False) -> Looked:
    """Whatever the file or folder tells. SourceError for what is not a model that is known."""
    if not path.exists():
        raise SourceError(f"{path}: there is no such file or folder")
    if path.is_dir():
        if (path / "saved_model.pb").is_file():
            return _with_tensorflow("tensorflow", path)
        return look_at_folder(path)
    match path.suffix.lower():
        case ".onnx":
            return look_at_onnx(path)
        case ".keras":
            return look_at_keras(path)
        case ".tflite":
            return _with_tensorflow("tflite", path)
        case suffix if suffix in SKLEARN:
            return look_at_sklearn(path, trust=trust)
        case suffix if suffix in TORCH:
            return look_at_torch(path)
    raise SourceError(
        f"{path}: {path.suffix or 'no ending'} is not known; known are .onnx, .keras,"
        " .tflite, .pt2, .pt, .jit, .skops, .joblib, SavedModels, folders with onnx/model.onnx"
    )


def initialise(models: Path, name: str, looked: Looked) -> tuple[Path, list[str]]:
    """Write models/NAME, all or nothing; returns its recipe and the TODO lines in it."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise SourceError(
            f"{name!r} cannot be a model's name: small letters, digits and hyphens, beginning with "
            "a letter; give another with --name"
        )
    folder = models / name
    if folder.exists():
        raise SourceError(f"{folder}: exists already; give another name with --name")
    made = draft(looked, name)
    models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=models, prefix=".init-") as scratch:
        unfinished = Path(scratch) / name
        (unfinished / EXAMPLES).mkdir(parents=True)
        for target, source in looked.files.items():
            _copy(source, unfinished / target)
        for target, text in made.beside.items():
            (unfinished / target).write_text(text)
        (unfinished / "recipe.toml").write_text(made.text())
        unfinished.rename(folder)
    todo = [line for line in made.text().splitlines() if TODO in line]
    return folder / "recipe.toml", [line[line.index(TODO) + len(TODO) :].strip() for line in todo]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)


def _with_tensorflow(kind: str, path: Path) -> Looked:
    raise SourceError(
        f"{path}: {kind} models are read in an environment of their own, which is not there yet"
    )
