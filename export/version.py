"""A version's folder: model files, golden examples, contract; assembled for verify and publish."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from export.contract import (
    SCHEMA_VERSION,
    Backend,
    BackendResult,
    Contract,
    Datatype,
    Event,
    Example,
    FileRef,
    Index,
    IndexEntry,
    InputKind,
    Provenance,
    TensorFile,
    TextInput,
    Variant,
    VariantName,
    file_ref,
    to_json,
)
from export.media import media_type
from export.parity import DTYPES
from export.sample import Sample
from export.samples import JudgedSamples
from export.spec import TOKENIZER
from export.stages.results import FILE_NAMES, Exported, Quantised
from export.tensor_bytes import to_bytes
from export.tensors import Answers, Array, Tensors

# Operators of the wasm build alone.
WASM_DOMAINS = {"ai.onnx.ml"}
WASM_OPERATORS = {
    "StringNormalizer", "StringConcat", "StringSplit", "RegexFullMatch", "TfIdfVectorizer",
}  # fmt: skip
UNVERIFIED: dict[Backend, BackendResult] = {
    "cpu": BackendResult(status="unverified"),
    "wasm": BackendResult(status="unverified"),
    "webgpu": BackendResult(status="unverified"),
}


def write_examples(
    folder: Path, kind: InputKind, examples: JudgedSamples, tensors: Sequence[Tensors]
) -> list[Example]:
    """Write encoded input, decoded tensors and the judge's answer of each golden example."""
    (folder / "examples").mkdir(parents=True, exist_ok=True)
    return [
        _write_example(folder, kind, sample, decoded, answer)
        for sample, decoded, answer in zip(examples.samples, tensors, examples.answers, strict=True)
    ]


def _write_example(
    folder: Path, kind: InputKind, sample: Sample, decoded: Tensors, answer: Answers
) -> Example:
    media, extension = media_type(kind, sample.data)
    path = folder / "examples" / f"{sample.id}.{extension}"
    path.write_bytes(sample.data)
    return Example(
        id=sample.id,
        title=sample.title or sample.id,
        media_type=media,
        input=file_ref(folder, path),
        tensors=_write_tensors(folder, sample.id, "tensor", decoded),
        outputs=_write_tensors(folder, sample.id, "outputs", answer),
        label=sample.label,
        shown=sample.shown,
    )


def _write_tensors(folder: Path, id_: str, ending: str, values: Tensors) -> list[TensorFile]:
    """One file a tensor; a single one is named by the example alone."""
    written = []
    for name, array in values.items():
        middle = "" if len(values) == 1 else f".{name}"
        path = folder / "examples" / f"{id_}{middle}.{ending}"
        path.write_bytes(to_bytes(array))
        ref = file_ref(folder, path)
        written.append(
            TensorFile(
                name=name, dtype=dtype_of(array), shape=[*array.shape], file=ref.file,
                size_bytes=ref.size_bytes, sha256=ref.sha256,
            )
        )  # fmt: skip
    return written


def dtype_of(array: Array) -> Datatype:
    """A contract's name of an array's type."""
    return next(name for name, kind in DTYPES.items() if array.dtype == kind)


def entry_of(path: Path) -> Literal["wasm", "webgpu"]:
    """The narrowest onnxruntime-web entry that has all operators of the file."""
    import onnx  # half a second, which an unchanged build must not pay

    model = onnx.load(path, load_external_data=False)
    nodes = [*model.graph.node, *(node for f in model.functions for node in f.node)]
    text = any(
        value.type.tensor_type.elem_type == onnx.TensorProto.STRING for value in model.graph.input
    )
    special = any(n.domain in WASM_DOMAINS or n.op_type in WASM_OPERATORS for n in nodes)
    return "wasm" if text or special else "webgpu"


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
                entry=entry_of(target),
                backends=dict(backends[name]),
            )
        )
    return variants


def make_contract(
    exported: Exported,
    *,
    version: int,
    variants: list[Variant],
    best: Mapping[Backend, VariantName],
    examples: list[Example],
    documents: list[FileRef],
    provenance: Provenance,
) -> Contract:
    """The contract of one version."""
    sourced = exported.sourced
    file = sourced.recipe.file
    return Contract(
        schema_version=SCHEMA_VERSION,
        name=sourced.recipe.name,
        version=version,
        title=file.title,
        description=file.description,
        task=file.task,
        licence=file.licence,
        labels=list(sourced.labels),
        input=sourced.input,
        inputs=list(exported.inputs),
        outputs=list(exported.outputs),
        decision=sourced.decision,
        variants=variants,
        best=dict(best),
        examples=examples,
        documents=documents,
        provenance=provenance,
    )


def copy_decoder(folder: Path, exported: Exported) -> None:
    """Copy what the decoder needs into the version: a text's tokenizer."""
    if isinstance(exported.sourced.input, TextInput):
        shutil.copyfile(exported.sourced.folder / TOKENIZER, folder / TOKENIZER)


def index_entry(
    models: Path,
    folder: Path,
    contract: Contract,
    earlier: Sequence[int] = (),
    history: Sequence[Event] = (),
) -> IndexEntry:
    """What index.json says of a version that lies in `folder` below `models`."""
    pictures = [e.input.file for e in contract.examples
                if e.shown and e.media_type.startswith("image/")]  # fmt: skip
    sample = pictures[len(pictures) // 2] if pictures else None
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
        history=list(history),
    )


def write_draft(
    models: Path, quantised: Quantised, tensors: Sequence[Tensors], provenance: Provenance
) -> Contract:
    """An unpublished version below `models`, for verify: every backend is still unverified."""
    recipe, exported = quantised.recipe, quantised.exported
    folder = models / recipe.name / "1"
    folder.mkdir(parents=True)
    copy_decoder(folder, exported)
    contract = make_contract(
        exported,
        version=1,
        variants=copy_variants(folder, quantised, dict.fromkeys(quantised.paths, UNVERIFIED)),
        best={"cpu": "fp32", "wasm": "fp32", "webgpu": "fp32"},
        examples=write_examples(folder, recipe.file.input.kind, exported.sourced.examples, tensors),
        documents=[],
        provenance=provenance,
    )
    (folder / "contract.json").write_bytes(to_json(contract))
    entry = index_entry(models, folder, contract)
    index = Index(schema_version=SCHEMA_VERSION, models={recipe.name: entry})
    (models / "index.json").write_bytes(to_json(index))
    return contract


def now() -> str:
    """The UTC date and time to the second, ISO 8601."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def today() -> str:
    """The UTC date, ISO 8601."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()
