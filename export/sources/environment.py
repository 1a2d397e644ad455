"""A Python environment of a framework that cannot share this one: made on first use, then kept."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from export.contract import sha256
from export.errors import SetupError
from export.workspace import ROOT

REQUIREMENTS = ROOT / "requirements"
# A virtual environment cannot be renamed: its scripts hold its path. This file says it is whole.
COMPLETE = "likewise-complete"
PACKAGE = ("Collecting ", "Processing ")  # from a registry, from a folder
Say = Callable[[str], None]


def python_of(name: str, environments: Path, say: Say) -> Path:
    """The interpreter of the environment with requirements/NAME.txt, made unless it is there.

    SetupError when it cannot be made; what is half made is never used.
    """
    requirements = REQUIREMENTS / f"{name}.txt"
    folder = environments.resolve() / f"{name}-{_key(requirements)}"
    environments.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / COMPLETE).exists():
            shutil.rmtree(folder, ignore_errors=True)
            _make(name, folder, requirements, say)
            (folder / COMPLETE).touch()
    return folder / "bin" / "python"


def _key(requirements: Path) -> str:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return sha256(version.encode() + requirements.read_bytes())[:12]


def _make(name: str, folder: Path, requirements: Path, say: Say) -> None:
    packages = sum(
        "==" in line and line[0] != "#" for line in requirements.read_text().splitlines()
    )
    say(f"{name}: making its own Python environment, once ({packages} packages)")
    _run(name, [sys.executable, "-m", "venv", "--without-pip", str(folder)], say, packages)
    # This environment's pip installs into the new one: making another copy of pip takes longest.
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    pip += ["--python", str(folder / "bin" / "python")]
    _run(name, [*pip, "install", "--progress-bar", "off", "-r", str(requirements)], say, packages)
    _run(name, [*pip, "check"], say, packages)


def _run(name: str, command: list[str], say: Say, packages: int) -> None:
    """Run to its end, telling each package that pip comes to."""
    last, begun = "no message", 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        for line in running.stdout or ():
            last = line.strip() or last
            if line.startswith(PACKAGE):
                begun += 1
                say(f"{name}: package {begun} of {packages}: {Path(line.split()[1]).name}")
            elif line.startswith("Installing collected"):
                say(f"{name}: installing")
    if running.returncode:
        raise SetupError(
            f"{name}: its Python environment could not be made: {last}; it needs the package "
            "registry and 2 GB of disk the first time"
        )
