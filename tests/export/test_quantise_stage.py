"""The quantise stage: all variants of a stream and of a picture, each loads and answers alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from export.contract import Tensor, VariantName
from export.evaluate import Evaluation, evaluate_unlabelled
from export.recipe import Recipe, RecipeFile
from export.runtime import Session
from export.samples import JudgedSamples
from export.spec import decision, input_spec, stream_of
from export.stages.export import joined
from export.stages.quantise import make_quantised, read_kept
from export.stages.results import FILE_NAMES, Exported, Sourced
from export.tensors import Tensors

Floats = npt.NDArray[np.float32]
RANDOM = np.random.default_rng(11)
NOTHING = JudgedSamples((), ())


def weight(*shape: int) -> onnx.TensorProto:
    values = RANDOM.normal(size=shape) / np.prod(shape[1:]) ** 0.5
    return numpy_helper.from_array(values.astype(np.float32), f"W{'x'.join(map(str, shape))}")


def value(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def exported(folder: Path, parts: dict[str, Any], core: onnx.ModelProto, labels: int) -> Exported:
    file = {
        "title": "t", "description": "d", "task": "any", "licence": "MIT",
        "source": {"kind": "onnx", "file": "model.onnx"},
        "data": {"about": "none", "examples": "rows.csv", "calibration": "rows.csv"},
        "limits": {}, **parts,
    }  # fmt: skip
    recipe = Recipe("tiny", folder, RecipeFile.model_validate(file))
    onnx.save(core, folder / "core.onnx")
    onnx.save(joined(recipe, core, labels), folder / "joined.onnx")
    names = [f"label {i}" for i in range(labels)]
    sourced = Sourced(
        recipe, folder, input_spec(recipe.file.input), decision(recipe.file.output, names),
        "nobody", tuple(names), NOTHING, None, None,
    )  # fmt: skip
    tensors: tuple[Tensor, ...] = ()
    return Exported(sourced, folder / "joined.onnx", folder / "core.onnx", 1, tensors, tensors)


def model(
    nodes: list[onnx.NodeProto], inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto], weights: list[onnx.TensorProto],
) -> onnx.ModelProto:  # fmt: skip
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, weights)
    opsets = [helper.make_opsetid("", 20)]
    made: onnx.ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    onnx.checker.check_model(made, full_check=True)
    return made


def probabilities(one: Exported, path: Path, inputs: list[Tensors]) -> Floats:
    session = Session(path, stream_of(one.sourced.recipe.file.input))
    return np.array([answer["probabilities"] for answer in session.run(inputs)], np.float32)


@pytest.fixture
def stream(tmp_path: Path) -> Exported:
    """One frame a step of 64 samples, with a state that remembers."""
    nodes = [
        helper.make_node("Concat", ["samples", "state"], ["both"], "both", axis=1),
        helper.make_node("MatMul", ["both", "W96x32"], ["linear"], "layer"),
        helper.make_node("Tanh", ["linear"], ["next_state"], "remembers"),
        helper.make_node("MatMul", ["next_state", "W32x1"], ["logit"], "last"),
        helper.make_node("Sigmoid", ["logit"], ["scores"], "sigmoid"),
    ]
    core = model(
        nodes, [value("samples", "batch", 64), value("state", "batch", 32)],
        [value("scores", "batch", 1), value("next_state", "batch", 32)],
        [weight(96, 32), weight(32, 1)],
    )  # fmt: skip
    states = [{"input": "state", "output": "next_state"}]
    parts = {
        "input": {"kind": "sound", "rate": 8000, "stream": {"step_samples": 64, "states": states}},
        "output": {"kind": "frames", "frame_seconds": 0.008},
        "variants": {"offer": ["fp32", "fp16", "q8", "q4"], "q8": {"method": "static"}},
    }
    return exported(tmp_path, parts, core, 0)


def test_a_stream_calibrates_on_its_steps_with_their_states(
    stream: Exported, tmp_path: Path
) -> None:
    clips: list[Tensors] = [
        {"samples": RANDOM.normal(size=(1, 640)).astype(np.float32)} for _ in range(6)
    ]

    make_quantised(stream, tmp_path, clips, None, lambda _: None)

    right = probabilities(stream, stream.path, clips)
    assert right.shape == (6, 1, 10)
    limits: dict[VariantName, float] = {"fp16": 1e-3, "q8": 0.02, "q4": 0.1}
    for variant, most in limits.items():
        path = tmp_path / FILE_NAMES[variant]
        assert np.abs(probabilities(stream, path, clips) - right).mean() < most, variant


def test_without_labels_fp32_tells_what_is_right(stream: Exported, tmp_path: Path) -> None:
    clips: list[Tensors] = [
        {"samples": 3 * RANDOM.normal(size=(1, 640)).astype(np.float32)} for _ in range(6)
    ]
    make_quantised(stream, tmp_path, clips, None, lambda _: None)

    evaluated = evaluate_unlabelled(stream, clips)

    assert evaluated(stream.path) == Evaluation(1.0, None, None)
    coarse = evaluated(tmp_path / FILE_NAMES["q4"])
    assert coarse.accuracy is None
    assert coarse.label_agreement is not None
    assert 0.5 < coarse.label_agreement < 1.0


@pytest.fixture
def picture(tmp_path: Path) -> Exported:
    """A convolution whose values half precision cannot hold, though its input does not tell."""
    nodes = [
        helper.make_node("Conv", ["input", "W8x1x3x3"], ["c"], "first", pads=[1] * 4),
        helper.make_node("Mul", ["c", "large"], ["wide"], "widens"),
        helper.make_node("Mul", ["wide", "small"], ["back"], "narrows"),
        helper.make_node("GlobalAveragePool", ["back"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "W8x4"], ["scores"], "last"),
    ]
    factors = [numpy_helper.from_array(np.array(v, np.float32), n)
               for n, v in (("large", 2e4), ("small", 1e-3))]  # fmt: skip
    core = model(
        nodes, [value("input", "batch", 1, 8, 8)], [value("scores", "batch", 4)],
        [weight(8, 1, 3, 3), weight(8, 4), *factors],
    )  # fmt: skip
    parts = {
        "input": {"kind": "drawing",
                  "tensor": {"size": [8, 8], "channels": "grey", "layout": "NCHW",
                             "scale": "1/10", "mean": [0.0], "std": [1.0]}},
        "output": {"kind": "scores", "labels": "labels.txt", "top_k": 2},
        "variants": {"offer": ["fp32", "fp16", "q8"], "q8": {"keep_fp32": ["first-layer"]}},
    }  # fmt: skip
    return exported(tmp_path, parts, core, 4)


def test_fp16_measures_what_the_joined_graph_gives_the_network(
    picture: Exported, tmp_path: Path
) -> None:
    pixels: list[Tensors] = [
        {"pixels": RANDOM.integers(0, 256, (1, 8, 8, 1)).astype(np.uint8)} for _ in range(8)
    ]

    make_quantised(picture, tmp_path, pixels, None, lambda _: None)

    right = probabilities(picture, picture.path, pixels)
    variants: tuple[VariantName, ...] = ("fp16", "q8")
    for variant in variants:
        path = tmp_path / FILE_NAMES[variant]
        assert np.abs(probabilities(picture, path, pixels) - right).max() < 0.1, variant
    half = onnx.load(tmp_path / FILE_NAMES["fp16"])
    (strict,) = ReferenceEvaluator(half).run(["probabilities"], pixels[0])
    np.testing.assert_allclose(np.array(strict, np.float32), right[0], atol=5e-3)
    assert any(t.data_type == TensorProto.FLOAT16 for t in half.graph.initializer)
    assert read_kept(tmp_path) == {"fp16": [], "q8": ["first-layer"]}
