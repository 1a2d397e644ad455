"""Where things lie: the models, the built page, and the cache keyed by content."""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# Everything whose version can change a byte or a value of a published version.
TOOLS = (
    "numpy", "onnx", "onnxconverter-common", "onnxruntime", "onnxscript", "pillow", "torch",
)  # fmt: skip


@dataclass(frozen=True)
class Workspace:
    """`models` is what gets published; `work` may be deleted at any time."""

    models: Path = ROOT / "models"
    web: Path = ROOT / "web" / "dist"
    work: Path = ROOT / ".likewise"

    def cached(self, model: str, stage: str, key: str, make: Callable[[Path], None]) -> Path:
        """The folder of a finished stage; made by `make` unless it is there.

        The folder appears whole or not at all: an interrupted stage leaves nothing to trip over.
        """
        target = self.work / "cache" / model / stage / key[:24]
        if not target.exists():
            unfinished = target.with_name(f".{uuid.uuid4().hex}")
            unfinished.mkdir(parents=True)
            try:
                make(unfinished)
                unfinished.rename(target)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
        return target

    def forget(self, model: str, stage: str, keep: str) -> None:
        """Drop all but one result of a stage: old builds are of no use."""
        for other in (self.work / "cache" / model / stage).glob("*"):
            if other.name != keep[:24]:
                shutil.rmtree(other, ignore_errors=True)


def key_of(*parts: Any) -> str:
    """SHA-256 over JSON of the parts: equal content, equal key."""
    text = json.dumps(parts, sort_keys=True, default=str, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def files_key(paths: Iterable[Path], root: Path) -> str:
    """SHA-256 over names and contents."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


def tool_versions() -> dict[str, str]:
    """Installed versions of TOOLS, told without importing any of them."""
    found = {}
    for tool in TOOLS:
        try:
            found[tool] = version(tool).split("+")[0]
        except PackageNotFoundError:
            found[tool] = "missing"
    return found
