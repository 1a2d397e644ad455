"""Our resizer in the browser against Pillow: no byte may differ."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
from PIL import Image

from export.browser import VerifyPage
from export.decode.pixels import FILTERS, Pixels

CASES = 600
BATCH = 50


def random_case(random: np.random.Generator) -> tuple[dict[str, Any], Pixels]:
    """One case for the page, and Pillow's answer: any size, filter, content, window."""
    width, height = (int(n) for n in random.integers(1, 97, 2))
    wide, high = (int(n) for n in random.integers(1, 97, 2))
    channels = int(random.choice([1, 3]))
    name = str(random.choice(list(FILTERS)))
    shape = (height, width) if channels == 1 else (height, width, 3)
    pixels = CONTENTS[int(random.integers(len(CONTENTS)))](random, shape)
    right = np.asarray(Image.fromarray(pixels).resize((wide, high), FILTERS[name]))
    x, y = int(random.integers(wide)), int(random.integers(high))
    w, h = int(random.integers(1, wide - x + 1)), int(random.integers(1, high - y + 1))
    case = {
        "data": base64.b64encode(pixels.tobytes()).decode(), "width": width, "height": height,
        "channels": channels, "filter": name, "size": [wide, high], "window": [x, y, w, h],
    }  # fmt: skip
    return case, right[y : y + h, x : x + w]


def noise(random: np.random.Generator, shape: tuple[int, ...]) -> Pixels:
    return random.integers(0, 256, shape, dtype=np.uint8)


def extremes(random: np.random.Generator, shape: tuple[int, ...]) -> Pixels:
    """Only 0 and 255: lanczos and bicubic overshoot and must be clipped."""
    return (random.integers(0, 2, shape, dtype=np.uint8) * 255).astype(np.uint8)


def ramp(random: np.random.Generator, shape: tuple[int, ...]) -> Pixels:
    slope = random.uniform(-5, 5, 2)
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    plane = np.clip(slope[0] * rows + slope[1] * columns + 128, 0, 255).astype(np.uint8)
    return np.ascontiguousarray(
        np.broadcast_to(plane.reshape(*plane.shape, *[1] * (len(shape) - 2)), shape)
    )


CONTENTS = (noise, extremes, ramp)


@pytest.mark.parametrize("seed", range(CASES // BATCH))
def test_no_byte_differs_from_pillow(page: VerifyPage, seed: int) -> None:
    random = np.random.default_rng(seed)
    cases = [random_case(random) for _ in range(BATCH)]
    answers = page.call("resize", [case for case, _ in cases])
    differing = [
        (case["filter"], case["width"], case["height"], case["size"])
        for (case, right), answer in zip(cases, answers, strict=True)
        if base64.b64decode(answer) != right.tobytes()
    ]
    assert differing == []
