"""A folder of models with one recipe that builds in seconds, and the command to build it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from export.contract import read_contract, read_index
from export.workspace import ROOT


@dataclass(frozen=True)
class Workshop:
    """Folders of one test, and `likewise build` on them."""

    models: Path
    work: Path
    environ: dict[str, str]

    def command(self, *more: str) -> list[str]:
        command = [sys.executable, "-m", "export", "build", "tiny", "--models", str(self.models)]
        return [*command, "--work", str(self.work), *more]

    def build(self, *more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*more), cwd=ROOT, env={**os.environ, **self.environ},
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip

    def built(self) -> Any:
        done = self.build("--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def change(self, old: str, new: str) -> None:
        """Change one place of the recipe."""
        recipe = self.models / "tiny/recipe.toml"
        text = recipe.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the recipe"
        recipe.write_text(text.replace(old, new))

    def state(self) -> dict[str, bytes]:
        """Every file below models/, hidden ones too."""
        files = (p for p in self.models.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
        return {str(path.relative_to(self.models)): path.read_bytes() for path in files}


@pytest.fixture
def workshop(tmp_path: Path, built_once: Workshop) -> Workshop:
    """A copy of models/ and caches in which tiny/1 is published already."""
    shutil.copytree(built_once.models, tmp_path / "models")
    shutil.copytree(built_once.work, tmp_path / "work")
    return Workshop(tmp_path / "models", tmp_path / "work", {})


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """tiny, built from nothing through the whole way: server, Chromium, all."""
    folder = tmp_path_factory.mktemp("workshop")
    workshop = Workshop(folder / "models", folder / "work", {})
    shutil.copytree(Path(__file__).parent / "tiny", workshop.models / "tiny")
    pictures = workshop.models / "tiny/pictures"
    pictures.mkdir()
    digits = ROOT / "models" / read_index(ROOT / "models/index.json").models["digits"].contract.file
    for example in read_contract(digits).examples:
        if example.id.startswith("digit-"):
            shutil.copy(digits.parent / example.input.file, pictures)
    assert workshop.built()["outcome"] == "published"
    return workshop
