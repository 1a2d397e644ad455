"""One HTTP request, told exactly: no redirects, no added headers, nothing decoded."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Answer:
    """What came back; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body parsed as strict JSON."""
        return json.loads(self.body, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is no JSON")


def ask(
    url: str,
    path: str,
    method: str = "GET",
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send one request over a connection of its own."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, response.read())
    finally:
        connection.close()


def infer(
    url: str, request: Mapping[str, object], *, model: str = "digits", tail: bytes = b""
) -> Answer:
    """POST an inference request: JSON, and binary tensors behind it when there are any."""
    head = json.dumps(request).encode()
    headers = {"Inference-Header-Content-Length": str(len(head))} if tail else {}
    return ask(url, f"/v2/models/{model}/infer", "POST", head + tail, headers)
