"""The contract of a published version: one truth for Python, server, page and device.

`contract.json` is written by publish and read everywhere. `python -m export.schema` writes its JSON
Schema to web/src/shared, from which the TypeScript types are generated.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from export.errors import ContractError

SCHEMA_VERSION: Literal[2] = 2

M = TypeVar("M", bound=BaseModel)

Filter = Literal["bilinear", "bicubic", "lanczos", "box"]
Datatype = Literal["bool", "uint8", "int32", "int64", "float32", "string"]
VariantName = Literal["fp32", "fp16", "q8", "q4"]
InputKind = Literal["image", "drawing", "text", "sound", "table", "bytes", "tensor"]
Backend = Literal["cpu", "wasm", "webgpu"]
MediaType = Literal[
    "image/png", "image/jpeg", "image/webp", "text/plain", "audio/wav", "application/json",
    "application/octet-stream",
]  # fmt: skip
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
NAME_PATTERN = r"^[a-z][a-z0-9-]{0,62}$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
Colour = Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=3, max_length=3)]
FilePath = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*){0,3}$")
]

# Larger pictures are refused before they are decoded, on both sides alike.
MAX_PIXELS = 100_000_000


class Strict(BaseModel):
    """Outside data: unknown keys are an error, values never change after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Tensor(Strict):
    """Name, dtype and shape. A dimension is a number, a name (symbolic) or null (unknown);
    `[]` is a scalar and a null shape an unknown rank."""

    name: str
    dtype: Datatype
    shape: list[int | str | None] | None


class FileRef(Strict):
    """A file of the version, with what it must hash to."""

    file: FilePath
    size_bytes: Annotated[int, Field(ge=0)]
    sha256: Sha256


class TensorFile(Tensor, FileRef):
    """A tensor of one input (its batch is 1) with its raw little-endian values in a file.

    Strings are written as the v2 protocol does: each its length in 4 bytes, then its UTF-8.
    """


class Resize(Strict):
    """How the decoded picture reaches the model's size, by Pillow's arithmetic."""

    filter: Filter
    short_side: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        default=None,
        description="Shorter side after resizing, aspect kept, then cropped to the centre; null:"
        " as `fit` says.",
    )


class ImageInput(Strict):
    """A picture, decoded to uint8 RGB [batch, height, width, 3]."""

    kind: Literal["image"]
    tensor: str = Field(description="Which of the contract's inputs the decoder fills.")
    resize: Resize
    fit: Literal["stretch", "centre-crop", "letterbox"] = Field(
        description="letterbox: aspect kept, centred, the rest in `padding`; its longer side fills"
        " the tensor, the other is rounded half up."
    )
    padding: Colour
    orientation: Literal["exif"]
    background: Colour
    colour_profile: Literal["ignore"]


class DrawingInput(Strict):
    """A drawing, decoded to uint8 grey [batch, height, width, 1], light ink on dark ground."""

    kind: Literal["drawing"]
    tensor: str
    resize: Resize
    orientation: Literal["exif"]
    background: Colour
    colour_profile: Literal["ignore"]
    ink: Literal["light-on-dark", "dark-on-light", "auto"] = Field(
        description="auto: dark on light when the border is lighter than mid grey."
    )
    fit: Literal["stretch", "ink"] = Field(
        description="ink: a square around the ink's bounding box, the ink's longer side filling"
        " 20 of 28 parts, as in MNIST; stretch: the whole picture."
    )


class TextInput(Strict):
    """UTF-8 text, to token ids by the version's own tokenizer.json. int64 [batch, tokens]."""

    kind: Literal["text"]
    tokenizer: FileRef
    max_tokens: Annotated[int, Field(ge=1)] = Field(
        description="Longer texts are cut at their end, special tokens kept."
    )
    ids: str
    mask: str | None = Field(description="1 for a token, 0 for padding; null: not an input.")
    types: str | None = Field(description="Segment ids, all 0; null: not an input.")


class State(Strict):
    """A tensor that a stream carries from one step to the next; zeros at its beginning."""

    input: str
    output: str


class Stream(Strict):
    """The samples go through the graph in steps of `step_samples`, the last one filled with zeros.

    Outputs that are no state are joined along axis 1.
    """

    step_samples: Annotated[int, Field(ge=1)]
    states: list[State]


class SoundInput(Strict):
    """Sound, decoded to PCM float32 [batch, samples] in -1..1 at `rate`."""

    kind: Literal["sound"]
    tensor: str
    rate: Annotated[int, Field(ge=1000, le=384_000)]
    mono: Literal["mean"] = Field(description="How several channels become one.")
    resample: Literal["kaiser-polyphase"] = Field(description="docs/decoders.md gives its filter.")
    window_samples: Annotated[int, Field(ge=1)] | None = Field(
        description="Exactly so many samples, cut or filled with zeros at the end; null: any."
    )
    stream: Stream | None


class Column(Strict):
    """One named, typed column of a table."""

    name: str
    title: str
    unit: str = ""
    type: Literal["number", "integer", "boolean", "category"]
    categories: list[str] = Field(default=[], description="Of a category: every value it may have.")
    missing: Literal["refuse", "nan"] = Field(
        description="nan: an empty cell becomes NaN (a category: the empty text)."
    )
    lowest: float | None = Field(
        default=None, description="In the training data; told, not judged."
    )
    highest: float | None = None


class TableInput(Strict):
    """A row of named columns (JSON object or CSV with a header line).

    `matrix`: one float32 tensor [batch, columns] of that name, categories as their index.
    Without it one tensor a column, [batch, 1], named as the column: float32, int64 (integer,
    boolean) or string (category).
    """

    kind: Literal["table"]
    columns: Annotated[list[Column], Field(min_length=1)]
    matrix: str | None


class BytesInput(Strict):
    """The first and the last bytes of a file as int32 [batch, first + last], then padded.

    Both parts are stripped of ASCII white space at the file's ends first, where `strip` says so;
    the first part is padded at its end, the last part at its beginning.
    """

    kind: Literal["bytes"]
    tensor: str
    first: Annotated[int, Field(ge=0)]
    last: Annotated[int, Field(ge=0)]
    block: Annotated[int, Field(ge=1)] = Field(
        description="From how many bytes at either end the parts are taken, before stripping."
    )
    strip: bool
    padding: int


class TensorInput(Strict):
    """The contract's inputs as they are: .npy for one tensor, v2 JSON (`{"inputs": [...]}`)."""

    kind: Literal["tensor"]


Input = Annotated[
    ImageInput | DrawingInput | TextInput | SoundInput | TableInput | BytesInput | TensorInput,
    Field(discriminator="kind"),
]


class ScoresDecision(Strict):
    """Probabilities over the contract's labels, the best k of them."""

    kind: Literal["scores"]
    probabilities: str
    top_probabilities: str
    top_indices: str
    top_k: Annotated[int, Field(ge=1)]
    ask_a_person_below: Annotated[float, Field(ge=0, le=1)] | None = None


class EmbeddingDecision(Strict):
    """A vector [batch, dimensions] of length 1; two inputs are alike as their dot product says."""

    kind: Literal["embedding"]
    vector: str


class FramesDecision(Strict):
    """One probability a frame, float32 [batch, frames]: active where it reaches the threshold."""

    kind: Literal["frames"]
    probabilities: str
    frame_seconds: Annotated[float, Field(gt=0)]
    threshold: Annotated[float, Field(ge=0, le=1)]


class BoxesDecision(Strict):
    """Boxes found: [batch, k, 4] as x1, y1, x2, y2 in pixels of the input tensor; scores and
    classes [batch, k], best first. A score of 0 is no box."""

    kind: Literal["boxes"]
    boxes: str
    scores: str
    classes: str
    threshold: Annotated[float, Field(ge=0, le=1)]


class ValuesDecision(Strict):
    """The outputs as they are."""

    kind: Literal["values"]
    values: list[str]


Decision = Annotated[
    ScoresDecision | EmbeddingDecision | FramesDecision | BoxesDecision | ValuesDecision,
    Field(discriminator="kind"),
]


class BackendResult(Strict):
    """What verify measured for one variant on one backend."""

    status: Literal["passed", "unverified", "not-offered"]
    why: str | None = Field(default=None, description="Why it is unverified or not offered.")
    tolerance: float | None = Field(
        default=None, description="Largest allowed difference of an output to the framework's."
    )
    inputs: int | None = Field(
        default=None, description="On how many inputs at most this was measured."
    )
    max_difference: float | None = None
    label_agreement: float | None = Field(
        default=None, description="Share of answers (labels, frames, boxes) as the framework's."
    )
    cosine: float | None = Field(default=None, description="Smallest, to the framework's vector.")
    time_vs_fp32: float | None = None


class Variant(Strict):
    """One model file and where it holds."""

    name: VariantName
    file: FilePath
    size_bytes: Annotated[int, Field(ge=1)]
    sha256: Sha256
    entry: Literal["wasm", "webgpu"] = Field(
        description="The narrowest onnxruntime-web entry with all operators this file needs;"
        " the webgpu backend always loads the webgpu entry."
    )
    backends: dict[Backend, BackendResult]


class Example(Strict):
    """A golden example: an encoded input, its decoded tensors, the framework's outputs.

    `tensors` holds what the decoder gives (no states); `outputs` what the framework answers.
    """

    id: str
    title: str
    media_type: MediaType
    input: FileRef
    tensors: Annotated[list[TensorFile], Field(min_length=1)]
    outputs: Annotated[list[TensorFile], Field(min_length=1)]
    label: int | None = None
    shown: bool = Field(description="Offered as a sample in the page, and kept for use offline.")


class Provenance(Strict):
    """Where the version comes from."""

    source_kind: str
    judge: str = Field(description="What the answers were compared with.")
    tools: dict[str, str]
    data: str
    built: str = Field(description="UTC date, ISO 8601.")
    build_key: Sha256


class Contract(Strict):
    """Everything a runtime needs to give the framework's answers, and to prove that it does."""

    schema_version: Literal[2]
    name: Name
    version: Annotated[int, Field(ge=1)]
    title: str
    description: str
    task: str
    licence: str
    labels: list[str] = Field(description="Empty where the answer is no choice among labels.")
    input: Input
    inputs: Annotated[list[Tensor], Field(min_length=1)] = Field(
        description="The graph's inputs: what the decoder gives, and a stream's states."
    )
    outputs: Annotated[list[Tensor], Field(min_length=1)]
    decision: Decision
    variants: list[Variant]
    best: dict[Backend, VariantName] = Field(
        description="Per backend the variant that the recipe's rule picks among those that passed."
    )
    examples: list[Example]
    documents: list[FileRef] = Field(
        description="evidence.json, details.json, decision.md and README.md."
    )
    provenance: Provenance

    def variant(self, name: str) -> Variant:
        """The variant of that name; ContractError when it is not offered."""
        for variant in self.variants:
            if variant.name == name:
                return variant
        raise ContractError(
            f"{self.name}/{self.version}: no variant {name!r}; "
            f"offered: {', '.join(v.name for v in self.variants)}"
        )

    def files(self) -> list[FileRef]:
        """Every file of the version except contract.json itself."""
        refs = [
            FileRef(file=v.file, size_bytes=v.size_bytes, sha256=v.sha256) for v in self.variants
        ]
        for example in self.examples:
            refs.append(example.input)
            refs += [
                FileRef(file=t.file, size_bytes=t.size_bytes, sha256=t.sha256)
                for t in (*example.tensors, *example.outputs)
            ]
        if isinstance(self.input, TextInput):
            refs.append(self.input.tokenizer)
        return refs + self.documents

    def tensor(self, name: str) -> Tensor:
        """The graph's input of that name; ContractError when there is none."""
        for tensor in self.inputs:
            if tensor.name == name:
                return tensor
        raise ContractError(
            f"{self.name}/{self.version}: no input {name!r}; "
            f"inputs: {', '.join(t.name for t in self.inputs)}"
        )


class Event(Strict):
    """A publication or a rollback: the moment from which `version` was the current one."""

    action: Literal["publish", "rollback"]
    version: Annotated[int, Field(ge=1)]
    at: str = Field(description="UTC, ISO 8601, to the second.")
    by: str = Field(description="Who, as they named themselves; empty: not said.")
    why: str


class IndexEntry(Strict):
    """One model in index.json: what the gallery shows, and which version is current."""

    title: str
    description: str
    task: str
    kind: InputKind
    version: Annotated[int, Field(ge=1)] = Field(description="The current one.")
    versions: list[int] = Field(description="Every version ever published here, the current too.")
    contract: FileRef
    published: str
    sample: FilePath | None = Field(description="Path in the version of a picture for the gallery.")
    history: list[Event] = Field(description="Every publication and rollback, oldest first.")


class Index(Strict):
    """models/index.json: the only file that a publication changes."""

    schema_version: Literal[2]
    models: dict[Name, IndexEntry]


def read_contract(path: Path) -> Contract:
    """Read and check contract.json. Raises ContractError naming the file and each wrong field."""
    return _read(path, Contract)


def read_index(path: Path) -> Index:
    """Read and check index.json; a missing file is an empty index."""
    if not path.exists():
        return Index(schema_version=2, models={})
    return _read(path, Index)


def _read(path: Path, model: type[M]) -> M:
    try:
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ContractError(f"{path.name}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        wrong = "; ".join(f"{_where(e['loc'])}: {e['msg']}" for e in error.errors())
        raise ContractError(f"{path.parent.name}/{path.name}: {wrong}") from error


def _where(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc) or "(whole file)"


def to_json(model: BaseModel) -> bytes:
    """Strict JSON (no NaN), stable from run to run, readable."""
    text = json.dumps(model.model_dump(mode="json"), indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def file_ref(root: Path, path: Path) -> FileRef:
    """Size and SHA-256 of a file, named relative to the version's folder."""
    data = path.read_bytes()
    return FileRef(
        file=path.relative_to(root).as_posix(), size_bytes=len(data), sha256=sha256(data)
    )


def sha256(data: bytes) -> str:
    """SHA-256 in lower-case hex."""
    return hashlib.sha256(data).hexdigest()
