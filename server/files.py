"""Files over HTTP: type, encoding, ETag of the content, parts, and never a whole file in memory."""

from __future__ import annotations

from collections.abc import Iterable
from io import FileIO
from pathlib import Path
from typing import BinaryIO, cast

from flask import Request, Response
from werkzeug.wsgi import wrap_file

from server.digests import Digest, Digests
from server.errors import Changed, NotFound, OutOfRange
from server.ranges import Part, Unsatisfiable, part_still_valid, wanted_part

# Our own table: what the machine's table says differs from machine to machine.
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".data": "application/octet-stream",
    ".gif": "image/gif",
    ".gz": "application/gzip",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/vnd.microsoft.icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".onnx": "application/octet-stream",
    ".ort": "application/octet-stream",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wav": "audio/wav",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
DEFAULT_MEDIA_TYPE = "application/octet-stream"

# Best first: with equal q values the smaller answer wins.
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))

REVALIDATE = "no-cache"
IMMUTABLE = "public, max-age=31536000, immutable"
NEVER_KEEP = "no-store"

BLOCK_BYTES = 1 << 18
ETAG_LENGTH = 32


class FilePart:
    """A file-like object of one part of a file; its descriptor stands at the part's start."""

    def __init__(self, file: FileIO, part: Part) -> None:
        self._file = file
        self._left = part.stop - part.start
        file.seek(part.start)

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes, never past the part's end."""
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data

    def fileno(self) -> int:
        """The descriptor, from which gunicorn sends Content-Length bytes by sendfile."""
        return self._file.fileno()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def send(
    request: Request,
    path: Path,
    *,
    root: Path,
    digests: Digests,
    cache: str,
    expected: str | None = None,
    precompressed: bool = False,
) -> Response:
    """Answer with the file as it lies on disk now, or a part of it, or 304, 412, 416.

    The ETag is strong and made of the sent bytes' SHA-256. Bytes that do not hash to `expected`
    may not be kept by any cache. `precompressed` looks for .br and .gz beside the file.
    Raises NotFound for what is no regular file within `root`, symbolic links followed.
    """
    path = _within(root, path)
    siblings = _siblings(path) if precompressed else {}
    encoding = _negotiated(request, siblings)
    source = path if encoding is None else _within(root, siblings[encoding])
    file = FileIO(source, "rb")
    try:
        digest = digests.of(source, file)
        response = _respond(request, file, digest)
    except BaseException:
        file.close()
        raise
    response.headers["ETag"] = _etag(digest)
    response.headers["Cache-Control"] = cache if expected in (None, digest.sha256) else NEVER_KEEP
    if siblings:
        response.headers["Vary"] = "Accept-Encoding"
    if response.status_code != 304:
        response.headers["Content-Type"] = media_type(path.name)
        if encoding is not None:
            response.headers["Content-Encoding"] = encoding
    return response


def media_type(name: str) -> str:
    """The media type of a file by its name, the same on every machine."""
    return MEDIA_TYPES.get(Path(name).suffix.lower(), DEFAULT_MEDIA_TYPE)


def _respond(request: Request, file: FileIO, digest: Digest) -> Response:
    tag = digest.sha256[:ETAG_LENGTH]
    if "If-Match" in request.headers and not request.if_match.contains(tag):
        raise Changed(f"the file is now {_etag(digest)}")
    if request.if_none_match.contains_weak(tag):
        file.close()
        return _bare(304)
    part = _part(request, digest)
    response = _bare(200) if request.method == "HEAD" else _stream(request, file, part, digest)
    if request.method == "HEAD":
        file.close()
        response.headers["Content-Length"] = str(digest.size_bytes)
    response.headers["Accept-Ranges"] = "bytes"
    return response


def _part(request: Request, digest: Digest) -> Part | None:
    # RFC 9110 defines Range for GET alone.
    asked = request.headers.get("Range") if request.method == "GET" else None
    if not part_still_valid(request.headers.get("If-Range"), _etag(digest)):
        return None
    try:
        return wanted_part(asked, digest.size_bytes)
    except Unsatisfiable:
        raise OutOfRange(
            f"the file has {digest.size_bytes} bytes",
            {"Content-Range": f"bytes */{digest.size_bytes}", "Accept-Ranges": "bytes"},
        ) from None


def _stream(request: Request, file: FileIO, part: Part | None, digest: Digest) -> Response:
    sent = part or Part(0, digest.size_bytes)
    # werkzeug takes gunicorn's wrapper where there is one: sendfile, no copies through Python.
    body = wrap_file(request.environ, cast(BinaryIO, FilePart(file, sent)), BLOCK_BYTES)
    response = Response(body, status=206 if part else 200, direct_passthrough=True)
    response.headers["Content-Length"] = str(sent.stop - sent.start)
    if part:
        response.headers["Content-Range"] = (
            f"bytes {part.start}-{part.stop - 1}/{digest.size_bytes}"
        )
    return response


def _bare(status: int) -> Response:
    response = Response(status=status)
    response.headers.remove("Content-Type")
    return response


def _negotiated(request: Request, offered: Iterable[str]) -> str | None:
    """The encoding to send. Parts are parts of the plain file."""
    accepted = request.accept_encodings
    if "Range" in request.headers:
        return None
    # max keeps the first of equals, so ENCODINGS' order breaks ties.
    best = max(offered, key=accepted.quality, default=None)
    # A client that likes the plain file better than any encoding says so with identity;q=.
    if best is None or accepted.quality(best) < accepted.quality("identity"):
        return None
    return best if accepted.quality(best) > 0 else None


def _siblings(path: Path) -> dict[str, Path]:
    found = {name: path.with_name(path.name + suffix) for name, suffix in ENCODINGS}
    return {name: file for name, file in found.items() if file.is_file()}


def _within(root: Path, path: Path) -> Path:
    try:
        real = path.resolve(strict=True)
        if real.is_relative_to(root.resolve()) and real.is_file():
            return real
    except (OSError, ValueError):  # no such file, a loop of links, a name too long, a NUL
        pass
    raise NotFound(f"{path.name[:80]}: no such file")


def _etag(digest: Digest) -> str:
    return f'"{digest.sha256[:ETAG_LENGTH]}"'
