"""Every answer carries the headers that isolate the page, whatever its status."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from server.headers import HEADERS
from server.process import running_server
from tests.server.asking import ask

CASES = [
    (200, "GET", "/", {}),
    (200, "HEAD", "/", {}),
    (200, "OPTIONS", "/", {}),
    (200, "GET", "/models/index.json", {}),
    (200, "GET", "/v2", {}),
    (206, "GET", "/sw.js", {"Range": "bytes=0-1"}),
    (304, "GET", "/sw.js", {"If-None-Match": "*"}),
    (400, "POST", "/v2/models/digits/infer", {}),
    (404, "GET", "/missing", {}),
    (404, "GET", "/v2/models/missing", {}),
    (405, "POST", "/sw.js", {}),
    (405, "GET", "/v2/models/digits/infer", {}),
    (412, "GET", "/sw.js", {"If-Match": '"other"'}),
    (413, "POST", "/v2/models/digits/infer", {"Content-Length": "65000000"}),
    (415, "POST", "/v2/models/digits/infer", {"Content-Encoding": "zstd"}),
    (416, "GET", "/sw.js", {"Range": "bytes=999-"}),
]


@pytest.mark.parametrize(("status", "method", "path", "headers"), CASES)
def test_all_headers_come_with_every_status(
    url: str, status: int, method: str, path: str, headers: dict[str, str]
) -> None:
    body = b"" if method == "POST" and "Content-Length" not in headers else None
    answer = ask(url, path, method, body, headers)
    assert answer.status == status
    assert {name: answer.headers.get(name.lower()) for name in HEADERS} == HEADERS
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(("status", "method", "path", "headers"), CASES)
def test_errors_have_one_shape(
    url: str, status: int, method: str, path: str, headers: dict[str, str]
) -> None:
    body = b"" if method == "POST" and "Content-Length" not in headers else None
    answer = ask(url, path, method, body, headers)
    if status < 400:
        return
    error = answer.json["error"]
    assert list(answer.json) == ["error"]
    assert (
        isinstance(error, str) if path.startswith("/v2") else sorted(error) == ["code", "message"]
    )
    assert answer.headers["cache-control"] == "no-store"


def test_405_says_what_is_allowed(url: str) -> None:
    assert "GET" in ask(url, "/sw.js", "POST", b"").headers["allow"]
    assert "POST" in ask(url, "/v2/models/digits/infer").headers["allow"]


@pytest.fixture
def broken_index_url(web: Path, tmp_path: Path) -> Iterator[str]:
    (tmp_path / "index.json").write_text('{"schema_version": 1, "models": [NaN')
    with running_server(tmp_path, web) as server:
        yield server.url


@pytest.mark.parametrize("path", ["/models/a/1/model.onnx", "/v2/models/a", "/v2/health/ready"])
def test_a_broken_index_is_said_and_carries_the_headers(broken_index_url: str, path: str) -> None:
    answer = ask(broken_index_url, path)
    assert answer.status == 503
    assert b"index.json" in answer.body
    assert {name: answer.headers.get(name.lower()) for name in HEADERS} == HEADERS


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/9.9\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nbad header\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", b"431"),
    ],
)
def test_what_is_no_http_request_gets_headers_and_shape_too(
    url: str, sent: bytes, status: bytes
) -> None:
    where = urlsplit(url)
    with socket.create_connection((where.hostname, where.port), timeout=30) as connection:
        connection.sendall(sent)
        answer = b""
        while data := connection.recv(65536):
            answer += data
    assert answer.split(b" ")[1] == status
    assert b"Cross-Origin-Embedder-Policy: require-corp" in answer
    assert b'{"error":{"code":' in answer
