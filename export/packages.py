"""Packages that a recipe requires: fetched once, checked by hash, unpacked, never installed.

A requirement is "NAME==VERSION", "npm:NAME@VERSION" or "apt:NAME=VERSION", each with "#sha256=HEX"
at its end.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from export.contract import sha256
from export.errors import SourceError
from export.simple_index import fetch_source

_PIP = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[\w.]+)#sha256=(?P<sha256>[0-9a-f]{64})$"
)
_NPM = re.compile(
    r"^npm:(?P<name>(@[\w.-]+/)?[\w.-]+)@(?P<version>[\w.-]+)#sha256=(?P<sha256>[0-9a-f]{64})$"
)
_APT = re.compile(
    r"^apt:(?P<name>[a-z0-9][a-z0-9.+-]+)=(?P<version>[\w.+~:-]+)#sha256=(?P<sha256>[0-9a-f]{64})$"
)
PATTERNS = (("npm", _NPM), ("apt", _APT), ("pip", _PIP))
FETCH_TIMEOUT_S = 600
REQUIREMENTS = "requirements.txt"


@dataclass(frozen=True)
class Requirement:
    """One package of one version, and the hash of its archive."""

    manager: str
    name: str
    version: str
    sha256: str


def parse_requirement(text: str) -> Requirement:
    """Parse one entry of `source.requires`."""
    for manager, pattern in PATTERNS:
        if match := pattern.match(text):
            return Requirement(manager, match["name"], match["version"], match["sha256"])
    raise SourceError(
        f'requires "{text}": write "NAME==VERSION#sha256=HEX", "npm:NAME@VERSION#sha256=HEX" or '
        '"apt:NAME=VERSION#sha256=HEX"'
    )


def fetch(requirements: list[str], folder: Path) -> dict[str, Path]:
    """Unpacked folders by package name, from `folder` where they lie already."""
    return {
        wanted.name: _unpacked(wanted, folder) for wanted in map(parse_requirement, requirements)
    }


def _unpacked(wanted: Requirement, folder: Path) -> Path:
    target = folder / f"{wanted.manager}-{wanted.name.replace('/', '-')}-{wanted.sha256[:12]}"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        archive = _download(wanted, Path(scratch))
        found = sha256(archive.read_bytes())
        if found != wanted.sha256:
            raise SourceError(
                f"{wanted.name} {wanted.version}: {archive.name} has sha256 {found}, "
                f"the recipe says {wanted.sha256}; nothing of it is used"
            )
        unpacked = Path(scratch) / "unpacked"
        _unpack(archive, unpacked)
        inner = unpacked / "package" if wanted.manager == "npm" else unpacked
        inner.rename(target)
    return target


def _download(wanted: Requirement, folder: Path) -> Path:
    done = None
    for command in _commands(wanted, folder):
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S,
                check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SourceError(
                f"{wanted.name} {wanted.version}: cannot be fetched: {error}"
            ) from error
        archives = [p for p in folder.iterdir() if p.is_file() and p.name != REQUIREMENTS]
        if done.returncode == 0 and len(archives) == 1:
            return archives[0]
    if wanted.manager == "pip":  # no wheel of that hash: the source archive, which is never run
        return fetch_source(wanted.name, wanted.version, wanted.sha256, folder)
    last = ((done.stderr if done else "").strip().splitlines() or ["no message"])[-1]
    raise SourceError(
        f"{wanted.name} {wanted.version}: {wanted.manager} could not fetch it: {last}"
    )


def _commands(wanted: Requirement, folder: Path) -> list[list[str]]:
    """What to try, one after the other, until an archive is there."""
    match wanted.manager:
        case "npm":
            return [["npm", "pack", "--silent", f"{wanted.name}@{wanted.version}"]]
        case "apt":
            fetch_it = ["apt-get", "download", "-qq", f"{wanted.name}={wanted.version}"]
            # Where the system's lists are missing or old, lists of our own: root is not needed.
            for part in ("lists/partial", "cache/archives/partial"):
                (folder / part).mkdir(parents=True)
            own = ["-o", f"Dir::State::Lists={folder}/lists", "-o", f"Dir::Cache={folder}/cache"]
            return [fetch_it, ["apt-get", "update", "-qq", *own], [*fetch_it, *own]]
    # A wheel unpacks without running anything. pip checks the hash too.
    (folder / REQUIREMENTS).write_text(
        f"{wanted.name}=={wanted.version} --hash=sha256:{wanted.sha256}\n"
    )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    return [[*command, "--only-binary=:all:", "--dest", ".", "-r", REQUIREMENTS]]


def _unpack(archive: Path, target: Path) -> None:
    if archive.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", archive, target], check=True, timeout=FETCH_TIMEOUT_S)
    elif archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(target)  # zipfile drops absolute paths and ".."
    else:
        with tarfile.open(archive) as opened_tar:
            opened_tar.extractall(target, filter="data")
