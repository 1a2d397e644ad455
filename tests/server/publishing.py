"""Small published versions for tests, as publish would write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from export.contract import (
    SCHEMA_VERSION,
    BackendResult,
    Contract,
    DrawingInput,
    Index,
    IndexEntry,
    Input,
    Provenance,
    Resize,
    ScoresDecision,
    Tensor,
    TensorInput,
    ValuesDecision,
    Variant,
    file_ref,
    read_contract,
    read_index,
    sha256,
    to_json,
)


def publish(
    models: Path,
    name: str,
    model: bytes,
    given: Tensor | list[Tensor],
    outputs: list[Tensor],
    *,
    status: str = "passed",
    reader: Input | None = None,
    files: Mapping[str, bytes] | None = None,
) -> None:
    """Publish `model` as version 1 of `name`, with one variant, fp32.

    Several tensors are read as they are, one as a drawing, unless `reader` says otherwise; `files`
    lie in the version beside the model.
    """
    inputs = given if isinstance(given, list) else [given]
    folder = models / name / "1"
    folder.mkdir(parents=True)
    for file, data in {"model.onnx": model, **(files or {})}.items():
        (folder / file).write_bytes(data)
    result = BackendResult.model_validate({"status": status})
    contract = Contract(
        schema_version=SCHEMA_VERSION,
        name=name,
        version=1,
        title=name,
        description=name,
        task="image-classification",
        licence="MIT",
        labels=["a", "b"],
        input=reader or _reader(given),
        inputs=inputs,
        outputs=outputs,
        decision=ValuesDecision(kind="values", values=[outputs[0].name])
        if reader or isinstance(given, list)
        else ScoresDecision(
            kind="scores",
            probabilities=outputs[0].name,
            top_probabilities=outputs[0].name,
            top_indices=outputs[-1].name,
            top_k=1,
        ),
        variants=[
            Variant(
                name="fp32",
                file="model.onnx",
                size_bytes=len(model),
                sha256=sha256(model),
                entry="wasm",
                backends={"cpu": result},
            )
        ],
        best={"cpu": "fp32"},
        examples=[],
        documents=[],
        provenance=Provenance(
            source_kind="onnx",
            judge="none",
            tools={},
            data="none",
            built="2026-01-01",
            build_key="0" * 64,
        ),
    )
    (folder / "contract.json").write_bytes(to_json(contract))
    list_version(models, name, 1)


def _reader(given: Tensor | list[Tensor]) -> Input:
    if isinstance(given, list):
        return TensorInput(kind="tensor")
    return DrawingInput(
        kind="drawing",
        tensor=given.name,
        resize=Resize(filter="bilinear"),
        orientation="exif",
        background=[255, 255, 255],
        colour_profile="ignore",
        ink="auto",
        fit="ink",
    )


def list_version(models: Path, name: str, version: int) -> None:
    """Make `version` the current one in index.json, by a rename as publish does."""
    folder = models / name / str(version)
    contract = read_contract(folder / "contract.json")
    old = read_index(models / "index.json")
    known = old.models[name].versions if name in old.models else []
    entry = IndexEntry(
        title=contract.title,
        description=contract.description,
        task=contract.task,
        kind=contract.input.kind,
        version=version,
        versions=sorted({*known, version}),
        contract=file_ref(models, folder / "contract.json"),
        published="2026-01-01",
        sample=None,
        history=[],
    )
    new = Index(schema_version=2, models={**old.models, name: entry})
    aside = models / "index.json.new"
    aside.write_bytes(to_json(new))
    aside.replace(models / "index.json")


def copy_version(models: Path, name: str, old: int, new: int) -> None:
    """Lay down version `new`, equal to `old` but for its number. It is not listed yet."""
    source, target = models / name / str(old), models / name / str(new)
    for path in source.rglob("*"):
        if path.is_file():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    contract = json.loads((source / "contract.json").read_text())
    (target / "contract.json").write_text(json.dumps({**contract, "version": new}))
