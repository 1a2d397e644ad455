"""Python's decoder on the public cases: orientation, transparency, CMYK, grey, shrinking."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from export.contract import DrawingInput, ImageInput, Resize, Tensor
from export.decode.pixels import decode
from export.errors import DecodeError
from export.workspace import ROOT

CASES = ROOT / "tests/cases"
# What each EXIF orientation asks of a viewer (EXIF 2.32, tag 0x0112).
TURNS: dict[int, Callable[[Image.Image], Image.Image]] = {
    1: lambda p: p,
    2: lambda p: p.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
    3: lambda p: p.transpose(Image.Transpose.ROTATE_180),
    4: lambda p: p.transpose(Image.Transpose.FLIP_TOP_BOTTOM),
    5: lambda p: p.transpose(Image.Transpose.TRANSPOSE),
    6: lambda p: p.transpose(Image.Transpose.ROTATE_270),
    7: lambda p: p.transpose(Image.Transpose.TRANSVERSE),
    8: lambda p: p.transpose(Image.Transpose.ROTATE_90),
}


def image(
    height: int, width: int, *, background: str = "white", filter_: str = "bilinear"
) -> ImageInput:
    return ImageInput(
        kind="image",
        tensor=Tensor(name="pixels", dtype="uint8", shape=["batch", height, width, 3]),
        resize=Resize.model_validate({"filter": filter_}),
        orientation="exif",
        background={"white": [255] * 3, "black": [0] * 3}[background],
        colour_profile="ignore",
    )


def drawing(**change: str) -> DrawingInput:
    spec = {
        "kind": "drawing",
        "tensor": {"name": "pixels", "dtype": "uint8", "shape": ["batch", 28, 28, 1]},
        "resize": {"filter": "bilinear"},
        "orientation": "exif",
        "background": [255, 255, 255],
        "colour_profile": "ignore",
        "ink": "auto",
        "fit": "ink",
    }
    return DrawingInput.model_validate(spec | change)


def right(case: str) -> np.ndarray:
    values: np.ndarray = np.load(CASES / case / "expected.npz")["rgb"]
    return values


def picture_of(case: str, name: str, spec: ImageInput) -> np.ndarray:
    pixels: np.ndarray = decode((CASES / case / name).read_bytes(), spec)[0]
    return pixels


def png(pixels: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize("name", [*(f"o{turn}.jpg" for turn in range(1, 9)), "o6.png"])
def test_exif_orientation_is_applied_once(name: str) -> None:
    turn = int(name[1])
    stored = Image.open(CASES / "img-exif-orientation" / name).convert("RGB")
    size = (48, 32) if turn >= 5 else (32, 48)
    got = picture_of("img-exif-orientation", name, image(*size))
    assert (got == np.asarray(TURNS[turn](stored))).all()


def test_the_turned_photo_is_the_right_one() -> None:
    for name in ("o6.jpg", "o6.png"):
        got = picture_of("img-exif-orientation", name, image(48, 32))
        assert np.abs(got.astype(int) - right("img-exif-orientation")).mean() < 3


@pytest.mark.parametrize("name", ["rgba.png"])
def test_transparency_shows_the_named_background(name: str) -> None:
    expected = right("img-transparent-png")
    got = picture_of("img-transparent-png", name, image(*expected.shape[:2]))
    assert np.abs(got.astype(int) - expected).max() <= 1
    black = picture_of("img-transparent-png", name, image(*expected.shape[:2], background="black"))
    assert (black == 0).all(axis=-1).any()


def test_shrinking_a_fine_pattern_is_pillows_bilinear() -> None:
    expected = right("img-downscale-filters")
    got = picture_of("img-downscale-filters", "chess.png", image(*expected.shape[:2]))
    assert np.abs(got.astype(int) - expected).max() <= 1


@pytest.mark.parametrize("name", ["cmyk.jpg", "cmyk_no_adobe.jpg"])
def test_cmyk_is_refused_by_name(name: str) -> None:
    with pytest.raises(DecodeError, match="CMYK") as caught:
        picture_of("img-cmyk-jpeg", name, image(32, 32))
    assert caught.value.code == "unsupported-picture"


def test_grey_becomes_three_equal_channels() -> None:
    got = picture_of("img-cmyk-jpeg", "grey.jpg", image(32, 32))
    assert (got[..., 0] == got[..., 1]).all()
    assert (got[..., 0] == got[..., 2]).all()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "unsupported-picture"),
        (b"<!doctype html>", "unsupported-picture"),
        (b"GIF89a" + bytes(20), "unsupported-picture"),
        (b"\x89PNG\r\n\x1a\n", "broken-picture"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "broken-picture"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "broken-picture"),
        (png(np.zeros((9, 9), np.uint16)), "unsupported-picture"),
        (png(np.zeros((9, 9, 3), np.uint8))[:-20], "broken-picture"),
        ((CASES / "img-exif-orientation/o1.jpg").read_bytes()[:-60], "broken-picture"),
    ],
)
def test_what_cannot_be_decoded_exactly_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(data, image(8, 8))
    assert caught.value.code == code


def test_a_huge_picture_is_refused_before_it_is_decoded() -> None:
    small = png(np.zeros((1, 1), np.uint8))
    chunk = small[12:16] + (20_000).to_bytes(4, "big") * 2 + small[24:29]
    huge = small[:12] + chunk + zlib.crc32(chunk).to_bytes(4, "big") + small[33:]
    with pytest.raises(DecodeError, match="20000 x 20000 pixels, limit 100,000,000"):
        decode(huge, image(8, 8))


def strokes(*, ink: int, ground: int, at: tuple[int, int] = (90, 60)) -> bytes:
    pad = np.full((280, 280), ground, np.uint8)
    x, y = at
    pad[y : y + 100, x : x + 12] = ink
    pad[y : y + 12, x - 30 : x + 12] = ink
    return png(pad)


def test_dark_ink_on_light_reads_as_light_on_dark() -> None:
    dark, light = strokes(ink=0, ground=255), strokes(ink=255, ground=0)
    assert (decode(dark, drawing()) == decode(light, drawing())).all()


def test_where_on_the_pad_does_not_matter() -> None:
    here, there = strokes(ink=0, ground=255), strokes(ink=0, ground=255, at=(200, 150))
    assert (decode(here, drawing()) == decode(there, drawing())).all()


def test_ink_beyond_the_edge_is_ground() -> None:
    corner = strokes(ink=0, ground=255, at=(32, 0))
    assert (decode(corner, drawing()) == decode(strokes(ink=0, ground=255), drawing())).all()


def test_an_empty_pad_is_refused() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(png(np.full((280, 280), 255, np.uint8)), drawing())
    assert caught.value.code == "nothing-drawn"


def test_a_short_side_keeps_the_aspect_and_takes_the_centre() -> None:
    spec = image(4, 4).model_copy(update={"resize": Resize(filter="bilinear", short_side=4)})
    wide = np.zeros((4, 12, 3), np.uint8)
    wide[:, 4:8] = 255
    assert (decode(png(wide), spec) == 255).all()
