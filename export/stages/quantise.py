"""quantise: the smaller variants, made from the fp32 file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx

from export.contract import VariantName
from export.evaluate import Evaluate
from export.quantise.choose import choose_q8
from export.quantise.fp16 import to_fp16
from export.quantise.q4 import to_q4
from export.quantise.q8 import Quantiser
from export.recipe.inputs import DrawingSection, ImageSection
from export.runtime import Session
from export.spec import stream_of
from export.stages.export import joined, strip
from export.stages.results import FILE_NAMES, Exported
from export.streaming import run_stream
from export.tensors import Answers, Tensors

KEPT = "kept.json"
FEW = 32  # calibration inputs on which fp16's ranges are measured
STEPS = 512  # of streams, on which q8's ranges are measured
Say = Callable[[str], None]


def make_quantised(
    exported: Exported,
    folder: Path,
    calibration: Sequence[Tensors] | None,
    evaluate: Evaluate | None,
    say: Say,
) -> None:
    """Write the variants on offer into `folder`, and which nodes they leave in float32."""
    kept: dict[VariantName, list[str]] = {}
    for variant in exported.sourced.recipe.file.variants.offer:
        say(variant)
        model = _make(exported, variant, calibration or (), evaluate, kept, say)
        strip(model)
        path = folder / FILE_NAMES[variant]
        onnx.save(model, path)
        Session(path)  # the converters write files, too, that no runtime loads
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
            kept["fp16"] = list(wanted.fp16.keep_fp32)
            feeds = _core_feeds(exported, _picked(calibration, FEW))
            half = to_fp16(onnx.load(exported.core), feeds, _run, kept["fp16"])
            return joined(recipe, half, len(exported.sourced.labels))
        case "q8":
            stream = stream_of(recipe.file.input)
            chosen = choose_q8(
                Quantiser(exported.path, _graph_feeds(exported, calibration)), wanted.q8,
                exported.path, evaluate, calibration, stream, lambda text: say(f"q8: {text}"),
            )  # fmt: skip
            kept["q8"] = chosen.kept
            return chosen.model
        case "q4":
            kept["q4"] = list(wanted.q4.keep_fp32)
            return to_q4(exported.path, wanted.q4.block_size, wanted.q4.keep_fp32)


def _graph_feeds(exported: Exported, inputs: Sequence[Tensors]) -> Sequence[Tensors]:
    """What the graph takes at a run: the inputs, or the steps of streams with their states."""
    stream = stream_of(exported.sourced.recipe.file.input)
    if stream is None:
        return inputs
    session = Session(exported.path)
    steps: list[Tensors] = []

    def noting(step: Tensors) -> Answers:
        steps.append(step)
        return session.run_batch(step)

    for one in inputs:
        (samples,) = one.items()
        run_stream(noting, samples, stream, session.zero_states(stream, 1))
    return _picked(steps, STEPS)


def _core_feeds(exported: Exported, inputs: Sequence[Tensors]) -> Sequence[Tensors]:
    """Inputs of the bare network: what the joined graph makes of the decoded ones."""
    if not isinstance(exported.sourced.recipe.file.input, ImageSection | DrawingSection):
        return _graph_feeds(exported, inputs)
    model = onnx.load(exported.path)
    del model.graph.output[:]
    model.graph.output.append(
        onnx.helper.make_tensor_value_info("input", onnx.TensorProto.FLOAT, None)
    )
    session = Session(model.SerializeToString())
    return [{"input": session.run_batch(one)["input"]} for one in inputs]


def _run(model: bytes, feeds: Sequence[Tensors]) -> Iterator[Answers]:
    session = Session(model)
    return (session.run_batch(one) for one in feeds)


def _picked(items: Sequence[Tensors], most: int) -> Sequence[Tensors]:
    """At most `most` of them, evenly."""
    if len(items) <= most:
        return items
    return [items[i] for i in np.linspace(0, len(items) - 1, most).round().astype(int)]
