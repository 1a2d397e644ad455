"""Pictures and drawings to uint8 tensors, with Pillow. The rules are in docs/decoders.md."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import assert_never

import numpy as np
import numpy.typing as npt
from PIL import Image, UnidentifiedImageError

from export.contract import DrawingInput, ImageInput, Tensor
from export.decode.picture_header import broken, read_header
from export.errors import DecodeError
from export.tensors import Tensors

Pixels = npt.NDArray[np.uint8]

FILTERS = {
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
    "box": Image.Resampling.BOX,
}

ORIENTATION_TAG = 0x0112
# What EXIF's orientation 2 to 8 asks of a viewer (EXIF 2.32, tag 0x0112).
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

INK = 64  # grey value from which a pixel counts as ink
INK_SQUARE = (7, 5)  # the square around the ink is 7/5 of its longer side: 20 of 28 parts, as MNIST


def make(
    spec: ImageInput | DrawingInput,
    inputs: Sequence[Tensor],
    folder: Path,  # noqa: ARG001
) -> Callable[[bytes], Tensors]:
    """The decoder to the size of the contract's tensor."""
    size = tensor_size(next(tensor for tensor in inputs if tensor.name == spec.tensor))
    return lambda data: {spec.tensor: decode(data, spec, size)}


def decode(data: bytes, spec: ImageInput | DrawingInput, size: tuple[int, int]) -> Pixels:
    """The encoded picture `data` as the model's input tensor, uint8 [1, height, width, channels].

    `size` is (height, width).

    Raises DecodeError (`unsupported-picture`, `picture-too-large`, `broken-picture`,
    `nothing-drawn`) saying what is wrong with the picture.
    """
    picture = open_picture(data)
    rgb = lay_on(turn(picture), spec.background)
    match spec.kind:
        case "image":
            pixels = np.asarray(fit_image(rgb, spec, size))
        case "drawing":
            pixels = fit_drawing(np.asarray(rgb), spec, size)[..., None]
        case _:
            assert_never(spec)
    return np.ascontiguousarray(pixels[None])


def tensor_size(tensor: Tensor) -> tuple[int, int]:
    """(height, width) of an NHWC input tensor."""
    shape = tensor.shape
    if shape is None or len(shape) != 4 or not all(isinstance(size, int) for size in shape[1:3]):
        raise ValueError(f"{tensor.name}: shape {shape} is not [batch, height, width, channels]")
    return int(str(shape[1])), int(str(shape[2]))


def open_picture(data: bytes) -> Image.Image:
    """The first frame, decoded whole; refuses what decoders do not agree on."""
    header = read_header(data)
    try:
        picture = Image.open(io.BytesIO(data), formats=[header.format])
        picture.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise broken(str(error)) from error
    return picture


def turn(picture: Image.Image) -> Image.Image:
    """The picture with its EXIF orientation applied once; other metadata (XMP) does not count."""
    method = TURNS.get(_orientation(picture.info.get("exif")))
    return picture if method is None else picture.transpose(method)


def _orientation(exif: bytes | None) -> int:
    found = Image.Exif()
    try:
        found.load(exif or b"")
        return int(found.get(ORIENTATION_TAG, 1))
    except (SyntaxError, struct.error, ValueError, TypeError, OSError):
        return 1  # damaged EXIF says nothing


def lay_on(picture: Image.Image, background: list[int]) -> Image.Image:
    """RGB, transparent parts laid on the background colour (Pillow's paste arithmetic)."""
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    rgba = picture.convert("RGBA")
    ground = Image.new("RGB", rgba.size, (background[0], background[1], background[2]))
    ground.paste(rgba.convert("RGB"), mask=rgba.getchannel("A"))
    return ground


def fit_image(rgb: Image.Image, spec: ImageInput, size: tuple[int, int]) -> Image.Image:
    """The picture at `size` (height, width): stretched, letterboxed, or its centred window."""
    height, width = size
    method = FILTERS[spec.resize.filter]
    if spec.fit == "letterbox":
        return letterbox(rgb, method, size, spec.padding)
    if spec.resize.short_side is None:
        return rgb.resize((width, height), method)
    resized = rgb.resize(short_side_size(rgb.size, spec.resize.short_side), method)
    left, top = (_half_even(resized.width - width), _half_even(resized.height - height))
    return resized.crop((left, top, left + width, top + height))


def letterbox(
    rgb: Image.Image, method: Image.Resampling, size: tuple[int, int], padding: list[int]
) -> Image.Image:
    """Aspect kept, centred, the rest in the padding's colour."""
    height, width = size
    new_width, new_height = letterbox_size(rgb.size, size)
    ground = Image.new("RGB", (width, height), (padding[0], padding[1], padding[2]))
    place = ((width - new_width) // 2, (height - new_height) // 2)
    ground.paste(rgb.resize((new_width, new_height), method), place)
    return ground


def letterbox_size(picture: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """(width, height) of a picture (width, height) in a tensor (height, width), halves up."""
    w, h = picture
    height, width = size
    if w * height >= h * width:
        return width, max(1, (2 * h * width + w) // (2 * w))
    return max(1, (2 * w * height + h) // (2 * h)), height


def short_side_size(size: tuple[int, int], short_side: int) -> tuple[int, int]:
    """(width, height) after the shorter side became `short_side`, aspect kept, rounded down."""
    width, height = size
    if width <= height:
        return short_side, short_side * height // width
    return short_side * width // height, short_side


def _half_even(difference: int) -> int:
    return round(difference / 2)


def fit_drawing(rgb: Pixels, spec: DrawingInput, size: tuple[int, int]) -> Pixels:
    """Grey, light ink on dark ground, uint8 [height, width]."""
    grey = to_grey(rgb)
    if spec.ink == "dark-on-light" or (spec.ink == "auto" and _is_light(_border(grey))):
        grey = 255 - grey
    if spec.fit == "ink":
        grey = ink_square(grey)
    height, width = size
    return np.asarray(Image.fromarray(grey).resize((width, height), FILTERS[spec.resize.filter]))


def to_grey(rgb: Pixels) -> Pixels:
    """ITU-R 601 luma in Pillow's 16-bit fixed point."""
    weights = np.array([19595, 38470, 7471], np.uint32)
    return ((rgb.astype(np.uint32) @ weights + 0x8000) >> 16).astype(np.uint8)


def _border(grey: Pixels) -> Pixels:
    inner = np.zeros(grey.shape, bool)
    inner[1:-1, 1:-1] = True
    return grey[~inner]


def _is_light(values: Pixels) -> bool:
    return 2 * int(values.sum(dtype=np.int64)) > 255 * values.size


def ink_square(grey: Pixels) -> Pixels:
    """The square around the ink; DecodeError `nothing-drawn` when there is none."""
    rows, columns = np.flatnonzero((grey >= INK).any(1)), np.flatnonzero((grey >= INK).any(0))
    if rows.size == 0:
        raise DecodeError(
            f"no pixel reaches a grey value of {INK}: nothing is drawn", code="nothing-drawn"
        )
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    left, right = int(columns[0]), int(columns[-1]) + 1
    up, down = INK_SQUARE
    side = (up * max(bottom - top, right - left) + down - 1) // down
    return window(grey, left + (right - left - side) // 2, top + (bottom - top - side) // 2, side)


def window(grey: Pixels, left: int, top: int, side: int) -> Pixels:
    """A square of `grey`, 0 where it reaches beyond the picture."""
    square = np.zeros((side, side), np.uint8)
    height, width = grey.shape
    x0, x1 = max(left, 0), min(left + side, width)
    y0, y1 = max(top, 0), min(top + side, height)
    square[y0 - top : y1 - top, x0 - left : x1 - left] = grey[y0:y1, x0:x1]
    return square
