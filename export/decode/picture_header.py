"""What a picture file says of itself before it is decoded: format, size, bits, channels.

Formats: ISO/IEC 10918-1 (JPEG), W3C PNG, Google's WebP container specification.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal

from export.errors import DecodeError

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


@dataclass(frozen=True)
class PictureHeader:
    """As stored, before any rotation."""

    format: Literal["JPEG", "PNG", "WEBP"]
    width: int
    height: int
    bits: int
    channels: int


def read_header(data: bytes) -> PictureHeader:
    """Read the header; DecodeError `unsupported-picture` or `broken-picture`."""
    try:
        if data[:3] == b"\xff\xd8\xff":
            return _jpeg(data)
        if data[:8] == PNG_SIGNATURE:
            return _png(data)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp(data)
    except (IndexError, struct.error) as error:
        raise DecodeError(
            f"the picture ends within its header ({len(data)} bytes); get the whole file",
            code="broken-picture",
        ) from error
    raise DecodeError(
        f"not a JPEG, PNG or WebP picture (it begins with {data[:8].hex(' ') or 'nothing'}); "
        "save it as one of these",
        code="unsupported-picture",
    )


def _jpeg(data: bytes) -> PictureHeader:
    at = 2
    while True:
        while data[at] == 0xFF and data[at + 1] == 0xFF:  # fill bytes
            at += 1
        marker = data[at + 1]
        if data[at] != 0xFF:
            raise IndexError
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            bits, height, width, channels = struct.unpack_from(">BHHB", data, at + 4)
            return PictureHeader("JPEG", width, height, bits, channels)
        if marker in (0xD9, 0xDA):  # picture data before any frame header
            raise IndexError
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]


def _png(data: bytes) -> PictureHeader:
    width, height, bits, colour = struct.unpack_from(">IIBB", data, 16)
    return PictureHeader("PNG", width, height, bits, PNG_CHANNELS.get(colour, 0))


def _webp(data: bytes) -> PictureHeader:
    kind = data[12:16]
    if kind == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        height = int.from_bytes(data[27:30], "little") + 1
        return PictureHeader("WEBP", width, height, 8, 4)
    if kind == b"VP8L":
        (packed,) = struct.unpack_from("<I", data, 21)
        return PictureHeader("WEBP", (packed & 0x3FFF) + 1, ((packed >> 14) & 0x3FFF) + 1, 8, 4)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return PictureHeader("WEBP", width & 0x3FFF, height & 0x3FFF, 8, 3)
    raise IndexError
