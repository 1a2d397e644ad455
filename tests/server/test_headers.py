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


READ, SEND = "GET, HEAD, OPTIONS", "OPTIONS, POST"


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v2", READ),
        ("/v2/", READ),
        ("/v2/health/live", READ),
        ("/v2/health/ready", READ),
        ("/v2/models/digits", READ),
        ("/v2/models/digits/ready", READ),
        ("/v2/models/digits/versions/1", READ),
        ("/v2/models/digits/infer", SEND),
        ("/v2/models/digits/versions/1/infer", SEND),
        ("/v2/repository/index", SEND),
    ],
)
def test_options_and_405_below_v2_name_the_methods_of_the_very_route(
    url: str, path: str, allowed: str
) -> None:
    options = ask(url, path, "OPTIONS")
    assert (options.status, options.headers["allow"], options.body) == (200, allowed, b"")
    other = "GET" if allowed == SEND else "POST"
    for method in ("PUT", "PATCH", "DELETE", "BREW", other):
        refused = ask(url, path, method, b"")
        assert (refused.status, list(refused.json)) == (405, ["error"])
        assert set(refused.headers["allow"].split(", ")) == set(allowed.split(", "))


@pytest.mark.parametrize("path", ["/v2/nothing", "/v2/models", "/v2/models/", "/v2//models/digits"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST", "PUT", "BREW"])
def test_an_unknown_path_below_v2_is_404_for_every_method(url: str, path: str, method: str) -> None:
    answer = ask(url, path, method, b"")
    assert (answer.status, answer.json["error"]) == (404, "no such endpoint below /v2")


def test_v2_with_a_slash_at_its_end_is_the_same(url: str) -> None:
    with_slash, without = ask(url, "/v2/"), ask(url, "/v2")
    assert (with_slash.status, with_slash.body) == (200, without.body)
    assert without.status == 200


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
