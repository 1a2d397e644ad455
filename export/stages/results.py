"""What the stages hand on. `publish` takes only `Verified`: the gate cannot be skipped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from export.contract import Backend, BackendResult, VariantName
from export.evidence import Evidence
from export.recipe import Recipe
from export.samples import JudgedSamples

FILE_NAMES: dict[VariantName, str] = {
    "fp32": "model.onnx",
    "fp16": "model_fp16.onnx",
    "q8": "model_quantized.onnx",
}  # Transformers.js' names


@dataclass(frozen=True)
class Sourced:
    """Real data, and the framework's answers to it."""

    recipe: Recipe
    judge: str
    labels: tuple[str, ...]
    examples: JudgedSamples
    labelled: JudgedSamples
    calibration: JudgedSamples


@dataclass(frozen=True)
class Exported:
    """One self-contained fp32 file, pixels in and answers out."""

    sourced: Sourced
    path: Path
    core: Path
    """The bare network in the same precision, without pre- and post-processing."""
    parameters: int


@dataclass(frozen=True)
class Quantised:
    """All variants, by name."""

    exported: Exported
    paths: dict[VariantName, Path]

    @property
    def recipe(self) -> Recipe:
        """The recipe that all this came from."""
        return self.exported.sourced.recipe


@dataclass(frozen=True)
class Measured:
    """The variants with everything verify measured."""

    quantised: Quantised
    evidence: Evidence


@dataclass(frozen=True)
class Verified:
    """Measured, and every limit held. Only the gate makes these."""

    measured: Measured
    backends: dict[VariantName, dict[Backend, BackendResult]]
    best: dict[Backend, VariantName]
