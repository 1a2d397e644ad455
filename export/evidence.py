"""evidence.json: every measured value beside its limit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from export.contract import Name, Strict, VariantName

What = Literal[
    "accuracy",
    "accuracy_loss_points",
    "differing_input_bytes",
    "label_agreement",
    "max_difference",
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
    unit: str
    limit: float | None = None
    rule: Literal["at least", "at most"] | None = None
    passed: bool | None = None


class Evidence(Strict):
    """All measurements of one version, and what they were made with."""

    schema_version: Literal[1]
    name: Name
    judge: str
    environment: dict[str, str]
    measurements: list[Measurement]
    notes: list[str]
