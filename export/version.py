"""A version's folder: model files, golden examples, contract; assembled for verify and publish."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from export.contract import (
    SCHEMA_VERSION,
    Backend,
    BackendResult,
    Contract,
    Decision,
    DrawingInput,
    Example,
    FileRef,
    ImageInput,
    Index,
    IndexEntry,
    Provenance,
    Resize,
    Tensor,
    Variant,
    VariantName,
    file_ref,
    to_json,
)
from export.decode.picture_header import read_header
from export.decode.pixels import Pixels
from export.graph_names import INPUT, PROBABILITIES, TOP_INDICES, TOP_PROBABILITIES
from export.recipe import InputSection, Recipe
from export.sample import Sample
from export.samples import JudgedSamples
from export.stages.results import FILE_NAMES, Quantised

EXTENSIONS = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}
MEDIA_TYPES: dict[str, Literal["image/jpeg", "image/png", "image/webp"]] = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
}
UNVERIFIED: dict[Backend, BackendResult] = {
    "cpu": BackendResult(status="unverified"),
    "wasm": BackendResult(status="unverified"),
    "webgpu": BackendResult(status="unverified"),
}


def input_spec(section: InputSection) -> ImageInput | DrawingInput:
    """The decoder that the recipe's [input] names, as the contract tells it."""
    height, width = section.size()
    channels = 1 if section.kind == "drawing" else 3
    tensor = Tensor(name=INPUT, dtype="uint8", shape=["batch", height, width, channels])
    resize = Resize(filter=section.resize.filter, short_side=section.resize.short_side)
    background = section.background_rgb()
    if section.kind == "image":
        return ImageInput(
            kind="image", tensor=tensor, resize=resize, orientation=section.orientation,
            background=background, colour_profile=section.colour_profile,
        )  # fmt: skip
    return DrawingInput(
        kind="drawing", tensor=tensor, resize=resize, orientation=section.orientation,
        background=background, colour_profile=section.colour_profile,
        ink=section.ink, fit=section.fit,
    )  # fmt: skip


def write_examples(folder: Path, examples: JudgedSamples, pixels: Pixels) -> list[Example]:
    """Write encoded input, decoded tensor and the judge's probabilities of each golden example."""
    (folder / "examples").mkdir(parents=True, exist_ok=True)
    return [
        _write_example(folder, sample, tensor, row)
        for sample, tensor, row in zip(
            examples.samples, pixels, examples.probabilities, strict=True
        )
    ]


def _write_example(folder: Path, sample: Sample, tensor: Pixels, row: np.ndarray) -> Example:
    picture = read_header(sample.data).format
    extension = EXTENSIONS[picture]
    contents = {
        extension: sample.data,
        "tensor": tensor.tobytes(),
        "outputs": row.astype("<f4").tobytes(),
    }
    refs = {}
    for ending, data in contents.items():
        path = folder / "examples" / f"{sample.id}.{ending}"
        path.write_bytes(data)
        refs[ending] = file_ref(folder, path)
    return Example(
        id=sample.id,
        title=sample.title or sample.id,
        media_type=MEDIA_TYPES[picture],
        input=refs[extension],
        tensor=refs["tensor"],
        outputs=refs["outputs"],
        label=sample.label,
        shown=sample.shown,
    )


def copy_variants(
    folder: Path,
    quantised: Quantised,
    backends: Mapping[VariantName, Mapping[Backend, BackendResult]],
) -> list[Variant]:
    """Copy the model files and describe them."""
    variants = []
    for name, path in quantised.paths.items():
        target = folder / FILE_NAMES[name]
        shutil.copyfile(path, target)
        ref = file_ref(folder, target)
        variants.append(
            Variant(
                name=name,
                file=ref.file,
                size_bytes=ref.size_bytes,
                sha256=ref.sha256,
                entry="webgpu",
                backends=dict(backends[name]),
            )
        )
    return variants


def make_contract(
    recipe: Recipe,
    *,
    version: int,
    labels: Sequence[str],
    variants: list[Variant],
    best: Mapping[Backend, VariantName],
    examples: list[Example],
    documents: list[FileRef],
    provenance: Provenance,
) -> Contract:
    """The contract of one version."""
    file, count = recipe.file, len(labels)
    k = min(file.output.top_k, count)
    return Contract(
        schema_version=SCHEMA_VERSION,
        name=recipe.name,
        version=version,
        title=file.title,
        description=file.description,
        task=file.task,
        licence=file.licence,
        labels=list(labels),
        input=input_spec(file.input),
        outputs=[
            Tensor(name=PROBABILITIES, dtype="float32", shape=["batch", count]),
            Tensor(name=TOP_PROBABILITIES, dtype="float32", shape=["batch", k]),
            Tensor(name=TOP_INDICES, dtype="int64", shape=["batch", k]),
        ],
        decision=Decision(
            kind="scores",
            probabilities=PROBABILITIES,
            top_probabilities=TOP_PROBABILITIES,
            top_indices=TOP_INDICES,
            top_k=k,
            ask_a_person_below=file.output.ask_a_person_below,
        ),
        variants=variants,
        best=dict(best),
        examples=examples,
        documents=documents,
        provenance=provenance,
    )


def index_entry(
    models: Path, folder: Path, contract: Contract, earlier: Sequence[int] = ()
) -> IndexEntry:
    """What index.json says of a version that lies in `folder` below `models`."""
    shown = [example.input.file for example in contract.examples if example.shown]
    sample = shown[len(shown) // 2] if shown else None
    return IndexEntry(
        title=contract.title,
        description=contract.description,
        task=contract.task,
        kind=contract.input.kind,
        version=contract.version,
        versions=sorted({*earlier, contract.version}),
        contract=file_ref(models, folder / "contract.json"),
        published=contract.provenance.built,
        sample=sample,
    )


def write_draft(
    models: Path, quantised: Quantised, pixels: Pixels, provenance: Provenance
) -> Contract:
    """An unpublished version below `models`, for verify: every backend is still unverified."""
    recipe, sourced = quantised.recipe, quantised.exported.sourced
    folder = models / recipe.name / "1"
    folder.mkdir(parents=True)
    contract = make_contract(
        recipe,
        version=1,
        labels=sourced.labels,
        variants=copy_variants(folder, quantised, dict.fromkeys(quantised.paths, UNVERIFIED)),
        best={"cpu": "fp32", "wasm": "fp32", "webgpu": "fp32"},
        examples=write_examples(folder, sourced.examples, pixels),
        documents=[],
        provenance=provenance,
    )
    (folder / "contract.json").write_bytes(to_json(contract))
    entry = index_entry(models, folder, contract)
    index = Index(schema_version=SCHEMA_VERSION, models={recipe.name: entry})
    (models / "index.json").write_bytes(to_json(index))
    return contract


def today() -> str:
    """The UTC date, ISO 8601."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()
