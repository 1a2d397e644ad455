"""From the recipe to the contract's decoder, its tensors and its decision."""

from __future__ import annotations

from collections.abc import Sequence

from export.contract import (
    BoxesDecision,
    BytesInput,
    Column,
    Decision,
    DrawingInput,
    EmbeddingDecision,
    FileRef,
    FramesDecision,
    ImageInput,
    Input,
    Resize,
    ScoresDecision,
    SoundInput,
    Stream,
    TableInput,
    Tensor,
    TensorInput,
    TextInput,
    ValuesDecision,
)
from export.graph_names import (
    BOX_CLASSES,
    BOX_CORNERS,
    BOX_SCORES,
    EMBEDDING,
    INPUT,
    PROBABILITIES,
    TOP_INDICES,
    TOP_PROBABILITIES,
)
from export.network import section_inputs
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

TOKENIZER = "tokenizer.json"


def input_spec(section: InputSection, tokenizer: FileRef | None = None) -> Input:
    """The decoder that the recipe's [input] names. `tokenizer`: of a text, as it is published."""
    match section:
        case ImageSection() | DrawingSection():
            return _picture(section)
        case TextSection():
            if tokenizer is None:
                raise ValueError("a text needs its tokenizer")
            return TextInput(
                kind="text", tokenizer=tokenizer, max_tokens=section.max_tokens,
                ids=section.ids, mask=section.mask, types=section.types,
            )  # fmt: skip
        case SoundSection():
            return SoundInput(
                kind="sound", tensor="samples", rate=section.rate, mono="mean",
                resample="kaiser-polyphase", window_samples=section.window_samples,
                stream=stream_of(section),
            )  # fmt: skip
        case TableSection():
            matrix = "features" if section.matrix else None
            columns = [Column.model_validate(column.model_dump()) for column in section.columns]
            return TableInput(kind="table", columns=columns, matrix=matrix)
        case BytesSection():
            return BytesInput(
                kind="bytes", tensor="bytes", first=section.first, last=section.last,
                block=section.block or max(section.first, section.last),
                strip=section.strip, padding=section.padding,
            )  # fmt: skip
        case RawTensorSection():
            return TensorInput(kind="tensor")


def stream_of(section: InputSection) -> Stream | None:
    """How a sound with state goes through the graph."""
    if not isinstance(section, SoundSection) or section.stream is None:
        return None
    return Stream(step_samples=section.stream.step_samples, states=section.stream.states)


def decoded_inputs(section: InputSection) -> list[Tensor]:
    """What the decoder gives: the graph's inputs without a stream's states."""
    if isinstance(section, ImageSection | DrawingSection):
        height, width = section.size()
        channels = 1 if section.kind == "drawing" else 3
        return [Tensor(name=INPUT, dtype="uint8", shape=["batch", height, width, channels])]
    if isinstance(section, SoundSection):
        samples: int | str = section.window_samples or "samples"
        return [Tensor(name="samples", dtype="float32", shape=["batch", samples])]
    return section_inputs(section)


def decision(output: OutputSection, labels: Sequence[str]) -> Decision:
    """How the graph's outputs become answers."""
    match output.kind:
        case "scores":
            return ScoresDecision(
                kind="scores", probabilities=PROBABILITIES, top_probabilities=TOP_PROBABILITIES,
                top_indices=TOP_INDICES, top_k=min(output.top_k, len(labels)),
                ask_a_person_below=output.ask_a_person_below,
            )  # fmt: skip
        case "embedding":
            return EmbeddingDecision(kind="embedding", vector=EMBEDDING)
        case "frames":
            return FramesDecision(
                kind="frames", probabilities=PROBABILITIES, threshold=output.threshold,
                frame_seconds=output.frame_seconds,
            )  # fmt: skip
        case "boxes":
            return BoxesDecision(
                kind="boxes", boxes=BOX_CORNERS, scores=BOX_SCORES, classes=BOX_CLASSES,
                threshold=output.threshold,
            )  # fmt: skip
        case "values":
            return ValuesDecision(kind="values", values=list(output.names))


def judged_outputs(decided: Decision) -> list[str]:
    """The outputs that the judge answers too, and that are compared."""
    match decided.kind:
        case "scores" | "frames":
            return [decided.probabilities]
        case "embedding":
            return [decided.vector]
        case "boxes":
            return [decided.boxes, decided.scores, decided.classes]
        case "values":
            return list(decided.values)


def _picture(section: ImageSection | DrawingSection) -> ImageInput | DrawingInput:
    resize = Resize(filter=section.resize.filter, short_side=section.resize.short_side)
    if isinstance(section, ImageSection):
        return ImageInput(
            kind="image", tensor=INPUT, resize=resize, orientation=section.orientation,
            fit="centre-crop" if section.crop else section.fit,
            padding=section.padding_rgb(), background=section.background_rgb(),
            colour_profile=section.colour_profile,
        )  # fmt: skip
    return DrawingInput(
        kind="drawing", tensor=INPUT, resize=resize, orientation=section.orientation,
        background=section.background_rgb(), colour_profile=section.colour_profile,
        ink=section.ink, fit=section.fit,
    )  # fmt: skip
