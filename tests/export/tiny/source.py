"""A linear model fitted to the golden examples of digits, which lie beside it as pictures/."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import nn

from export.sample import Sample, SourceContext


def pictures(context: SourceContext) -> list[Sample]:
    paths = sorted((Path(__file__).parent / "pictures").glob("*.png"))
    return [Sample(path.stem, path.read_bytes(), int(path.stem.split("-")[1])) for path in paths]


def model(context: SourceContext) -> nn.Module:
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
    weights = context.cache / "weights.pt"
    if not weights.exists():  # fitted twice, two runs may differ in the last bits
        fit(net, pictures(context))
        torch.save(net.state_dict(), weights)
    net.load_state_dict(torch.load(weights, weights_only=True))
    return net


def fit(net: nn.Module, samples: list[Sample]) -> None:
    torch.manual_seed(1)
    optimiser = torch.optim.Adam(net.parameters(), 0.01)
    pixels, labels = prepared([s.data for s in samples]), torch.tensor([s.label for s in samples])
    for _ in range(60):
        optimiser.zero_grad()
        torch.autograd.backward(nn.functional.cross_entropy(net(pixels), labels))
        optimiser.step()


def reference(context: SourceContext, files: Sequence[bytes]) -> npt.NDArray[np.float32]:
    net = model(context).eval()
    with torch.inference_mode():
        answers: npt.NDArray[np.float32] = net(prepared(files)).softmax(1).numpy()
    return answers


def prepared(files: Sequence[bytes]) -> torch.Tensor:
    greys = [np.array(Image.open(io.BytesIO(file)).convert("L")) for file in files]
    return torch.tensor(np.stack(greys))[:, None] / 255
