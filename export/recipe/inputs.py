"""[input]: which decoder makes tensors of what the visitor gives, with every policy named."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from export.contract import Column, Datatype, Filter, State, Strict
from export.recipe.source import FileName

Side = Annotated[int, Field(ge=1, le=4096)]
Positive = Annotated[float, Field(gt=0)]

COLOURS = {"white": [255, 255, 255], "black": [0, 0, 0], "grey": [128, 128, 128]}


class ResizeSection(Strict):
    """`short_side` keeps the aspect; without it `fit` says how the picture fills the tensor."""

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


class PictureSection(Strict):
    """What an image and a drawing have in common."""

    resize: ResizeSection = ResizeSection()
    orientation: Literal["exif"] = "exif"
    background: str | list[int] = "white"
    colour_profile: Literal["ignore"] = "ignore"
    tensor: TensorSection

    def size(self) -> tuple[int, int]:
        """(height, width) of the input tensor."""
        height, width = self.tensor.size or (0, 0)
        return height, width

    def background_rgb(self) -> list[int]:
        """The background colour as three values of 0..255."""
        return colour("background", self.background)


class ImageSection(PictureSection):
    """A photo or another picture."""

    kind: Literal["image"]
    fit: Literal["stretch", "letterbox"] = "stretch"
    padding: str | list[int] = "grey"
    crop: CropSection | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self.background_rgb()
        self.padding_rgb()
        if (self.crop is None) == (self.tensor.size is None):
            raise ValueError("give either crop = { centre = N } or tensor.size = [height, width]")
        if (self.crop is None) != (self.resize.short_side is None):
            raise ValueError("crop and resize.short_side belong together")
        if self.crop and (self.resize.short_side or 0) < self.crop.centre:
            raise ValueError(
                f"crop.centre = {self.crop.centre} reaches beyond "
                f"resize.short_side = {self.resize.short_side}; make short_side at least as large"
            )
        if self.crop and self.fit != "stretch":
            raise ValueError('fit = "letterbox" and crop exclude each other')
        if self.tensor.channels == "grey":
            raise ValueError('an image has tensor.channels = "RGB" or "BGR"')
        return self

    def size(self) -> tuple[int, int]:
        """(height, width) of the input tensor."""
        if self.crop:
            return self.crop.centre, self.crop.centre
        return super().size()

    def padding_rgb(self) -> list[int]:
        """What surrounds a letterboxed picture, as three values of 0..255."""
        return colour("padding", self.padding)


class DrawingSection(PictureSection):
    """Something drawn by hand, in one channel."""

    kind: Literal["drawing"]
    ink: Literal["light-on-dark", "dark-on-light", "auto"] = "auto"
    fit: Literal["stretch", "ink"] = "stretch"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self.background_rgb()
        if self.tensor.size is None or self.resize.short_side is not None:
            raise ValueError("a drawing has tensor.size = [height, width] and no short_side")
        if self.tensor.channels != "grey":
            raise ValueError('a drawing has tensor.channels = "grey"')
        return self


class TextSection(Strict):
    """Text, by a tokenizer.json that is published with the version."""

    kind: Literal["text"]
    tokenizer: FileName
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] = 512
    ids: str = "input_ids"
    mask: str | None = "attention_mask"
    types: str | None = None


class StreamSection(Strict):
    """For a network with state; see contract.Stream."""

    step_samples: Annotated[int, Field(ge=1)]
    states: Annotated[list[State], Field(min_length=1)]


class SoundSection(Strict):
    """Sound, as mono PCM of one rate; the network's input is "samples" [batch, samples]."""

    kind: Literal["sound"]
    rate: Annotated[int, Field(ge=1000, le=384_000)]
    window_samples: Annotated[int, Field(ge=1)] | None = None
    stream: StreamSection | None = None


class ColumnSection(Column):
    """A column: of numbers, titled by its name, no value missing, unless the recipe says so."""

    title: str = ""
    type: Literal["number", "integer", "boolean", "category"] = "number"
    missing: Literal["refuse", "nan"] = "refuse"

    @model_validator(mode="before")
    @classmethod
    def _titled(cls, given: Any) -> Any:
        if isinstance(given, dict) and isinstance(given.get("name"), str):
            title = re.sub(r"[-_]+", " ", given["name"]).strip()
            return {"title": title[:1].upper() + title[1:], **given}
        return given


class TableSection(Strict):
    """Rows of named columns. `matrix`: the network takes one float tensor of all columns,
    "features" [batch, columns]; else one input a column, named as the column."""

    kind: Literal["table"]
    columns: Annotated[list[ColumnSection], Field(min_length=1)]
    matrix: bool = True

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError("two columns have one name")
        for column in self.columns:
            if (column.type == "category") != bool(column.categories):
                raise ValueError(f"column {column.name}: a category names its categories")
        return self


class BytesSection(Strict):
    """The first and last bytes of a file; the network's input is "bytes" [batch, first + last]."""

    kind: Literal["bytes"]
    first: Annotated[int, Field(ge=0)]
    last: Annotated[int, Field(ge=0)] = 0
    block: Annotated[int, Field(ge=1)] | None = None
    strip: bool = False
    padding: int = 256


class TensorInputSpec(Strict):
    """One input of the graph: free dimensions have names, the first is "batch"."""

    name: str
    dtype: Datatype
    shape: list[int | str]


class RawTensorSection(Strict):
    """Tensors as they are."""

    kind: Literal["tensor"]
    tensors: Annotated[list[TensorInputSpec], Field(min_length=1)]


InputSection = Annotated[
    ImageSection | DrawingSection | TextSection | SoundSection | TableSection | BytesSection
    | RawTensorSection,
    Field(discriminator="kind"),
]  # fmt: skip


def colour(field: str, value: str | list[int]) -> list[int]:
    """A named colour or [r, g, b], as three values of 0..255; ValueError names the field."""
    if isinstance(value, str):
        if value not in COLOURS:
            raise ValueError(f'{field} = "{value}"; give {", ".join(COLOURS)} or [r, g, b]')
        return COLOURS[value]
    if len(value) != 3 or not all(0 <= part <= 255 for part in value):
        raise ValueError(f"{field} = {value}; give [r, g, b], each 0 to 255")
    return value
