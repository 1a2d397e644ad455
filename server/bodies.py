"""Request bodies: read, unpacked and bounded."""

from __future__ import annotations

import zlib

from flask import Request

from server.errors import BadRequest, TooLarge, UnsupportedEncoding

# zlib's window bits: 16 + 15 is gzip, 15 is what HTTP calls deflate.
_WINDOW_BITS = {"gzip": 31, "deflate": 15}


def read_body(request: Request, max_bytes: int) -> bytes:
    """The body, unpacked. Raises TooLarge beyond `max_bytes`, before or after unpacking."""
    # A chunked body has no Content-Length, and Werkzeug cuts it at the limit without a word:
    # one byte more shows that there is more.
    request.max_content_length = max_bytes + 1
    data = request.get_data(cache=False)
    if len(data) > max_bytes:
        raise TooLarge(f"the body has more than the limit of {max_bytes} bytes")
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding == "identity":
        return data
    if encoding not in _WINDOW_BITS:
        raise UnsupportedEncoding(
            f"Content-Encoding {encoding[:40]!r} is unknown; known: {', '.join(_WINDOW_BITS)}"
        )
    return _unpacked(data, encoding, max_bytes)


def _unpacked(data: bytes, encoding: str, max_bytes: int) -> bytes:
    unpacker = zlib.decompressobj(_WINDOW_BITS[encoding])
    try:
        unpacked = unpacker.decompress(data, max_bytes + 1)
    except zlib.error as error:
        raise BadRequest(f"the body is not {encoding}, as Content-Encoding says it is") from error
    if len(unpacked) > max_bytes:
        raise TooLarge(f"the body unpacks to more than the limit of {max_bytes} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise BadRequest(f"the {encoding} body is cut short or followed by other bytes")
    return unpacked
