"""What an encoded input is, as a file and over HTTP."""

from __future__ import annotations

from export.contract import InputKind, MediaType
from export.decode.picture_header import read_header

PICTURES: dict[str, tuple[MediaType, str]] = {
    "JPEG": ("image/jpeg", "jpg"), "PNG": ("image/png", "png"), "WEBP": ("image/webp", "webp"),
}  # fmt: skip
OTHERS: dict[InputKind, tuple[MediaType, str]] = {
    "text": ("text/plain", "txt"),
    "sound": ("audio/wav", "wav"),
    "table": ("application/json", "json"),
    "bytes": ("application/octet-stream", "bin"),
    "tensor": ("application/json", "json"),
}


def media_type(kind: InputKind, data: bytes) -> tuple[MediaType, str]:
    """Media type and file extension of an encoded input."""
    if kind in ("image", "drawing"):
        return PICTURES[read_header(data).format]
    if kind == "tensor" and data.startswith(b"\x93NUMPY"):
        return "application/octet-stream", "npy"
    return OTHERS[kind]
