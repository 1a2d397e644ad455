"""A small convolutional network for pictures of clothes, trained here in a few minutes."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from PIL import Image, ImageOps
from torch import nn

from export.sample import Sample, SourceContext

EPOCHS, BATCH, SEED = 11, 128, 7
SIDE = 28
FOLDER = "usr/share/datasets/fashion-mnist"

Pictures = npt.NDArray[np.uint8]


def network() -> nn.Sequential:
    """61,178 weights: four convolutions, each with batch normalisation, and one dense layer."""

    def block(inputs: int, outputs: int) -> list[nn.Module]:
        return [
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        ]

    return nn.Sequential(
        *block(3, 16), nn.MaxPool2d(2),
        *block(16, 32), nn.MaxPool2d(2),
        *block(32, 64), *block(64, 64),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(64, 10),
    )  # fmt: skip


def model(context: SourceContext) -> nn.Module:
    """The trained network: float [batch, 3, 28, 28], normalised, to logits [batch, 10]."""
    net = network()
    weights = context.cache / "weights.pt"
    if not weights.exists():
        train(net, context)
        unfinished = weights.with_suffix(".part")
        torch.save(net.state_dict(), unfinished)
        unfinished.replace(weights)
    net.load_state_dict(torch.load(weights, weights_only=True))
    return net.eval()


def train(net: nn.Sequential, context: SourceContext) -> None:
    """Train on the 60,000 pictures of the training set."""
    torch.manual_seed(SEED)
    weight = net[0].get_parameter("weight").data
    # The training pictures are grey, so all three channels learn the same from one beginning: the
    # network sees the mean of a photo's colours.
    weight[:] = weight.mean(1, keepdim=True)
    pictures, labels = load(context, "train")
    pixels = normalise(torch.tensor(pictures)[:, None] / 255)
    answers = torch.tensor(labels.astype(np.int64))
    steps = EPOCHS * -(-len(pixels) // BATCH)
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 8e-3, total_steps=steps)
    net.train()
    for _ in range(EPOCHS):
        for chosen in torch.split(torch.randperm(len(pixels)), BATCH):
            scores = net(augment(pixels[chosen]).expand(-1, 3, -1, -1))
            loss = F.cross_entropy(scores, answers[chosen], label_smoothing=0.05)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            schedule.step()


def augment(pixels: torch.Tensor) -> torch.Tensor:
    """As people photograph: mirrored, nearer or farther, off the centre, on a light ground too."""
    count = len(pixels)
    mirror = torch.where(torch.rand(count) < 0.5, -1.0, 1.0)
    size = 0.92 + 0.16 * torch.rand(count)
    shift = (torch.rand(2, count) - 0.5) * 0.15
    zero = torch.zeros(count)
    rows = [mirror * size, zero, shift[0], zero, size, shift[1]]
    grid = F.affine_grid(
        torch.stack(rows, 1).view(-1, 2, 3), list(pixels.shape), align_corners=False
    )
    moved = F.grid_sample(pixels, grid, padding_mode="border", align_corners=False)
    light = torch.where(torch.rand(count, 1, 1, 1) < 0.3, -1.0, 1.0)  # the negative
    return moved * light


def normalise(pixels: torch.Tensor) -> torch.Tensor:
    """From 0..1 to -1..1."""
    return (pixels - 0.5) / 0.5


def reference(context: SourceContext, pictures: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Probabilities [pictures, 10] by PyTorch, with the pre-processing used in training."""
    net = model(context)
    pixels = torch.tensor(np.stack([prepare(picture) for picture in pictures]))
    pixels = normalise(pixels.permute(0, 3, 1, 2) / 255)
    with torch.inference_mode():
        answers: npt.NDArray[np.float32] = net(pixels).softmax(1).numpy()
    return answers


def prepare(picture: bytes) -> Pictures:
    """The longer side to 28 pixels, the rest white: uint8 [28, 28, 3]."""
    rgb = ImageOps.exif_transpose(Image.open(io.BytesIO(picture))).convert("RGB")
    longer = max(rgb.size)
    width, height = (max(1, (2 * side * SIDE + longer) // (2 * longer)) for side in rgb.size)
    square = Image.new("RGB", (SIDE, SIDE), "white")
    resized = rgb.resize((width, height), Image.Resampling.BILINEAR)
    square.paste(resized, ((SIDE - width) // 2, (SIDE - height) // 2))
    return np.asarray(square)


def load(context: SourceContext, which: str) -> tuple[Pictures, Pictures]:
    """Fashion-MNIST's "train" or "t10k": pictures uint8 [n, 28, 28] and labels [n]."""
    folder = context.packages["dataset-fashion-mnist"] / FOLDER

    def stored(name: str, header: int) -> Pictures:
        values = gzip.decompress((folder / f"{which}-{name}-ubyte.gz").read_bytes())
        return np.frombuffer(values, np.uint8, offset=header)

    return stored("images-idx3", 16).reshape(-1, SIDE, SIDE), stored("labels-idx1", 8)


def png(picture: Pictures | Image.Image) -> bytes:
    """A picture as a PNG file."""
    buffer = io.BytesIO()
    image = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    image.save(buffer, "PNG")
    return buffer.getvalue()


def labelled(context: SourceContext) -> list[Sample]:
    """The 10,000 pictures of the test set."""
    return [
        Sample(f"test-{number:04}", png(picture), int(label))
        for number, (picture, label) in enumerate(zip(*load(context, "t10k"), strict=True))
    ]


def calibration(context: SourceContext) -> list[Sample]:
    """300 pictures of the training set, every third as its negative: on a light ground."""
    pictures, labels = load(context, "train")
    chosen = range(0, len(pictures), len(pictures) // 300)
    return [
        Sample(
            f"training-{number:05}",
            png(255 - pictures[number] if place % 3 == 0 else pictures[number]),
            int(labels[number]),
        )
        for place, number in enumerate(chosen)
    ]


def examples(context: SourceContext) -> list[Sample]:
    """Test pictures of each kind, and some as people have them: larger, oblong, on white."""
    pictures, labels = load(context, "t10k")
    names = ("a T-shirt", "trousers", "a pullover", "a dress", "a coat", "a sandal", "a shirt",
             "a sneaker", "a bag", "an ankle boot")  # fmt: skip
    chosen = []
    for label, name in enumerate(names):
        shown, other = np.flatnonzero(labels == label)[:2]
        chosen += [
            Sample(f"test-{shown:04}", png(pictures[shown]), label, f"Picture of {name}"),
            Sample(f"test-{other:04}", png(pictures[other]), label, f"Another of {name}", False),
        ]
    light = Image.fromarray(255 - pictures[np.flatnonzero(labels == 0)[2]])
    large = light.resize((350, 350), Image.Resampling.BICUBIC)
    boot = Image.fromarray(255 - pictures[np.flatnonzero(labels == 9)[2]])
    narrow = Image.fromarray(255 - pictures[np.flatnonzero(labels == 1)[2]]).crop((7, 0, 21, 28))
    return [
        *chosen,
        Sample("on-white", png(large), 0, "A T-shirt on white, 350 x 350 pixels"),
        Sample("wide", png(boot.crop((0, 6, 28, 28))), 9, "An ankle boot on white, wide", False),
        Sample("narrow", png(narrow.resize((61, 122))), 1, "Trousers on white, narrow", False),
    ]
