"""gunicorn's threaded worker, answering what it cannot parse as the application would."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine, ParseException
from gunicorn.workers.gthread import ThreadWorker

from server import strict_json
from server.headers import HEADERS

_STATUSES: dict[type[Exception], tuple[str, str]] = {
    LimitRequestLine: ("414 URI Too Long", "the address is too long"),
    LimitRequestHeaders: ("431 Request Header Fields Too Large", "the headers are too long"),
    ParseException: ("400 Bad Request", "this is no HTTP request"),
    Exception: ("500 Internal Server Error", "the server failed; its log says why"),
}


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Requests that never reach the application get its headers and error shape too."""

    def handle_error(
        self,
        req: Any,  # noqa: ARG002
        client: socket.socket,
        addr: Any,  # noqa: ARG002
        exc: Exception,
    ) -> None:
        """Answer a request that could not be parsed, and leave the connection to be closed."""
        status, message = next(v for kind, v in _STATUSES.items() if isinstance(exc, kind))
        if status.startswith("5"):
            self.log.exception("Error handling request")
        code = status[4:].lower().replace(" ", "-")
        body = strict_json.dumps({"error": {"code": code, "message": message}})
        headers = {
            **HEADERS,
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Connection": "close",
        }
        lines = [f"HTTP/1.1 {status}", *(f"{k}: {v}" for k, v in headers.items()), "", ""]
        with contextlib.suppress(OSError):  # the client may be gone
            client.sendall("\r\n".join(lines).encode() + body)
