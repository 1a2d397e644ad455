"""A small convolutional network for pictures of clothes, trained here in two minutes."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn

from export.sample import Sample, SourceContext

EPOCHS, BATCH, SEED = 8, 256, 3
FOLDER = "usr/share/datasets/fashion-mnist"
LUMA = (0.299, 0.587, 0.114)
KINDS = (
    "T-shirt or top", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "trainer", "bag",
    "ankle boot",
)  # fmt: skip

Pictures = npt.NDArray[np.uint8]


class Clothes(nn.Module):
    """RGB [batch, 3, 28, 28] of 0..1 to logits [batch, 10].

    The data set's clothes lie on black. Photographs of shops lie on white, so a picture whose
    border is light is turned into its negative first.
    """

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("luma", torch.tensor(LUMA).view(1, 3, 1, 1))
        border = torch.ones(1, 1, 28, 28)
        border[:, :, 1:-1, 1:-1] = 0
        self.register_buffer("border", border / border.sum())
        self.layers = nn.Sequential(
            *block(1, 16), nn.MaxPool2d(2),
            *block(16, 32), nn.MaxPool2d(2),
            *block(32, 64), *block(64, 64), nn.MaxPool2d(2),
            nn.Flatten(), nn.Dropout(0.2), nn.Linear(64 * 9, 10),
        )  # fmt: skip

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        grey = (pictures * self.get_buffer("luma")).sum(1, keepdim=True)
        light = (grey * self.get_buffer("border")).sum((1, 2, 3), keepdim=True) > 0.5
        scores: torch.Tensor = self.layers(torch.where(light, 1 - grey, grey))
        return scores


def block(inputs: int, outputs: int) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
    return [convolution, nn.BatchNorm2d(outputs), nn.ReLU()]


def labels(context: SourceContext) -> list[str]:
    return list(KINDS)


def model(context: SourceContext) -> nn.Module:
    """The trained network; its weights are kept in the cache."""
    net = Clothes()
    weights = context.cache / "weights.pt"
    if not weights.exists():
        train(net, context)
        unfinished = weights.with_suffix(".part")
        torch.save(net.state_dict(), unfinished)
        unfinished.replace(weights)
    net.load_state_dict(torch.load(weights, weights_only=True))
    return net.eval()


def train(net: nn.Module, context: SourceContext) -> None:
    """Train on the 60,000 training pictures, as they are, mirrored and moved by two pixels."""
    torch.manual_seed(SEED)
    pictures, kinds = load(context, "train")
    pixels = torch.tensor(pictures)[:, None].expand(-1, 3, -1, -1)
    answers = torch.tensor(kinds)
    steps = EPOCHS * -(-len(pixels) // BATCH)
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps)
    net.train()
    for _ in range(EPOCHS):
        for chosen in torch.split(torch.randperm(len(pixels)), BATCH):
            scores = net(augment(pixels[chosen] / 255))
            loss = F.cross_entropy(scores, answers[chosen], label_smoothing=0.05)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            schedule.step()


def augment(pixels: torch.Tensor) -> torch.Tensor:
    """Half of them mirrored, all moved by up to two pixels."""
    mirrored = torch.where(torch.rand(len(pixels), 1, 1, 1) < 0.5, pixels.flip(3), pixels)
    across, down = torch.randint(-2, 3, (2,)).tolist()
    return mirrored.roll((down, across), (2, 3))


def reference(context: SourceContext, encoded: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Probabilities [pictures, 10] by PyTorch and Pillow."""
    net = model(context)
    pixels = torch.tensor(np.stack([prepare(picture) for picture in encoded]))
    with torch.inference_mode():
        parts = [
            net(part.permute(0, 3, 1, 2) / 255).softmax(1) for part in torch.split(pixels, 500)
        ]
    return torch.cat(parts).numpy()


def prepare(encoded: bytes) -> Pictures:
    picture = Image.open(io.BytesIO(encoded)).convert("RGB")
    return np.asarray(picture.resize((28, 28), Image.Resampling.BILINEAR))


def load(context: SourceContext, part: str) -> tuple[Pictures, list[int]]:
    """The pictures, uint8 [count, 28, 28], and what they show; `part` is train or t10k."""
    folder = context.packages["dataset-fashion-mnist"] / FOLDER
    pixels = gzip.decompress((folder / f"{part}-images-idx3-ubyte.gz").read_bytes())[16:]
    kinds = gzip.decompress((folder / f"{part}-labels-idx1-ubyte.gz").read_bytes())[8:]
    return np.frombuffer(pixels, np.uint8).reshape(-1, 28, 28).copy(), list(kinds)


def samples(context: SourceContext, part: str, step: int, prefix: str) -> list[Sample]:
    pictures, kinds = load(context, part)
    return [
        Sample(f"{prefix}-{i:05}", png(pictures[i]), kinds[i], KINDS[kinds[i]])
        for i in range(0, len(pictures), step)
    ]


def labelled(context: SourceContext) -> list[Sample]:
    """The 10,000 test pictures, never trained on."""
    return samples(context, "t10k", 1, "test")


def calibration(context: SourceContext) -> list[Sample]:
    """300 of the training pictures."""
    return samples(context, "train", 200, "training")


def examples(context: SourceContext) -> list[Sample]:
    """Two test pictures of each kind; the first of each is shown."""
    chosen = labelled(context)
    picked: list[Sample] = []
    for kind in range(len(KINDS)):
        mine = [sample for sample in chosen if sample.label == kind][5:7]
        picked += [mine[0], Sample(mine[1].id, mine[1].data, kind, mine[1].title, shown=False)]
    return picked


def png(picture: Pictures) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG")
    return buffer.getvalue()
