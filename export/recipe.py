"""recipe.toml: what an engineer writes about a trained model. docs/add-a-model.md explains it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from export.contract import NAME_PATTERN, Filter, Strict, VariantName
from export.errors import RecipeError

Entry = Annotated[str, Field(pattern=r"^source:[A-Za-z_][A-Za-z0-9_]*$")]
Side = Annotated[int, Field(ge=1, le=4096)]
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]

COLOURS = {"white": [255, 255, 255], "black": [0, 0, 0], "grey": [128, 128, 128]}


class SourceSection(Strict):
    """Where the trained model comes from."""

    kind: Literal["torch"]
    entry: Entry
    reference: Entry = Field(
        description="Pictures in, probabilities out, by the training framework's own code."
    )
    requires: list[str] = []


class ResizeSection(Strict):
    """`short_side` keeps the aspect; without it the picture is stretched."""

    filter: Filter = "bilinear"
    short_side: Side | None = None


class CropSection(Strict):
    """The centred window that remains."""

    centre: Side


class TensorSection(Strict):
    """From uint8 pixels to what the network was trained on; joined into the graph."""

    size: Annotated[list[Side], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="[height, width]; not needed with crop."
    )
    channels: Literal["RGB", "BGR", "grey"] = "RGB"
    layout: Literal["NCHW", "NHWC"] = "NCHW"
    scale: str | float = "1/255"
    mean: list[float] = [0.0]
    std: list[Positive] = [1.0]

    @model_validator(mode="after")
    def _per_channel(self) -> Self:
        count = 1 if self.channels == "grey" else 3
        for name, values in (("mean", self.mean), ("std", self.std)):
            if len(values) not in (1, count):
                raise ValueError(f"{name} has {len(values)} values; give 1 or {count}")
        self.scale_value()
        return self

    def scale_value(self) -> float:
        """`scale` as a number; "1/255" is a fraction."""
        if isinstance(self.scale, float):
            return self.scale
        try:
            upper, _, lower = self.scale.partition("/")
            return float(upper) / float(lower or 1)
        except (ValueError, ZeroDivisionError):
            raise ValueError(f'scale = "{self.scale}": give a number or "1/255"') from None


class InputSection(Strict):
    """Which decoder, with every policy named."""

    kind: Literal["image", "drawing"]
    resize: ResizeSection = ResizeSection()
    crop: CropSection | None = None
    orientation: Literal["exif"] = "exif"
    background: str | list[int] = "white"
    colour_profile: Literal["ignore"] = "ignore"
    ink: Literal["light-on-dark", "dark-on-light", "auto"] = "auto"
    fit: Literal["stretch", "ink"] = "stretch"
    tensor: TensorSection

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self.background_rgb()
        if (self.crop is None) == (self.tensor.size is None):
            raise ValueError("give either crop = { centre = N } or tensor.size = [height, width]")
        if (self.crop is None) != (self.resize.short_side is None):
            raise ValueError("crop and resize.short_side belong together")
        if self.crop and (self.resize.short_side or 0) < self.crop.centre:
            raise ValueError(
                f"crop.centre = {self.crop.centre} reaches beyond "
                f"resize.short_side = {self.resize.short_side}; make short_side at least as large"
            )
        if (self.kind == "drawing") != (self.tensor.channels == "grey"):
            raise ValueError('a drawing has tensor.channels = "grey", an image "RGB" or "BGR"')
        return self

    def size(self) -> tuple[int, int]:
        """(height, width) of the input tensor."""
        if self.crop:
            return self.crop.centre, self.crop.centre
        height, width = self.tensor.size or (0, 0)
        return height, width

    def background_rgb(self) -> list[int]:
        """The background colour as three values of 0..255."""
        if isinstance(self.background, str):
            if self.background not in COLOURS:
                raise ValueError(
                    f'background = "{self.background}"; give {", ".join(COLOURS)} or [r, g, b]'
                )
            return COLOURS[self.background]
        if len(self.background) != 3 or not all(0 <= value <= 255 for value in self.background):
            raise ValueError(f"background = {self.background}; give [r, g, b], each 0 to 255")
        return self.background


class OutputSection(Strict):
    """What the network's raw output means; softmax and top-k are joined into the graph."""

    kind: Literal["scores"]
    activation: Literal["softmax", "none"] = "softmax"
    labels: str = Field(description='A text file, one label a line, or "source:function".')
    top_k: Annotated[int, Field(ge=1)] = 5
    ask_a_person_below: Share | None = None


class DataSection(Strict):
    """Functions in source.py that return real data as lists of Sample."""

    about: str = Field(description="What data this is, and its licence; goes into the model card.")
    calibration: Entry
    labelled: Entry
    examples: Entry


class VariantsSection(Strict):
    """Which model files to make, and by which rule the best is picked."""

    offer: list[VariantName] = ["fp32", "fp16", "q8"]
    prefer: Literal["smallest", "fastest", "most-accurate"] = "smallest"
    keep_fp32: list[str] = Field(
        default=[],
        description='What q8 leaves in float: "first-layer", "depthwise", or names of nodes.',
    )

    @model_validator(mode="after")
    def _fp32_is_the_yardstick(self) -> Self:
        if "fp32" not in self.offer or len(set(self.offer)) != len(self.offer):
            raise ValueError(f"offer = {self.offer}: name fp32 and each variant once")
        return self


class Limits(Strict):
    """What must hold for a variant on a backend. None: told in the evidence, not judged."""

    max_difference: Positive | None = Field(
        default=None, description="Of a probability to the framework's."
    )
    label_agreement: Share | None = Field(default=None, description="Share, to the framework.")
    accuracy: Share | None = Field(default=None, description="Share right on labelled data.")
    accuracy_loss_points: float | None = Field(
        default=None, description="Against fp32, in points of 100, on labelled data."
    )
    size_mb: Positive | None = None
    size_vs_fp32: Positive | None = None


class LimitsSection(Strict):
    """Limits for all variants, then for one variant; what is more special wins.

    `webgpu` holds limits that replace these on that backend (its arithmetic differs).
    """

    all: Limits = Limits()
    fp32: Limits = Limits()
    fp16: Limits = Limits()
    q8: Limits = Limits()
    webgpu: dict[Literal["all", "fp32", "fp16", "q8"], Limits] = {}

    def of(self, variant: VariantName, *, webgpu: bool = False) -> Limits:
        """The limits in force for a variant, on webgpu or anywhere else."""
        layers = [self.all, {"fp32": self.fp32, "fp16": self.fp16, "q8": self.q8}[variant]]
        if webgpu:
            layers += [self.webgpu[key] for key in ("all", variant) if key in self.webgpu]
        merged: dict[str, float] = {}
        for layer in layers:
            merged |= layer.model_dump(exclude_none=True)
        return Limits.model_validate(merged)


class BrowserSection(Strict):
    """Where verify runs the page; webgpu is slow without a GPU, so it sees few examples."""

    webgpu: bool = True
    webgpu_examples: Annotated[int, Field(ge=1)] = 4


class RecipeFile(Strict):
    """The whole of recipe.toml."""

    title: str
    description: str
    task: Literal["image-classification"]
    licence: str
    source: SourceSection
    input: InputSection
    output: OutputSection
    data: DataSection
    variants: VariantsSection = VariantsSection()
    browser: BrowserSection = BrowserSection()
    limits: LimitsSection


@dataclass(frozen=True)
class Recipe:
    """A recipe and where it lies."""

    name: str
    folder: Path
    file: RecipeFile


def read_recipe(models: Path, name: str) -> Recipe:
    """Read models/<name>/recipe.toml; RecipeError names each wrong field, and what is there."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise RecipeError(
            f"{name!r} cannot be a model's name: small letters, digits and hyphens, "
            "beginning with a letter, at most 63; rename its folder"
        )
    path = models / name / "recipe.toml"
    if not path.exists():
        known = ", ".join(sorted(p.parent.name for p in models.glob("*/recipe.toml"))) or "none"
        raise RecipeError(f"{path}: no such recipe; known models: {known}")
    try:
        return Recipe(name, path.parent, RecipeFile.model_validate(tomllib.loads(path.read_text())))
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{path}: not valid TOML: {error}") from error
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, e['loc']))}: {_plain(e['msg'])}" for e in error.errors()]
        raise RecipeError(f"{path}: " + "; ".join(wrong)) from error


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ")
