"""What a picture file says of itself before it is decoded, and what is refused: docs/decoders.md.

The whole file is walked to its end mark, since decoders differ in how they take a file cut short.
Formats: ISO/IEC 10918-1 (JPEG), W3C PNG, Google's WebP container specification.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Literal

from export.contract import MAX_PIXELS
from export.errors import DecodeError

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY = 0
SCAN, END = 0xDA, 0xD9


@dataclass(frozen=True)
class PictureHeader:
    """As stored, before any rotation."""

    format: Literal["JPEG", "PNG", "WEBP"]
    width: int
    height: int


def read_header(data: bytes) -> PictureHeader:
    """Read the header; DecodeError `unsupported-picture`, `broken-picture`, `picture-too-large`."""
    try:
        header = _read(data)
    except (IndexError, struct.error) as error:
        raise broken(f"it ends within its header, after {len(data)} bytes") from error
    if header.width == 0 or header.height == 0:
        raise broken(f"{header.width} x {header.height} pixels")
    if header.width * header.height > MAX_PIXELS:
        raise DecodeError(
            f"{header.width} x {header.height} pixels, limit {MAX_PIXELS:,} in all; "
            "scale the picture down first",
            code="picture-too-large",
        )
    return header


def broken(what: str) -> DecodeError:
    """A file that is not whole."""
    return DecodeError(
        f"the picture cannot be decoded whole: {what}; save or fetch it anew", code="broken-picture"
    )


def unsupported(what: str) -> DecodeError:
    """A kind of file on which decoders do not agree."""
    return DecodeError(
        f"{what}: not supported, since decoders do not agree on it; "
        "save the picture as RGB with 8 bits a channel",
        code="unsupported-picture",
    )


def _read(data: bytes) -> PictureHeader:
    if data[:3] == b"\xff\xd8\xff":
        return _jpeg(data)
    if data[:8] == PNG_SIGNATURE:
        return _png(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    raise DecodeError(
        f"not a JPEG, PNG or WebP picture (it begins with {data[:8].hex(' ') or 'nothing'}); "
        "save it as one of these",
        code="unsupported-picture",
    )


def _jpeg(data: bytes) -> PictureHeader:
    size: tuple[int, int] | None = None
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            raise broken("a JPEG segment is missing")
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
            continue
        after = at + 2 + int(struct.unpack_from(">H", data, at + 2)[0])
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            size = _jpeg_frame(data, at, marker)
        at = _next_marker(data, after) if marker == SCAN else after
        if marker == SCAN and data[at + 1 : at + 2] == bytes([END]) and size is not None:
            return PictureHeader("JPEG", *size)
    raise broken("the JPEG ends before its end mark")


def _jpeg_frame(data: bytes, at: int, marker: int) -> tuple[int, int]:
    bits, height, width, channels = struct.unpack_from(">BHHB", data, at + 4)
    if marker > 0xC2:
        raise unsupported("lossless, hierarchical or arithmetic JPEG")
    if bits != 8:
        raise unsupported(f"JPEG with {bits} bits a channel")
    if channels not in (1, 3):
        raise unsupported(f"JPEG with {channels} channels (CMYK)")
    return width, height


def _next_marker(data: bytes, start: int) -> int:
    """Past the coded data: stuffed zeros and restart marks belong to it."""
    at = data.find(b"\xff", start)
    while at >= 0:
        following = data[at + 1] if at + 1 < len(data) else 0
        if following not in (0, 0xFF) and not 0xD0 <= following <= 0xD7:
            return at
        at = data.find(b"\xff", at + 1)
    return len(data)


def _png(data: bytes) -> PictureHeader:
    start: tuple[int, int, int, int] | None = None
    seen: set[bytes] = set()
    at = len(PNG_SIGNATURE)
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, after = data[at + 4 : at + 8], at + 12 + length
        if after > len(data):
            break
        _check_crc(data, at, kind, after)
        if kind == b"IHDR" and length >= 13 and start is None:
            start = struct.unpack_from(">IIBB", data, at + 8)
        if kind == b"fcTL" and b"IDAT" in seen and b"fcTL" not in seen:
            raise unsupported("animated PNG with a cover")
        if kind == b"IEND" and start is not None:
            _refuse_png(start[2], start[3], has_key=b"tRNS" in seen)
            return PictureHeader("PNG", start[0], start[1])
        seen.add(kind)
        at = after
    raise broken("the PNG ends before its end mark")


def _check_crc(data: bytes, at: int, kind: bytes, after: int) -> None:
    # Picture data is left to the decoder, which checks it in any case.
    if kind in (b"IDAT", b"fdAT"):
        return
    (stored,) = struct.unpack_from(">I", data, after - 4)
    if zlib.crc32(data[at + 4 : after - 4]) != stored:
        raise broken(f"the PNG's chunk {kind.decode('latin-1')} is damaged")


def _refuse_png(bits: int, colour: int, *, has_key: bool) -> None:
    if bits == 16:
        raise unsupported("PNG with 16 bits a channel")
    if has_key and colour == GREY and bits in (2, 4):
        raise unsupported(f"grey PNG with {bits} bits a pixel and a transparent grey")


def _webp(data: bytes) -> PictureHeader:
    end = 8 + int(struct.unpack_from("<I", data, 4)[0])
    if end > len(data):
        raise broken("the WebP is shorter than it says")
    size: tuple[int, int] | None = None
    has_pixels = False
    at = 12
    while at + 8 <= end:
        kind = data[at : at + 4]
        start = at + 8
        after = start + int(struct.unpack_from("<I", data, at + 4)[0])
        if after > end:
            raise broken("a WebP chunk is shorter than it says")
        if size is None and after - start >= 10:
            size = _webp_size(data, kind, start)
        has_pixels |= kind in (b"VP8 ", b"VP8L", b"ANMF")
        at = after + (after - start) % 2
    if size is None or not has_pixels:
        raise broken("the WebP has no picture")
    return PictureHeader("WEBP", *size)


def _webp_size(data: bytes, kind: bytes, start: int) -> tuple[int, int] | None:
    if kind == b"VP8X":
        width = int.from_bytes(data[start + 4 : start + 7], "little") + 1
        return width, int.from_bytes(data[start + 7 : start + 10], "little") + 1
    if kind == b"VP8L":
        (packed,) = struct.unpack_from("<I", data, start + 1)
        return (packed & 0x3FFF) + 1, ((packed >> 14) & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, start + 6)
        return width & 0x3FFF, height & 0x3FFF
    return None
