"""What can be found out about a trained model without its maker."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from export.contract import Filter
from export.recipe.source import SourceKind


@dataclass(frozen=True)
class Port:
    """An input or output as the file tells it; a free dimension is None or has a name."""

    name: str
    dtype: str
    shape: tuple[int | str | None, ...] | None


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
    ends_with: str = ""
    """The last operator, where it is known: "Softmax" needs no other."""
    labels: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    picture: PictureFacts | None = None
    tokenizer: str | None = None
    max_tokens: int | None = None
    notes: tuple[str, ...] = field(default=())
