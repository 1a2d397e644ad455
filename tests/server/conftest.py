"""The real server on the repository's published models, and a small built page."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from export.contract import Contract, read_contract, read_index
from server.process import RunningServer, running_server

ROOT = Path(__file__).parents[2]
SCRIPT = b"export const answer = 42;\n" * 100


@pytest.fixture(scope="session")
def models() -> Path:
    """The published models of the repository."""
    return ROOT / "models"


@pytest.fixture(scope="session")
def digits(models: Path) -> Contract:
    """The contract of the current version of digits."""
    return read_contract(models / read_index(models / "index.json").models["digits"].contract.file)


@pytest.fixture(scope="session")
def digits_folder(models: Path, digits: Contract) -> Path:
    """The folder of the current version of digits."""
    return models / "digits" / str(digits.version)


@pytest.fixture(scope="session")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built page in small: every kind of file that a build leaves."""
    folder = tmp_path_factory.mktemp("web")
    (folder / "assets").mkdir()
    (folder / "index.html").write_text("<!doctype html><title>page</title>")
    (folder / "sw.js").write_text("self.skipWaiting();")
    (folder / "manifest.webmanifest").write_text("{}")
    (folder / "assets/app-1a2b.js").write_bytes(SCRIPT)
    (folder / "assets/app-1a2b.js.br").write_bytes(b"stands for the brotli file")
    (folder / "assets/app-1a2b.js.gz").write_bytes(gzip.compress(SCRIPT))
    (folder / "assets/plain-3c4d.js").write_bytes(SCRIPT)
    return folder


@pytest.fixture(scope="session")
def running(models: Path, web: Path) -> Iterator[RunningServer]:
    """The server on the repository's models; tests that use it change no file."""
    with running_server(models, web) as server:
        yield server


@pytest.fixture(scope="session")
def url(running: RunningServer) -> str:
    """Origin of the running server."""
    return running.url


@pytest.fixture
def own_models(models: Path, digits: Contract, tmp_path: Path) -> Path:
    """A copy of digits alone that a test may change."""
    from tests.server.publishing import list_version

    name = f"digits/{digits.version}"
    shutil.copytree(models / name, tmp_path / "models" / name)
    list_version(tmp_path / "models", "digits", digits.version)
    return tmp_path / "models"


@pytest.fixture
def own_url(own_models: Path, web: Path) -> Iterator[str]:
    """Origin of a server of its own on `own_models`."""
    with running_server(own_models, web) as server:
        yield server.url
