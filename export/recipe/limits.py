"""[variants], [limits] and [browser]: what is made, what must hold, where it is measured."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from export.contract import Strict, VariantName

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]


class Fp16Section(Strict):
    """How the half-precision variant is made."""

    keep_fp32: list[str] = Field(
        default=[],
        description="Names of nodes or operators that stay in float32, beside norms and what"
        " overflows on the calibration data.",
    )


class Aim(Strict):
    """What the search for sensitive layers tries to reach, natively on labelled data."""

    label_agreement: Share | None = None
    accuracy_loss_points: float | None = None
    cosine: Share | None = None


class Q8Section(Strict):
    """How the 8-bit variant is made. `auto`: static where there are convolutions, else dynamic."""

    method: Literal["auto", "static", "dynamic"] = "auto"
    keep_fp32: list[str] = Field(
        default=[],
        description='What stays in float32: "first-layer", "depthwise", "last-layer", or names of'
        " nodes.",
    )
    aim: Aim | None = Field(
        default=None, description="Missed: sensitive layers are searched, and kept in float32."
    )
    search_minutes: Positive = 5.0


class Q4Section(Strict):
    """How the 4-bit variant is made: weights of matrix products and embeddings only."""

    block_size: Literal[16, 32, 64, 128] = 32
    keep_fp32: list[str] = []


class VariantsSection(Strict):
    """Which model files to make, and by which rule the best is picked."""

    offer: list[VariantName] = ["fp32", "fp16", "q8"]
    prefer: Literal["smallest", "fastest", "most-accurate"] = "smallest"
    fp16: Fp16Section = Fp16Section()
    q8: Q8Section = Q8Section()
    q4: Q4Section = Q4Section()

    @model_validator(mode="after")
    def _fp32_is_the_yardstick(self) -> Self:
        if "fp32" not in self.offer or len(set(self.offer)) != len(self.offer):
            raise ValueError(f"offer = {self.offer}: name fp32 and each variant once")
        return self


class Limits(Strict):
    """What must hold for a variant on a backend. None: told in the evidence, not judged."""

    max_difference: Positive | None = Field(
        default=None, description="Of an output's value to the framework's."
    )
    label_agreement: Share | None = Field(
        default=None, description="Share of answers (labels, frames, boxes) as the framework's."
    )
    cosine: Share | None = Field(default=None, description="Smallest, to the framework's vector.")
    accuracy: Share | None = Field(default=None, description="Share right on labelled data.")
    accuracy_loss_points: float | None = Field(
        default=None, description="Against fp32, in points of 100, on labelled data."
    )
    batch_difference: Positive | None = Field(
        default=None, description="Of an input's answer alone to that in a batch."
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
    q4: Limits = Limits()
    webgpu: dict[Literal["all", "fp32", "fp16", "q8", "q4"], Limits] = {}

    def of(self, variant: VariantName, *, webgpu: bool = False) -> Limits:
        """The limits in force for a variant, on webgpu or anywhere else."""
        own: Limits = getattr(self, variant)
        layers = [self.all, own]
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
    labelled_at_most: Annotated[int, Field(ge=1)] = Field(
        default=2000, description="Of the labelled data, evenly picked; natively all are used."
    )
