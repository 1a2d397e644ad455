"""The media type and the extension of a sample, by its kind and its bytes."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from export.contract import InputKind
from export.errors import DecodeError
from export.media import media_type


def picture(format_: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (3, 3)).save(buffer, format_)
    return buffer.getvalue()


TABLE: list[tuple[InputKind, bytes, tuple[str, str]]] = [
    ("image", picture("JPEG"), ("image/jpeg", "jpg")),
    ("image", picture("PNG"), ("image/png", "png")),
    ("drawing", picture("WEBP"), ("image/webp", "webp")),
    ("text", b"{", ("text/plain", "txt")),
    ("sound", b"RIFF", ("audio/wav", "wav")),
    ("table", b'\xef\xbb\xbf \n{"a": 1}', ("application/json", "json")),
    ("table", b"a,b\n1,2\n", ("text/plain", "csv")),
    ("bytes", b"{}", ("application/octet-stream", "bin")),
    ("tensor", b'{"inputs": []}', ("application/json", "json")),
    ("tensor", b"\x93NUMPY\1\0", ("application/octet-stream", "npy")),
]


@pytest.mark.parametrize(("kind", "data", "expected"), TABLE)
def test_a_sample_is_named_as_what_it_is(
    kind: InputKind, data: bytes, expected: tuple[str, str]
) -> None:
    assert media_type(kind, data) == expected


def test_a_picture_that_is_none_is_refused() -> None:
    with pytest.raises(DecodeError) as caught:
        media_type("image", b"GIF89a")
    assert caught.value.code == "unsupported-picture"
