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

SCHEMA_VERSION: Literal[1] = 1

M = TypeVar("M", bound=BaseModel)

Filter = Literal["bilinear", "bicubic", "lanczos", "box"]
Datatype = Literal["uint8", "int32", "int64", "float32"]
VariantName = Literal["fp32", "fp16", "q8"]
Backend = Literal["cpu", "wasm", "webgpu"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
NAME_PATTERN = r"^[a-z][a-z0-9-]{0,62}$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
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


class Resize(Strict):
    """How the decoded picture reaches the model's size, by Pillow's arithmetic."""

    filter: Filter
    short_side: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        default=None,
        description="Shorter side after resizing, aspect kept; null stretches to the tensor.",
    )


class ImageInput(Strict):
    """A picture, decoded to uint8 RGB [batch, height, width, 3]."""

    kind: Literal["image"]
    tensor: Tensor
    resize: Resize
    orientation: Literal["exif"]
    background: Annotated[
        list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=3, max_length=3)
    ]
    colour_profile: Literal["ignore"]


class DrawingInput(Strict):
    """A drawing, decoded to uint8 grey [batch, height, width, 1], light ink on dark ground."""

    kind: Literal["drawing"]
    tensor: Tensor
    resize: Resize
    orientation: Literal["exif"]
    background: Annotated[
        list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=3, max_length=3)
    ]
    colour_profile: Literal["ignore"]
    ink: Literal["light-on-dark", "dark-on-light", "auto"] = Field(
        description="auto: dark on light when the border is lighter than mid grey."
    )
    fit: Literal["stretch", "ink"] = Field(
        description="ink: a square around the ink's bounding box, the ink's longer side filling"
        " 20 of 28 parts, as in MNIST; stretch: the whole picture."
    )


Input = Annotated[ImageInput | DrawingInput, Field(discriminator="kind")]


class Decision(Strict):
    """How outputs become answers: probabilities over labels, the best k of them."""

    kind: Literal["scores"]
    probabilities: str
    top_probabilities: str
    top_indices: str
    top_k: Annotated[int, Field(ge=1)]
    ask_a_person_below: Annotated[float, Field(ge=0, le=1)] | None = None


class BackendResult(Strict):
    """What verify measured for one variant on one backend."""

    status: Literal["passed", "failed", "unverified"]
    tolerance: float | None = Field(
        default=None, description="Largest allowed difference of a probability to the framework."
    )
    inputs: int | None = Field(
        default=None, description="On how many inputs at most this was measured."
    )
    max_difference: float | None = None
    label_agreement: float | None = None
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


class FileRef(Strict):
    """A file of the version, with what it must hash to."""

    file: FilePath
    size_bytes: Annotated[int, Field(ge=0)]
    sha256: Sha256


class Example(Strict):
    """A golden example: an encoded input, its decoded tensor, the framework's probabilities.

    `tensor` holds the raw bytes of the input tensor of one example (batch 1), `outputs` the raw
    little-endian float32 probabilities of the judge.
    """

    id: str
    title: str
    media_type: Literal["image/png", "image/jpeg", "image/webp"]
    input: FileRef
    tensor: FileRef
    outputs: FileRef
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

    schema_version: Literal[1]
    name: Name
    version: Annotated[int, Field(ge=1)]
    title: str
    description: str
    task: str
    licence: str
    labels: list[str]
    input: Input
    outputs: list[Tensor]
    decision: Decision
    variants: list[Variant]
    best: dict[Backend, VariantName] = Field(
        description="Per backend the variant that the recipe's rule picks among those that passed."
    )
    examples: list[Example]
    documents: list[FileRef] = Field(description="evidence.json and README.md.")
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
            refs += [example.input, example.tensor, example.outputs]
        return refs + self.documents


class IndexEntry(Strict):
    """One model in index.json: what the gallery shows, and which version is current."""

    title: str
    description: str
    task: str
    kind: Literal["image", "drawing"]
    version: Annotated[int, Field(ge=1)] = Field(description="The current one.")
    versions: list[int] = Field(description="Every version ever published here, the current too.")
    contract: FileRef
    published: str
    sample: FilePath | None = Field(description="Path in the version of a picture for the gallery.")


class Index(Strict):
    """models/index.json: the only file that a publication changes."""

    schema_version: Literal[1]
    models: dict[Name, IndexEntry]


def read_contract(path: Path) -> Contract:
    """Read and check contract.json. Raises ContractError naming the file and each wrong field."""
    return _read(path, Contract)


def read_index(path: Path) -> Index:
    """Read and check index.json; a missing file is an empty index."""
    if not path.exists():
        return Index(schema_version=1, models={})
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
