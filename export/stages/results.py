"""What the stages hand on. `publish` takes only `Verified`: the gate cannot be skipped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from export.contract import Backend, BackendResult, Decision, Input, Tensor, VariantName
from export.evidence import Details, Evidence
from export.recipe import Recipe
from export.samples import JudgedSamples

FILE_NAMES: dict[VariantName, str] = {
    "fp32": "model.onnx",
    "fp16": "model_fp16.onnx",
    "q8": "model_quantized.onnx",
    "q4": "model_q4.onnx",
}  # Transformers.js' names


@dataclass(frozen=True)
class Sourced:
    """Real data, and the framework's answers to it; what the recipe does not name is None."""

    recipe: Recipe
    folder: Path
    """Holds what the decoder needs: tokenizer.json of a text."""
    input: Input
    decision: Decision
    judge: str
    labels: tuple[str, ...]
    examples: JudgedSamples
    labelled: JudgedSamples | None
    calibration: JudgedSamples | None


@dataclass(frozen=True)
class Exported:
    """One self-contained fp32 file, decoded input in and answers out."""

    sourced: Sourced
    path: Path
    core: Path
    """The bare network in the same precision, without pre- and post-processing."""
    parameters: int
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


@dataclass(frozen=True)
class Quantised:
    """All variants, by name. `kept`: nodes that a variant leaves in float32, by its name."""

    exported: Exported
    paths: dict[VariantName, Path]
    kept: dict[VariantName, list[str]]

    @property
    def recipe(self) -> Recipe:
        """The recipe that all this came from."""
        return self.exported.sourced.recipe


@dataclass(frozen=True)
class Measured:
    """The variants with everything verify measured."""

    quantised: Quantised
    evidence: Evidence
    details: Details


@dataclass(frozen=True)
class Verified:
    """Measured, and every limit held. Only the gate makes these."""

    measured: Measured
    backends: dict[VariantName, dict[Backend, BackendResult]]
    best: dict[Backend, VariantName]
