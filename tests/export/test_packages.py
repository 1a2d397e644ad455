"""Packages are fetched, checked by hash and unpacked; what is in them never runs."""

from __future__ import annotations

import http.server
import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from export.contract import sha256
from export.errors import SourceError
from export.packages import fetch, parse_requirement

SETUP = "import pathlib\npathlib.Path({left!r}).touch()\n"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package index of our own, that pip is set to use: a folder a package."""
    folder = tmp_path / "index"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, *arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    yield folder
    server.shutdown()
    thread.join()
    server.server_close()


def publish(index: Path, name: str, file: str, data: bytes) -> str:
    """Put a file on the index; returns its hash."""
    (index / name).mkdir(exist_ok=True)
    (index / name / file).write_bytes(data)
    link = f'<a href="{file}#sha256={sha256(data)}">{file}</a>'
    (index / name / "index.html").write_text(f"<!DOCTYPE html><body>{link}</body>")
    return sha256(data)


def source_archive(left: Path) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, text in (("setup.py", SETUP.format(left=str(left))), ("texts.txt", "good\n")):
            about = tarfile.TarInfo(f"some_texts-1.2/{name}")
            about.size = len(text)
            archive.addfile(about, io.BytesIO(text.encode()))
    return held.getvalue()


def test_a_source_archive_is_unpacked_and_its_setup_never_run(tmp_path: Path, index: Path) -> None:
    left = tmp_path / "left"
    digest = publish(index, "some-texts", "some_texts-1.2.tar.gz", source_archive(left))
    wanted = [f"Some.Texts==1.2#sha256={digest}"]
    folder = fetch(wanted, tmp_path / "packages")["Some.Texts"]
    assert (folder / "some_texts-1.2/texts.txt").read_text() == "good\n"
    assert not left.exists()
    for path in (index / "some-texts").iterdir():
        path.unlink()
    assert fetch(wanted, tmp_path / "packages")["Some.Texts"] == folder  # from there, not the index


def test_a_wheel_is_unpacked(tmp_path: Path, index: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as wheel:
        wheel.writestr("a_wheel/weights.bin", b"123")
        about = "Metadata-Version: 2.1\nName: a-wheel\nVersion: 1.0\n"
        wheel.writestr("a_wheel-1.0.dist-info/METADATA", about)
        wheel.writestr("a_wheel-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("a_wheel-1.0.dist-info/RECORD", "")
    digest = publish(index, "a-wheel", "a_wheel-1.0-py3-none-any.whl", held.getvalue())
    folder = fetch([f"a-wheel==1.0#sha256={digest}"], tmp_path / "packages")["a-wheel"]
    assert (folder / "a_wheel/weights.bin").read_bytes() == b"123"


def test_another_hash_than_the_recipe_says_is_refused_and_nothing_kept(
    tmp_path: Path, index: Path
) -> None:
    publish(index, "some-texts", "some_texts-1.2.tar.gz", source_archive(tmp_path / "left"))
    with pytest.raises(SourceError, match=r"has sha256 .* nothing of it is used"):
        fetch([f"some-texts==1.2#sha256={'0' * 64}"], tmp_path / "packages")
    assert list((tmp_path / "packages").iterdir()) == []
    assert not (tmp_path / "left").exists()


def test_a_package_that_is_not_there_is_told(tmp_path: Path, index: Path) -> None:
    with pytest.raises(SourceError, match=r"no-such 1\.0: no source archive: .*404"):
        fetch([f"no-such==1.0#sha256={'0' * 64}"], tmp_path / "packages")


@pytest.mark.parametrize("text", ["a==1", "a>=1#sha256=" + "0" * 64, "apt:a#sha256=" + "0" * 64])
def test_a_requirement_without_version_or_hash_is_refused(text: str) -> None:
    with pytest.raises(SourceError, match="write "):
        parse_requirement(text)
