"""A variant that missed a limit: the first tensor where it leaves the fp32 file, by name."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from export.contract import TensorInput, ValuesDecision
from export.evidence import Details, Evidence
from export.recipe import Recipe, RecipeFile
from export.runtime import Session
from export.sample import Sample
from export.samples import JudgedSamples
from export.stages.explain import explain
from export.stages.results import Exported, Measured, Quantised, Sourced
from export.tensors import Tensors

RANDOM = np.random.default_rng(11)
# The second layer's one large weight, of an input that is always 0, leaves its others none of q8's
# 256 steps.
WEIGHTS = [RANDOM.normal(size=(8, 8)).astype(np.float32) for _ in range(3)]
WEIGHTS[0][:, 0] = 0.0
WEIGHTS[1][0, 0] = 3000.0
SPREAD = RANDOM.normal(size=(1, 8)).astype(np.float32)


def network() -> onnx.ModelProto:
    names = ["features", "first", "second", "values"]
    nodes = [
        helper.make_node("MatMul", [given, f"w{i}"], [made], f"layer-{made}")
        for i, (given, made) in enumerate(pairwise(names))
    ]
    weights = [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(WEIGHTS)]
    shape: list[str | int | None] = ["batch", 8]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("values", TensorProto.FLOAT, shape)],
        weights,
    )  # fmt: skip
    model: onnx.ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10
    )
    return model


def recipe() -> Recipe:
    tensor = {"name": "features", "dtype": "float32", "shape": ["batch", 8]}
    file = RecipeFile.model_validate({
        "title": "t", "description": "d", "task": "any", "licence": "MIT",
        "source": {"kind": "onnx", "file": "model.onnx"},
        "input": {"kind": "tensor", "tensors": [tensor]},
        "output": {"kind": "values", "names": ["values"]},
        "data": {"about": "none", "examples": "*.npy"},
        "variants": {"offer": ["fp32", "q8"], "q8": {"method": "dynamic"}},
        "limits": {"q8": {"max_difference": 1e-3}},
    })  # fmt: skip
    return Recipe("explained", Path(), file)


@pytest.fixture
def measured(tmp_path: Path) -> Measured:
    """fp32 and the runtime's own dynamic q8 of it."""
    fp32, q8 = tmp_path / "model.onnx", tmp_path / "model_quantized.onnx"
    onnx.save(network(), fp32)
    quantize_dynamic(fp32, q8, weight_type=QuantType.QInt8)
    described = recipe()
    sourced = Sourced(
        described, tmp_path, TensorInput(kind="tensor"),
        ValuesDecision(kind="values", values=["values"]), "none", (),
        JudgedSamples((Sample("one", b""), Sample("two", b"")), ({}, {})), None, None,
    )  # fmt: skip
    exported = Exported(sourced, fp32, fp32, 192, (), ())
    return Measured(
        Quantised(exported, {"fp32": fp32, "q8": q8}, {}),
        Evidence(
            schema_version=2, name="explained", judge="none", environment={}, measurements=[],
            notes=[],
        ),
        details(worst="two"),
    )  # fmt: skip


def details(worst: str) -> Details:
    return Details.model_validate({
        "schema_version": 2, "name": "explained", "details": [{
            "variant": "q8", "where": "python-cpu", "data": "golden examples", "count": 2,
            "difference_edges": [0, 1], "difference_counts": [2],
            "worst": [{"id": worst, "difference": 1.0, "judge": "", "got": ""}],
            "confusion": None, "reliability": None,
        }],
    })  # fmt: skip


def judged(*measured: tuple[str, str, bool]) -> Evidence:
    return Evidence.model_validate({
        "schema_version": 2, "name": "explained", "judge": "none", "environment": {}, "notes": [],
        "measurements": [{
            "what": what, "variant": variant, "where": "python-cpu", "data": "golden examples",
            "count": 2, "value": 1.0, "unit": "", "limit": 1e-3, "rule": "at most",
            "passed": passed,
        } for variant, what, passed in measured],
    })  # fmt: skip


def examples() -> list[Tensors]:
    """The first is all zeros, on which nothing can differ."""
    return [{"features": np.zeros((1, 8), np.float32)}, {"features": SPREAD}]


def test_the_layer_where_q8_leaves_fp32_is_named_with_the_way_out(measured: Measured) -> None:
    (line,) = explain(measured, judged(("q8", "max_difference", False)), examples())
    assert line.startswith("q8 against fp32, first tensor that differs: second of layer-second ")
    assert line.endswith('keep_fp32 = ["layer-second"] may help')


def test_kept_in_float32_as_told_the_network_is_near_again(
    measured: Measured, tmp_path: Path
) -> None:
    fp32, kept = measured.quantised.paths["fp32"], tmp_path / "kept.onnx"
    quantize_dynamic(
        fp32, kept, weight_type=QuantType.QInt8, nodes_to_exclude=["layer-second"]
    )  # fmt: skip
    example = examples()[1]
    right = Session(fp32).run_batch(example)["values"]
    before = Session(measured.quantised.paths["q8"]).run_batch(example)["values"]
    after = Session(kept).run_batch(example)["values"]
    assert np.abs(after - right).max() < np.abs(before - right).max() / 20


@pytest.mark.parametrize(
    ("variant", "what", "passed"),
    [("q8", "max_difference", True), ("q8", "size_mb", False), ("fp32", "max_difference", False)],
)
def test_what_is_no_loss_of_exactness_of_a_variant_is_not_explained(
    measured: Measured, variant: str, what: str, passed: bool
) -> None:
    assert explain(measured, judged((variant, what, passed)), examples()) == []


def test_what_fp32_misses_in_the_same_place_is_not_the_variants_doing(measured: Measured) -> None:
    both = judged(("fp32", "accuracy", False), ("q8", "accuracy", False))
    assert explain(measured, both, examples()) == []
    more = judged(("fp32", "accuracy", False), ("q8", "cosine", False))
    assert len(explain(measured, more, examples())) == 1
