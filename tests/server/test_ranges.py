"""Parts of files: a download resumed from two different files must be impossible."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.process import running_server
from server.ranges import Part, Unsatisfiable, wanted_part
from tests.server.asking import Answer, ask

CASE = Path(__file__).parents[1] / "cases/serve-range"
SIZE = 16384


@pytest.fixture(scope="module")
def case_url(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Iterator[str]:
    web = tmp_path_factory.mktemp("range")
    for name in ("file.onnx", "empty.onnx"):
        shutil.copy(CASE / name, web / name)
    with running_server(models, web) as server:
        yield server.url


def whole(answer: Answer, content: bytes) -> bool:
    return answer.status == 200 and answer.body == content and "content-range" not in answer.headers


@pytest.mark.parametrize(
    ("header", "part"),
    [
        (None, None),
        ("bytes=0-", Part(0, 100)),
        ("bytes=0-0", Part(0, 1)),
        ("bytes=10-19", Part(10, 20)),
        ("Bytes=10-19", Part(10, 20)),
        ("bytes=90-1000", Part(90, 100)),
        ("bytes=-5", Part(95, 100)),
        ("bytes=-500", Part(0, 100)),
        ("bytes=99-", Part(99, 100)),
        ("bytes=-", None),
        ("bytes=", None),
        ("bytes=a-b", None),
        ("bytes=9-1", None),
        ("bytes=--1", None),
        ("bytes=1.0-2", None),
        ("bytes=٣-٤", None),
        ("bytes=0-1,5-6", None),
        ("bytes 0-1", None),
        ("items=0-1", None),
        ("bytes=" + "9" * 5000 + "-", None),
    ],
)
def test_a_range_header_asks_for_one_part_or_the_whole(
    header: str | None, part: Part | None
) -> None:
    assert wanted_part(header, 100) == part


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=100-200", "bytes=-0"])
def test_a_part_beyond_the_end_is_unsatisfiable(header: str) -> None:
    with pytest.raises(Unsatisfiable):
        wanted_part(header, 100)


def test_case_serve_range(case_url: str) -> None:
    content = (CASE / "file.onnx").read_bytes()
    assert json.loads((CASE / "case.json").read_text())["id"] == "serve-range"

    def get(value: str | None = None, if_range: str | None = None) -> Answer:
        headers = {"Range": value, "If-Range": if_range}
        return ask(case_url, "/file.onnx", headers={k: v for k, v in headers.items() if v})

    plain = get()
    tag = plain.headers["etag"]
    assert whole(plain, content)
    assert plain.headers["accept-ranges"] == "bytes"

    everything = get("bytes=0-")
    assert everything.status == 206
    assert everything.headers["content-range"] == f"bytes 0-{SIZE - 1}/{SIZE}"
    assert everything.body == content

    middle = get("bytes=10-19")
    assert (middle.status, middle.body) == (206, content[10:20])
    assert middle.headers["content-range"] == f"bytes 10-19/{SIZE}"
    assert middle.headers["content-length"] == "10"
    assert middle.headers["etag"] == tag

    end = get("bytes=-5")
    assert (end.status, end.body) == (206, content[-5:])

    beyond = get(f"bytes={SIZE}-")
    assert (beyond.status, beyond.headers["content-range"]) == (416, f"bytes */{SIZE}")
    assert beyond.json["error"]["code"] == "out-of-range"

    for ignored in ("items=0-5", "bytes=0-1,5-6", "bytes=garbage", "bytes=9-1"):
        assert whole(get(ignored), content), ignored

    assert get("bytes=10-19", tag).status == 206
    for old in ('"0123456789abcdef"', f"W/{tag}", "Mon, 30 Nov 2026 22:00:00 GMT", "*"):
        assert whole(get("bytes=10-19", old), content), old
    assert whole(get(f"bytes={SIZE}-", '"old"'), content)


def test_head_announces_parts_and_ignores_range(case_url: str) -> None:
    head = ask(case_url, "/file.onnx", "HEAD", headers={"Range": "bytes=0-5"})
    assert (head.status, head.body) == (200, b"")
    assert head.headers["accept-ranges"] == "bytes"
    assert head.headers["content-length"] == str(SIZE)


def test_a_file_of_no_bytes_is_answered_whole(case_url: str) -> None:
    assert whole(ask(case_url, "/empty.onnx", headers={"Range": "bytes=0-"}), b"")


def test_a_download_in_parts_is_the_file(url: str, digits_folder: Path) -> None:
    content = (digits_folder / "model.onnx").read_bytes()
    path = f"/models/digits/{digits_folder.name}/model.onnx"
    step = 50_000
    parts = [
        ask(url, path, headers={"Range": f"bytes={start}-{start + step - 1}"}).body
        for start in range(0, len(content), step)
    ]
    assert b"".join(parts) == content
