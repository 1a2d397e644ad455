"""A small convolutional network for handwritten digits, trained here in a few minutes."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from PIL import Image, ImageOps
from torch import nn

from export.sample import Sample, SourceContext

MEAN, STD = 0.1307, 0.3081
EPOCHS, BATCH, SEED = 24, 128, 7
HELD_OUT_EVERY = 5  # one digit in five, 2,000 of 10,000, is never trained on

Digits = npt.NDArray[np.uint8]


def network() -> nn.Sequential:
    """77,722 weights: four convolutions, each with batch normalisation, and one dense layer."""

    def block(inputs: int, outputs: int) -> list[nn.Module]:
        return [
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        ]

    return nn.Sequential(
        *block(1, 16), nn.MaxPool2d(2),
        *block(16, 48), *block(48, 64), nn.MaxPool2d(2),
        *block(64, 64), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(64 * 9, 10),
    )  # fmt: skip


def model(context: SourceContext) -> nn.Module:
    """The trained network: float [batch, 1, 28, 28], normalised, to logits [batch, 10]."""
    net = network()
    weights = context.cache / "weights.pt"
    if not weights.exists():
        train(net, context)
        unfinished = weights.with_suffix(".part")
        torch.save(net.state_dict(), unfinished)
        unfinished.replace(weights)
    net.load_state_dict(torch.load(weights, weights_only=True))
    return net.eval()


def train(net: nn.Module, context: SourceContext) -> None:
    """Train on the 8,000 digits that are not held out."""
    torch.manual_seed(SEED)
    digits, labels = load(context, held_out=False)
    pixels = torch.tensor(np.stack([prepare(png(digit)) for digit in digits]))[:, None] / 255
    answers = torch.tensor(labels)
    steps = EPOCHS * -(-len(pixels) // BATCH)
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps)
    net.train()
    for _ in range(EPOCHS):
        for chosen in torch.split(torch.randperm(len(pixels)), BATCH):
            scores = net(normalise(augment(pixels[chosen])))
            loss = F.cross_entropy(scores, answers[chosen], label_smoothing=0.05)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            schedule.step()


def augment(pixels: torch.Tensor) -> torch.Tensor:
    """As people draw with a mouse: turned, leaning, narrow or wide, thick or thin strokes."""
    count = len(pixels)
    turn = (torch.rand(count) - 0.5) * 0.6
    lean = (torch.rand(count) - 0.5) * 0.5
    wide, high = (0.8 + 0.5 * torch.rand(2, count)).unbind()
    shift = (torch.rand(count, 2) - 0.5) * 0.2
    cos, sin = turn.cos(), turn.sin()
    rows = [wide * cos, wide * (lean - sin), shift[:, 0], high * sin, high * cos, shift[:, 1]]
    grid = F.affine_grid(
        torch.stack(rows, 1).view(-1, 2, 3), list(pixels.shape), align_corners=False
    )
    moved = F.grid_sample(pixels, grid, align_corners=False)
    thick = F.max_pool2d(moved, 3, 1, 1)
    thin = -F.max_pool2d(-moved, 2, 1, 0)
    thin = F.pad(thin, (0, 1, 0, 1))
    how = torch.rand(count, 1, 1, 1)
    blend = torch.rand(count, 1, 1, 1)
    target = torch.where(how < 0.35, thick, torch.where(how > 0.75, thin, moved))
    return moved + (target - moved) * blend


def normalise(pixels: torch.Tensor) -> torch.Tensor:
    """To mean 0 and deviation 1 over the training digits."""
    return (pixels - MEAN) / STD


def reference(context: SourceContext, pictures: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Probabilities [pictures, 10] by PyTorch, with the pre-processing used in training."""
    net = model(context)
    pixels = torch.tensor(np.stack([prepare(picture) for picture in pictures]))[:, None] / 255
    with torch.inference_mode():
        batches = [net(normalise(part)).softmax(1) for part in torch.split(pixels, 250)]
    return torch.cat(batches).numpy()


def prepare(picture: bytes) -> Digits:
    """Light ink on dark ground, the ink's longer side 20 of 28 pixels, centred: uint8 [28, 28]."""
    grey = Image.open(io.BytesIO(picture)).convert("L")
    border = np.asarray(grey).astype(int)
    border[1:-1, 1:-1] = -1
    if border[border >= 0].mean() > 127.5:
        grey = ImageOps.invert(grey)
    box = grey.point(lambda value: 255 if value >= 64 else 0).getbbox()
    if box is None:
        raise ValueError("nothing is drawn")
    left, top, right, bottom = box
    side = (7 * max(right - left, bottom - top) + 4) // 5
    left += (right - left - side) // 2
    top += (bottom - top - side) // 2
    square = grey.crop((left, top, left + side, top + side))
    return np.asarray(square.resize((28, 28), Image.Resampling.BILINEAR))


def load(context: SourceContext, *, held_out: bool) -> tuple[list[Digits], list[int]]:
    """The digits as stored, uint8 [28, 28] each, and what they are."""
    digits: list[Digits] = []
    labels: list[int] = []
    number = -1
    for label in range(10):
        values = json.loads((context.packages["mnist"] / f"src/digits/{label}.json").read_text())
        stored = np.round(np.array(values["data"]) * 255).astype(np.uint8).reshape(-1, 28, 28)
        for digit in stored:
            number += 1
            if (number % HELD_OUT_EVERY == 0) == held_out:
                digits.append(digit)
                labels.append(label)
    return digits, labels


def png(digit: Digits) -> bytes:
    """One digit as a PNG file."""
    buffer = io.BytesIO()
    Image.fromarray(digit).save(buffer, "PNG")
    return buffer.getvalue()


def labelled(context: SourceContext) -> list[Sample]:
    """The 2,000 digits held out."""
    digits, labels = load(context, held_out=True)
    return [
        Sample(f"digit-{number:04}", png(digit), label)
        for number, (digit, label) in enumerate(zip(digits, labels, strict=True))
    ]


def calibration(context: SourceContext) -> list[Sample]:
    """300 digits of those trained on."""
    digits, labels = load(context, held_out=False)
    step = len(digits) // 300
    return [
        Sample(f"training-{number:04}", png(digits[number * step]), labels[number * step])
        for number in range(300)
    ]


def examples(context: SourceContext) -> list[Sample]:
    """Two held-out digits of each kind, and drawings as the page's pad would give them."""
    digits, labels = load(context, held_out=True)
    chosen = []
    for label in range(10):
        for place, number in enumerate(
            [n for n, other in enumerate(labels) if other == label][3:5]
        ):
            name, title = f"digit-{label}-{number:04}", f"A handwritten {label}"
            chosen.append(Sample(name, png(digits[number]), label, title, shown=place == 0))
    folder = Path(__file__).parent / "drawings"
    for path in sorted(folder.glob("*.png")):
        label = int(path.stem[-1])
        chosen.append(Sample(path.stem, path.read_bytes(), label, f"A {label} in strokes on a pad"))
    return chosen
