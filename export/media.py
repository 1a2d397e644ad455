"""Media type and file extension of an encoded sample, told by its kind and its first bytes."""

from __future__ import annotations

from export.contract import InputKind, MediaType
from export.decode.picture_header import read_header

Media = tuple[MediaType, str]

PICTURES: dict[str, Media] = {
    "JPEG": ("image/jpeg", "jpg"),
    "PNG": ("image/png", "png"),
    "WEBP": ("image/webp", "webp"),
}
BOM = b"\xef\xbb\xbf"
WHITE_SPACE = b"\t\n\v\f\r "


def media_type(kind: InputKind, data: bytes) -> Media:
    """Media type and extension of a sample that the decoder of `kind` takes.

    Raises DecodeError for a picture that is none of those supported, or cut short; all else is
    left to the decoder.
    """
    match kind:
        case "image" | "drawing":
            return PICTURES[read_header(data).format]
        case "text":
            return "text/plain", "txt"
        case "sound":
            return "audio/wav", "wav"
        case "table":
            return ("application/json", "json") if _is_json(data) else ("text/plain", "csv")
        case "bytes":
            return "application/octet-stream", "bin"
        case "tensor":
            json = _is_json(data)
            return ("application/json", "json") if json else ("application/octet-stream", "npy")


def _is_json(data: bytes) -> bool:
    return data.removeprefix(BOM).lstrip(WHITE_SPACE).startswith(b"{")
