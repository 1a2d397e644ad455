"""The bare network between decoder and decision: what its inputs and outputs are called."""

from __future__ import annotations

from export.contract import Tensor
from export.recipe import Recipe
from export.recipe.inputs import (
    BytesSection,
    DrawingSection,
    ImageSection,
    InputSection,
    RawTensorSection,
    SoundSection,
    TableSection,
    TextSection,
)
from export.recipe.outputs import OutputSection

COLUMN_TYPES = {"number": "float32", "integer": "int64", "boolean": "int64", "category": "string"}


def network_inputs(recipe: Recipe) -> list[Tensor]:
    """Name, dtype and shape of each input; the first dimension is "batch", free ones have names.

    States of a stream are told without their shape: only the network knows it.
    """
    return section_inputs(recipe.file.input)


def section_inputs(section: InputSection) -> list[Tensor]:
    """The same, of one [input] section."""
    match section:
        case ImageSection() | DrawingSection():
            return [Tensor(name="input", dtype="float32", shape=_picture(section))]
        case TextSection():
            names = [name for name in (section.ids, section.mask, section.types) if name]
            return [Tensor(name=n, dtype="int64", shape=["batch", "tokens"]) for n in names]
        case SoundSection():
            return _sound(section)
        case TableSection():
            return _table(section)
        case BytesSection():
            size = section.first + section.last
            return [Tensor(name="bytes", dtype="int32", shape=["batch", size])]
        case RawTensorSection():
            return [Tensor(name=t.name, dtype=t.dtype, shape=[*t.shape]) for t in section.tensors]


def network_outputs(recipe: Recipe) -> list[str]:
    """Names of the outputs, a stream's states last."""
    states: list[str] = []
    if isinstance(recipe.file.input, SoundSection) and recipe.file.input.stream:
        states = [state.output for state in recipe.file.input.stream.states]
    return [*_outputs(recipe.file.output), *states]


def _outputs(section: OutputSection) -> list[str]:
    match section.kind:
        case "scores" | "frames":
            return ["scores"]
        case "embedding":
            return ["vector"] if section.pooling == "none" else ["hidden"]
        case "boxes":
            return ["boxes", "class_scores"]
        case "values":
            return list(section.names)


def _picture(section: ImageSection | DrawingSection) -> list[int | str | None]:
    height, width = section.size()
    channels = 1 if section.tensor.channels == "grey" else 3
    if section.tensor.layout == "NCHW":
        return ["batch", channels, height, width]
    return ["batch", height, width, channels]


def _sound(section: SoundSection) -> list[Tensor]:
    if section.stream is None:
        samples: int | str = section.window_samples or "samples"
        return [Tensor(name="samples", dtype="float32", shape=["batch", samples])]
    step = section.stream.step_samples
    states = [
        Tensor(name=state.input, dtype="float32", shape=None) for state in section.stream.states
    ]
    return [Tensor(name="samples", dtype="float32", shape=["batch", step]), *states]


def _table(section: TableSection) -> list[Tensor]:
    if section.matrix:
        count = len(section.columns)
        return [Tensor(name="features", dtype="float32", shape=["batch", count])]
    return [
        Tensor.model_validate(
            {"name": c.name, "dtype": COLUMN_TYPES[c.type], "shape": ["batch", 1]}
        )
        for c in section.columns
    ]
