"""What can be found out about a trained model without its maker."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from export.contract import Filter
from export.recipe.source import SourceKind
from export.tensors import Array


@dataclass(frozen=True)
class Port:
    """An input or output as the file tells it; a free dimension is None or has a name."""

    name: str
    dtype: str
    shape: tuple[int | str | None, ...] | None
    made_by: str = ""
    """The last operator of an output, where it is known: "Softmax" needs no other."""


@dataclass(frozen=True)
class PictureFacts:
    """Pre-processing as a preprocessor_config.json tells it."""

    filter: Filter = "bilinear"
    short_side: int | None = None
    crop: int | None = None
    scale: str = "1/255"
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)


@dataclass(frozen=True)
class Looked:
    """One trained model.

    `files`: what has to lie beside the recipe (name there: where it is now). None and empty mean
    that the file does not tell.
    """

    kind: SourceKind
    file: str
    files: dict[str, Path]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    framework: str
    labels: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    picture: PictureFacts | None = None
    tokenizer: str | None = None
    max_tokens: int | None = None
    reshapes: bool = False
    """Whether the source gives [batch, n] to a network that takes [batch, n, 1]."""
    notes: tuple[str, ...] = field(default=())


def sums_to_one(answers: Array) -> bool:
    """Whether rows of answers are probabilities, whatever operators made them."""
    rows = answers.reshape(len(answers), -1) if answers.ndim else answers.reshape(1, 1)
    if rows.dtype.kind != "f" or rows.shape[1] < 2 or not np.isfinite(rows).all():
        return False
    return bool(rows.min() >= 0 and np.allclose(rows.sum(1), 1, atol=1e-4))
