"""A tiny verified model made by hand: real files and the real gate, plausible numbers, no training.

Its judge draws answers from a fixed seed; each variant answers with an error of its own size.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper
from PIL import Image, ImageDraw

from export.contract import Provenance, Tensor, VariantName
from export.details import detail
from export.evidence import Detail, Details, Evidence, Measurement
from export.recipe import Recipe, RecipeFile
from export.sample import Sample
from export.samples import JudgedSamples
from export.spec import decision, input_spec
from export.stages.gate import UNITS, gate
from export.stages.results import FILE_NAMES, Exported, Measured, Quantised, Sourced, Verified
from export.statistics import interval, paired_p_value
from export.tensors import Tensors

NAME = "shapes"
LABELS = ("circle", "square", "triangle")
LABELLED = 400
ERRORS: dict[VariantName, float] = {"fp32": 1e-7, "fp16": 4e-4, "q8": 4e-2}
SPEEDS: dict[VariantName, float] = {"fp32": 1.0, "fp16": 1.6, "q8": 0.55}
WEIGHTS: dict[VariantName, int] = {"fp32": 4000, "fp16": 2000, "q8": 1000}
PLACES = {
    "python-cpu": 0.8, "chromium-wasm-1-thread": 4.0, "chromium-wasm-2-threads": 2.6,
    "chromium-webgpu": 30.0,
}  # fmt: skip

Floats = npt.NDArray[np.float64]


def recipe(folder: Path, **changed: Any) -> Recipe:
    """The recipe of NAME in `folder`; `changed` replaces whole sections."""
    file = {
        "title": "Which shape?", "task": "image-classification", "licence": "MIT",
        "description": "Draw a shape and the page names it.",
        "source": {"kind": "torch", "entry": "source:model"},
        "input": {"kind": "drawing", "tensor": {"size": [8, 8], "channels": "grey"}},
        "output": {"kind": "scores", "labels": "labels.txt", "ask_a_person_below": 0.6},
        "data": {"about": "Shapes drawn for this test.", "examples": "source:examples"},
        "variants": {"offer": [*ERRORS], "q8": {"method": "dynamic"}},
        "limits": {
            "all": {"label_agreement": 0.9},
            "fp32": {"max_difference": 1e-5},
            "q8": {"accuracy_loss_points": 2.0, "size_vs_fp32": 0.5},
        },
    }  # fmt: skip
    return Recipe(NAME, folder, RecipeFile.model_validate({**file, **changed}))


def provenance() -> Provenance:
    return Provenance(
        source_kind="torch", judge="PyTorch 2.13.0", tools={"torch": "2.13.0"},
        data="Shapes drawn for this test.", built="2026-01-01", build_key="0" * 64,
    )  # fmt: skip


def verified(cache: Path, home: Path, *, seed: int = 0, **changed: Any) -> Verified:
    """Through the real gate. Model files lie in `cache`, the recipe in `home`."""
    cache.mkdir(parents=True, exist_ok=True)
    paths = {name: cache / FILE_NAMES[name] for name in ERRORS}
    for name, path in paths.items():
        path.write_bytes(_model(WEIGHTS[name]))
    described = recipe(home, **changed)
    sourced = Sourced(
        described, home, input_spec(described.file.input),
        decision(described.file.output, LABELS), "PyTorch 2.13.0", LABELS, _examples(), None, None,
    )  # fmt: skip
    given = Tensor(name="pixels", dtype="uint8", shape=["batch", 8, 8, 1])
    got = Tensor(name="probabilities", dtype="float32", shape=["batch", len(LABELS)])
    exported = Exported(sourced, paths["fp32"], paths["fp32"], 1234, (given,), (got,))
    quantised = Quantised(exported, paths, {"q8": ["node_conv_1"]})
    evidence, details = _measured(seed, paths)
    return gate(Measured(quantised, evidence, details))


def tensors() -> list[Tensors]:
    """What the decoder would give for each golden example."""
    return [{"pixels": np.full((1, 8, 8, 1), i, np.uint8)} for i in range(len(_examples()))]


def _model(weights: int) -> bytes:
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 1])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", weights])
    kernel = helper.make_tensor("w", TensorProto.FLOAT, [1, weights], [0.5] * weights)
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "g", [value], [result], [kernel])
    made: onnx.ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10
    )
    data: bytes = made.SerializeToString()
    return data


def _examples() -> JudgedSamples:
    samples = [
        Sample(f"{name}-{i}", _picture(name, i), label, f"a {name}")
        for i in range(3) for label, name in enumerate(LABELS)
    ]  # fmt: skip
    rows = np.eye(len(LABELS), dtype=np.float32)
    answers = [{"probabilities": rows[[i % len(LABELS)]]} for i in range(len(samples))]
    return JudgedSamples(tuple(samples), tuple(answers))


def _picture(name: str, number: int) -> bytes:
    image = Image.new("L", (96, 96), 255)
    draw, box = ImageDraw.Draw(image), (16 + 4 * number, 16, 80, 80 - 4 * number)
    match name:
        case "circle":
            draw.ellipse(box, outline=0, width=6)
        case "square":
            draw.rectangle(box, outline=0, width=6)
        case _:
            draw.line([(48, 16), (80, 80), (16, 80), (48, 16)], fill=0, width=6)
    kept = io.BytesIO()
    image.save(kept, "PNG")
    return kept.getvalue()


def _measured(seed: int, paths: dict[VariantName, Path]) -> tuple[Evidence, Details]:
    random = np.random.default_rng(seed)
    labels = random.integers(len(LABELS), size=LABELLED)
    judge = _softmax(random.normal(size=(LABELLED, len(LABELS))) + 3 * np.eye(len(LABELS))[labels])
    measured = [*_sizes(paths)]
    details: list[Detail] = []
    for where, pace in PLACES.items():
        few = where == "chromium-webgpu"
        if where != "python-cpu":
            count = 4 if few else len(_examples())
            measured.append(_one("differing_input_bytes", None, where, 0, count=count))
        for name, error in ERRORS.items():
            if few and name == "fp16":
                continue
            got = _normal(np.abs(judge + random.normal(scale=error, size=judge.shape)))
            taken = slice(0, 4) if few else slice(None)
            measured += _timed(name, where, pace)
            measured += _compared(name, where, judge[taken], got[taken], labels[taken], few)
            golden = slice(0, 4 if few else len(_examples()))
            details.append(_detail(name, where, judge[golden], got[golden], None))
            if not few:
                details.append(_detail(name, where, judge, got, labels))
    evidence = Evidence(
        schema_version=2, name=NAME, judge="PyTorch 2.13.0",
        environment={"chromium": "156.0"}, measurements=measured,
        notes=["fp16 was not measured on WebGPU: this adapter has no shader-f16."],
    )  # fmt: skip
    return evidence, Details(schema_version=2, name=NAME, details=details)


def _sizes(paths: dict[VariantName, Path]) -> list[Measurement]:
    sizes = {name: path.stat().st_size for name, path in paths.items()}
    return [
        one
        for name, size in sizes.items()
        for one in (
            _one("size_mb", name, "publication", size / 1e6, data="files", count=1),
            _one("size_vs_fp32", name, "publication", size / sizes["fp32"], data="files", count=1),
        )
    ]


def _timed(name: VariantName, where: str, pace: float) -> list[Measurement]:
    times = (("median_ms", 1.0), ("p95_ms", 1.4))
    told = [_one(what, name, where, pace * SPEEDS[name] * k, count=30) for what, k in times]
    return [*told, _one("time_vs_fp32", name, where, SPEEDS[name], count=30)]


def _compared(
    name: VariantName, where: str, judge: Floats, got: Floats, labels: npt.NDArray[np.int64],
    few: bool,
) -> list[Measurement]:  # fmt: skip
    count, data = len(judge), "golden examples" if few else "labelled data"
    agree = judge.argmax(axis=1) == got.argmax(axis=1)
    told = [
        _one("max_difference", name, where, np.abs(judge - got).max(), data=data, count=count),
        _one("label_agreement", name, where, agree.mean(), data=data, count=count),
    ]
    if few:
        return told
    right, base = got.argmax(axis=1) == labels, judge.argmax(axis=1) == labels
    low, high = interval(right.astype(np.float64))
    accuracy = _one("accuracy", name, where, right.mean(), data=data, count=count)
    told.append(accuracy.model_copy(update={"low": low, "high": high}))
    lost = 100 * (base.mean() - right.mean())
    told.append(_one("accuracy_loss_points", name, where, lost, data=data, count=count))
    if name != "fp32":
        p = paired_p_value(base.astype(np.float64), right.astype(np.float64))
        told.append(_one("paired_p_value", name, where, p, data=data, count=count))
    return told


def _detail(
    name: VariantName, where: Any, judge: Floats, got: Floats,
    labels: npt.NDArray[np.int64] | None,
) -> Detail:  # fmt: skip
    """Of labelled data; without labels, of golden examples."""
    golden = labels is None
    ids = [s.id for s in _examples().samples] if golden else [f"s-{i}" for i in range(LABELLED)]
    return detail(
        name, where, "golden examples" if golden else "labelled data", ids[: len(judge)],
        np.abs(judge - got).max(axis=1), lambda i: (_words(judge[i]), _words(got[i])),
        probabilities=None if golden else got, labels=labels,
    )  # fmt: skip


def _words(row: Sequence[float] | Floats) -> str:
    values = np.asarray(row)
    return f"{LABELS[int(values.argmax())]} {values.max():.3f}"


def _one(
    what: str, variant: str | None, where: str, value: float, *, data: str = "golden examples",
    count: int = 9,
) -> Measurement:  # fmt: skip
    return Measurement.model_validate({
        "what": what, "variant": variant, "where": where, "data": data, "count": count,
        "value": float(value), "unit": UNITS.get(what, ""),
    })  # fmt: skip


def _softmax(logits: Floats) -> Floats:
    return _normal(np.exp(logits))


def _normal(values: Floats) -> Floats:
    normal: Floats = values / values.sum(axis=1, keepdims=True)
    return normal
