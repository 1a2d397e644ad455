"""quantise: the smaller variants, made from the fp32 file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import onnx

from export.contract import VariantName
from export.evaluate import Evaluate
from export.quantise.fp16 import to_fp16
from export.quantise.q4 import to_q4
from export.quantise.q8 import method_of, to_q8
from export.quantise.sensitive import search
from export.recipe.inputs import DrawingSection, ImageSection
from export.runtime import Session
from export.stages.export import joined, strip
from export.stages.results import FILE_NAMES, Exported
from export.tensors import Answers, Tensors

KEPT = "kept.json"
FEW = 4  # calibration inputs whose every inner tensor is looked at, for fp16
Say = Callable[[str], None]


def make_quantised(
    exported: Exported,
    folder: Path,
    calibration: Sequence[Tensors] | None,
    evaluate: Evaluate | None,
    say: Say,
) -> None:
    """Write the variants on offer into `folder`, and which nodes q8 leaves in float32."""
    wanted = exported.sourced.recipe.file.variants
    kept: dict[VariantName, list[str]] = {}
    for variant in wanted.offer:
        say(variant)
        model = _make(exported, variant, calibration or (), evaluate, kept, say)
        strip(model)
        onnx.save(model, folder / FILE_NAMES[variant])
    (folder / KEPT).write_text(json.dumps(kept))


def read_kept(folder: Path) -> dict[VariantName, list[str]]:
    """Nodes that a variant leaves in float32, by the variant's name."""
    kept: dict[VariantName, list[str]] = json.loads((folder / KEPT).read_text())
    return kept


def _make(
    exported: Exported, variant: VariantName, calibration: Sequence[Tensors],
    evaluate: Evaluate | None, kept: dict[VariantName, list[str]], say: Say,
) -> onnx.ModelProto:  # fmt: skip
    recipe = exported.sourced.recipe
    wanted = recipe.file.variants
    match variant:
        case "fp32":
            return onnx.load(exported.path)
        case "fp16":
            core = onnx.load(exported.core)
            feeds = _core_feeds(exported, calibration)
            half = to_fp16(core, feeds, _run, wanted.fp16.keep_fp32)
            return joined(recipe, half, len(exported.sourced.labels))
        case "q8":
            return _q8(exported, calibration, evaluate, kept, say)
        case "q4":
            kept["q4"] = list(wanted.q4.keep_fp32)
            return to_q4(exported.path, wanted.q4.block_size, wanted.q4.keep_fp32)


def _q8(
    exported: Exported, calibration: Sequence[Tensors], evaluate: Evaluate | None,
    kept: dict[VariantName, list[str]], say: Say,
) -> onnx.ModelProto:  # fmt: skip
    section = exported.sourced.recipe.file.variants.q8
    method = method_of(exported.path) if section.method == "auto" else section.method
    kept["q8"] = list(section.keep_fp32)
    if section.aim is not None and evaluate is not None:
        with tempfile.TemporaryDirectory() as scratch:
            found = search(
                onnx.load(exported.path).graph, section.keep_fp32, section.aim,
                evaluate(exported.path),
                lambda keep, path: onnx.save(to_q8(exported.path, method, calibration, keep), path),
                evaluate, Path(scratch), section.search_minutes, say,
            )  # fmt: skip
        kept["q8"] = list(found.keep)
    return to_q8(exported.path, method, calibration, kept["q8"])


def _core_feeds(exported: Exported, calibration: Sequence[Tensors]) -> list[Tensors]:
    """Inputs of the bare network: what the joined graph makes of a few calibration inputs."""
    few = list(calibration[:FEW])
    if not isinstance(exported.sourced.recipe.file.input, ImageSection | DrawingSection):
        return few if exported.sourced.input.kind != "sound" else []
    model = onnx.load(exported.path)
    del model.graph.output[:]
    model.graph.output.append(
        onnx.helper.make_tensor_value_info("input", onnx.TensorProto.FLOAT, None)
    )
    session = Session(model.SerializeToString())
    return [{"input": session.run_batch(one)["input"]} for one in few]


def _run(model: bytes, inputs: Tensors) -> Answers:
    return Session(model).run_batch(inputs)
