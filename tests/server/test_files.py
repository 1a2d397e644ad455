"""The page's files: types, encodings, ETags, and nothing from outside the folder."""

from __future__ import annotations

import gzip
import json
import mimetypes
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from server.files import media_type
from server.process import running_server
from tests.server.asking import ask
from tests.server.conftest import SCRIPT

CASE = Path(__file__).parents[1] / "cases/serve-mime-types"
TYPES = {
    "Größe 1%.onnx": "application/octet-stream",
    "a.webmanifest": "application/manifest+json",
    "app.mjs": "text/javascript; charset=utf-8",
    "c.json": "application/json",
    "labels.txt": "text/plain; charset=utf-8",
    "m.onnx": "application/octet-stream",
    "m.onnx.data": "application/octet-stream",
    "m.onnx.gz": "application/gzip",
    "m.ort": "application/octet-stream",
    "rt.wasm": "application/wasm",
    "sw.js": "text/javascript; charset=utf-8",
}


@pytest.fixture
def own_web(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html>")
    return folder


@pytest.fixture
def web_url(own_web: Path, models: Path) -> Iterator[str]:
    with running_server(models, own_web) as server:
        yield server.url


@pytest.fixture(scope="module")
def hostile_url(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Iterator[str]:
    outside = tmp_path_factory.mktemp("outside")
    web = outside / "dist"
    (web / "assets").mkdir(parents=True)
    (web / ".hidden").write_text("secret")
    (outside / "secret.txt").write_text("secret")
    (web / "link.txt").symlink_to(outside / "secret.txt")
    (web / "folder").symlink_to(outside)
    os.mkfifo(web / "queue")
    with running_server(models, web) as server:
        yield server.url


def test_case_serve_mime_types(own_web: Path, web_url: str) -> None:
    names = json.loads((CASE / "case.json").read_text())["input_files"]
    assert sorted(names) == sorted(TYPES)
    for name in names:
        shutil.copy(CASE / name, own_web / name)
        answer = ask(web_url, "/" + quote(name))
        assert answer.status == 200, name
        assert answer.headers["content-type"] == TYPES[name]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "content-encoding" not in answer.headers
        assert answer.body == (CASE / name).read_bytes()


def test_types_do_not_depend_on_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mimetypes.types_map, ".js", "text/plain")
    mimetypes.add_type("text/plain", ".wasm")
    assert media_type("sw.js") == "text/javascript; charset=utf-8"
    assert media_type("RT.WASM") == "application/wasm"
    assert media_type("unknown.thing") == "application/octet-stream"


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        (None, None),
        ("", None),
        ("identity", None),
        ("gzip", "gzip"),
        ("br", "br"),
        ("gzip, deflate, br, zstd", "br"),
        ("gzip;q=1.0, br;q=0.5", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("br;q=0, gzip;q=0", None),
        ("*", "br"),
        ("br;q=0, *", "gzip"),
        ("gzip;q=0.5, identity", None),
        ("zstd, compress", None),
        ("br;q=nonsense", None),
    ],
)
def test_accept_encoding_picks_the_file(
    url: str, web: Path, accepted: str | None, encoding: str | None
) -> None:
    headers = {} if accepted is None else {"Accept-Encoding": accepted}
    answer = ask(url, "/assets/app-1a2b.js", headers=headers)
    suffix = {"br": ".br", "gzip": ".gz", None: ""}[encoding]
    assert answer.headers.get("content-encoding") == encoding
    assert answer.body == (web / f"assets/app-1a2b.js{suffix}").read_bytes()
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["vary"] == "Accept-Encoding"


def test_a_gzip_answer_unpacks_to_the_script(url: str) -> None:
    answer = ask(url, "/assets/app-1a2b.js", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(answer.body) == SCRIPT


def test_each_encoding_has_its_own_strong_etag(url: str) -> None:
    encodings: tuple[dict[str, str], ...] = (
        {},
        {"Accept-Encoding": "br"},
        {"Accept-Encoding": "gzip"},
    )
    tags = [ask(url, "/assets/app-1a2b.js", headers=h).headers["etag"] for h in encodings]
    assert len(set(tags)) == 3
    assert not any(tag.startswith("W/") for tag in tags)
    for headers, tag in zip(encodings, tags, strict=True):
        again = ask(url, "/assets/app-1a2b.js", headers={**headers, "If-None-Match": tag})
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
        assert again.headers["vary"] == "Accept-Encoding"
    other = {"Accept-Encoding": "gzip", "If-None-Match": tags[1]}
    assert ask(url, "/assets/app-1a2b.js", headers=other).status == 200


def test_a_part_is_a_part_of_the_plain_file(url: str) -> None:
    headers = {"Accept-Encoding": "br, gzip", "Range": "bytes=7-11"}
    answer = ask(url, "/assets/app-1a2b.js", headers=headers)
    assert (answer.status, answer.body) == (206, SCRIPT[7:12])
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    ("path", "cache"),
    [
        ("/", "no-cache"),
        ("/index.html", "no-cache"),
        ("/sw.js", "no-cache"),
        ("/manifest.webmanifest", "no-cache"),
        ("/assets/plain-3c4d.js", "public, max-age=31536000, immutable"),
    ],
)
def test_only_hashed_names_may_be_kept(url: str, path: str, cache: str) -> None:
    answer = ask(url, path)
    assert (answer.status, answer.headers["cache-control"]) == (200, cache)


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": 'W/"{tag}"'}, 304),
        ({"If-None-Match": '"other", "{tag}"'}, 304),
        ({"If-None-Match": '"other"'}, 200),
        ({"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"}, 200),
        ({"If-Match": '"{tag}"'}, 200),
        ({"If-Match": "*"}, 200),
        ({"If-Match": '"other"'}, 412),
        ({"If-Match": 'W/"{tag}"'}, 412),
    ],
)
def test_conditions_go_by_the_content(url: str, header: dict[str, str], status: int) -> None:
    tag = ask(url, "/sw.js").headers["etag"].strip('"')
    headers = {name: value.replace("{tag}", tag) for name, value in header.items()}
    assert ask(url, "/sw.js", headers=headers).status == status


def test_an_etag_changes_though_size_and_time_do_not(own_web: Path, web_url: str) -> None:
    path = own_web / "file.js"
    path.write_bytes(b"let a = 1;")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    first = ask(web_url, "/file.js")
    path.write_bytes(b"let a = 2;")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    second = ask(web_url, "/file.js", headers={"If-None-Match": first.headers["etag"]})
    assert (second.status, second.body) == (200, b"let a = 2;")


def test_an_etag_stays_while_the_content_does(own_web: Path, web_url: str) -> None:
    path = own_web / "file.js"
    path.write_bytes(b"let a = 1;")
    first = ask(web_url, "/file.js").headers["etag"]
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert ask(web_url, "/file.js").headers["etag"] == first


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/assets/../../secret.txt",
        "/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
        "//etc/passwd",
        "/%2fetc%2fpasswd",
        "/..%5csecret.txt",
        "/.hidden",
        "/a%00b",
        "/" + "a" * 3000,
        "/%ff%fe",
        "/assets",
        "/assets/",
        "/link.txt",
        "/folder/secret.txt",
        "/queue",
    ],
)
def test_nothing_outside_the_page_is_served(hostile_url: str, path: str) -> None:
    answer = ask(hostile_url, path)
    assert answer.status == 404
    assert answer.json["error"]["code"] == "not-found"


def test_unknown_paths_never_get_the_page(url: str) -> None:
    answer = ask(url, "/digits", headers={"Accept": "text/html"})
    assert (answer.status, answer.headers["content-type"]) == (404, "application/json")


def test_a_page_that_is_not_built_says_what_to_run(models: Path, tmp_path: Path) -> None:
    with running_server(models, tmp_path / "missing") as server:
        answer = ask(server.url, "/")
    assert answer.status == 503
    assert b"make run" in answer.body
    assert answer.headers["content-type"].startswith("text/html")
