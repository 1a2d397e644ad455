"""evidence.json: every measured value beside its limit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from export.contract import Name, Strict, VariantName

What = Literal[
    "accuracy",
    "accuracy_loss_points",
    "batch_difference",
    "cosine",
    "differing_input_bytes",
    "label_agreement",
    "max_difference",
    "paired_p_value",
    "p95_ms",
    "size_mb",
    "size_vs_fp32",
    "time_vs_fp32",
    "median_ms",
]
Where = Literal[
    "publication",
    "python-cpu",
    "chromium-wasm-1-thread",
    "chromium-wasm-2-threads",
    "chromium-webgpu",
]


class Measurement(Strict):
    """One value, where and on how many inputs it was measured, and the limit it was held to.

    `limit` null means that the recipe sets none: the value is told, not judged.
    """

    what: What
    variant: VariantName | None = Field(description="null: of the decoder, before any variant.")
    where: Where
    data: Literal["golden examples", "labelled data", "files"]
    count: Annotated[int, Field(ge=1)]
    value: float
    low: float | None = Field(default=None, description="Lower end of the 95 % interval.")
    high: float | None = Field(default=None, description="Upper end of the 95 % interval.")
    unit: str
    limit: float | None = None
    rule: Literal["at least", "at most"] | None = None
    passed: bool | None = None


class Worst(Strict):
    """One of the inputs on which a variant is furthest from the judge."""

    id: str
    difference: float
    judge: str = Field(description="What the judge answers, in words.")
    got: str


class ReliabilityBin(Strict):
    """Of the answers whose confidence lies in low..high: how sure, and how often right."""

    low: float
    high: float
    count: Annotated[int, Field(ge=1)]
    confidence: float
    accuracy: float


class Detail(Strict):
    """How one variant's answers are spread in one place on one set of data."""

    variant: VariantName
    where: Where
    data: Literal["golden examples", "labelled data"]
    count: Annotated[int, Field(ge=1)]
    difference_edges: list[float] = Field(description="Of the histogram; one more than counts.")
    difference_counts: list[int] = Field(description="Inputs by their largest difference.")
    worst: list[Worst] = Field(description="Largest difference first.")
    confusion: list[list[int]] | None = Field(
        description="Right label x answered label; null without labels or with over 40 of them."
    )
    reliability: list[ReliabilityBin] | None = Field(description="Null without labelled scores.")


class Details(Strict):
    """details.json: what the report draws, beside the measurements of evidence.json."""

    schema_version: Literal[2]
    name: Name
    details: list[Detail]


class Evidence(Strict):
    """All measurements of one version, and what they were made with."""

    schema_version: Literal[2]
    name: Name
    judge: str
    environment: dict[str, str]
    measurements: list[Measurement]
    notes: list[str]
