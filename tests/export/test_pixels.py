"""Python's decoder on the public cases: orientation, transparency, CMYK, grey, shrinking."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from export.contract import DrawingInput, ImageInput, Tensor
from export.decode import decoder
from export.decode.pixels import FILTERS, decode
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


def image(**change: object) -> ImageInput:
    spec = {
        "kind": "image",
        "tensor": "input",
        "resize": {"filter": "bilinear"},
        "fit": "stretch",
        "padding": [1, 2, 3],
        "orientation": "exif",
        "background": [255, 255, 255],
        "colour_profile": "ignore",
    }
    return ImageInput.model_validate(spec | change)


def drawing(**change: object) -> DrawingInput:
    spec = {
        "kind": "drawing",
        "tensor": "input",
        "resize": {"filter": "bilinear"},
        "orientation": "exif",
        "background": [255, 255, 255],
        "colour_profile": "ignore",
        "ink": "auto",
        "fit": "ink",
    }
    return DrawingInput.model_validate(spec | change)


def drawn(data: bytes) -> np.ndarray:
    return decode(data, drawing(), (28, 28))


def right(case: str) -> np.ndarray:
    values: np.ndarray = np.load(CASES / case / "expected.npz")["rgb"]
    return values


def picture_of(case: str, name: str, size: tuple[int, int], **change: object) -> np.ndarray:
    pixels: np.ndarray = decode((CASES / case / name).read_bytes(), image(**change), size)[0]
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
    got = picture_of("img-exif-orientation", name, size)
    assert (got == np.asarray(TURNS[turn](stored))).all()


def test_the_turned_photo_is_the_right_one() -> None:
    for name in ("o6.jpg", "o6.png"):
        got = picture_of("img-exif-orientation", name, (48, 32))
        assert np.abs(got.astype(int) - right("img-exif-orientation")).mean() < 3


@pytest.mark.parametrize("name", ["rgba.png"])
def test_transparency_shows_the_named_background(name: str) -> None:
    expected = right("img-transparent-png")
    got = picture_of("img-transparent-png", name, expected.shape[:2])
    assert np.abs(got.astype(int) - expected).max() <= 1
    black = picture_of("img-transparent-png", name, expected.shape[:2], background=[0, 0, 0])
    assert (black == 0).all(axis=-1).any()


def test_shrinking_a_fine_pattern_is_pillows_bilinear() -> None:
    expected = right("img-downscale-filters")
    got = picture_of("img-downscale-filters", "chess.png", expected.shape[:2])
    assert np.abs(got.astype(int) - expected).max() <= 1


@pytest.mark.parametrize("name", ["cmyk.jpg", "cmyk_no_adobe.jpg"])
def test_cmyk_is_refused_by_name(name: str) -> None:
    with pytest.raises(DecodeError, match="CMYK") as caught:
        picture_of("img-cmyk-jpeg", name, (32, 32))
    assert caught.value.code == "unsupported-picture"


def test_grey_becomes_three_equal_channels() -> None:
    got = picture_of("img-cmyk-jpeg", "grey.jpg", (32, 32))
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
        decode(data, image(), (8, 8))
    assert caught.value.code == code


def test_a_huge_picture_is_refused_before_it_is_decoded() -> None:
    small = png(np.zeros((1, 1), np.uint8))
    chunk = small[12:16] + (20_000).to_bytes(4, "big") * 2 + small[24:29]
    huge = small[:12] + chunk + zlib.crc32(chunk).to_bytes(4, "big") + small[33:]
    with pytest.raises(DecodeError, match="20000 x 20000 pixels, limit 100,000,000"):
        decode(huge, image(), (8, 8))


def strokes(*, ink: int, ground: int, at: tuple[int, int] = (90, 60)) -> bytes:
    pad = np.full((280, 280), ground, np.uint8)
    x, y = at
    pad[y : y + 100, x : x + 12] = ink
    pad[y : y + 12, x - 30 : x + 12] = ink
    return png(pad)


def test_dark_ink_on_light_reads_as_light_on_dark() -> None:
    dark, light = strokes(ink=0, ground=255), strokes(ink=255, ground=0)
    assert (drawn(dark) == drawn(light)).all()


def test_where_on_the_pad_does_not_matter() -> None:
    here, there = strokes(ink=0, ground=255), strokes(ink=0, ground=255, at=(200, 150))
    assert (drawn(here) == drawn(there)).all()


def test_ink_beyond_the_edge_is_ground() -> None:
    corner = strokes(ink=0, ground=255, at=(32, 0))
    assert (drawn(corner) == drawn(strokes(ink=0, ground=255))).all()


def test_an_empty_pad_is_refused() -> None:
    with pytest.raises(DecodeError) as caught:
        drawn(png(np.full((280, 280), 255, np.uint8)))
    assert caught.value.code == "nothing-drawn"


def test_a_short_side_keeps_the_aspect_and_takes_the_centre() -> None:
    spec = image(resize={"filter": "bilinear", "short_side": 4}, fit="centre-crop")
    wide = np.zeros((4, 12, 3), np.uint8)
    wide[:, 4:8] = 255
    assert (decode(png(wide), spec, (4, 4)) == 255).all()


# Picture (width, height), tensor (height, width): left, top, width and height of what is seen.
LETTERBOXES = [
    ((640, 480), (416, 416), (0, 52, 416, 312)),
    ((480, 640), (416, 416), (52, 0, 312, 416)),
    ((100, 100), (416, 416), (0, 0, 416, 416)),
    ((100, 100), (10, 31), (10, 0, 10, 10)),
    ((1000, 1), (32, 64), (0, 15, 64, 1)),  # at least one row
    ((1, 1000), (32, 64), (31, 0, 1, 32)),
    ((4, 3), (5, 6), (0, 0, 6, 5)),  # 4.5 rows: halves go up
    ((3, 2), (7, 5), (0, 2, 5, 3)),
    ((20, 10), (10, 20), (0, 0, 20, 10)),
    ((333, 127), (416, 416), (0, 128, 416, 159)),
]


@pytest.mark.parametrize(("picture", "size", "seen"), LETTERBOXES)
@pytest.mark.parametrize("filter_", list(FILTERS))
def test_a_letterbox_holds_the_whole_picture_in_the_middle(
    picture: tuple[int, int], size: tuple[int, int], seen: tuple[int, int, int, int], filter_: str
) -> None:
    stored = np.random.default_rng(7).integers(0, 256, (picture[1], picture[0], 3), np.uint8)
    spec = image(fit="letterbox", resize={"filter": filter_})
    left, top, width, height = seen
    expected = np.full((*size, 3), [1, 2, 3], np.uint8)
    resized = Image.fromarray(stored).resize((width, height), FILTERS[spec.resize.filter])
    expected[top : top + height, left : left + width] = np.asarray(resized)
    assert (decode(png(stored), spec, size)[0] == expected).all()


@pytest.mark.parametrize(("spec", "channels"), [(image(), 3), (drawing(), 1)])
def test_the_size_is_that_of_the_contracts_input(
    spec: ImageInput | DrawingInput, channels: int
) -> None:
    inputs = [Tensor(name="input", dtype="uint8", shape=["batch", 9, 7, channels])]
    decoded = decoder(spec, inputs, CASES)(strokes(ink=0, ground=255))
    assert list(decoded) == ["input"]
    assert decoded["input"].shape == (1, 9, 7, channels)
    assert decoded["input"].dtype == np.uint8
