"""What is joined to a network, against the same written in numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from export.joining import after, as_model, join
from export.recipe import Recipe, RecipeFile
from export.runtime import Session
from export.tensors import Answers, Tensors

RANDOM = np.random.default_rng(7)


def recipe(given: dict[str, Any], output: dict[str, Any]) -> Recipe:
    file = {
        "title": "t", "description": "d", "task": "any", "licence": "MIT",
        "source": {"kind": "onnx", "file": "model.onnx"}, "input": given, "output": output,
        "data": {"about": "none", "examples": "rows.csv"}, "limits": {},
    }  # fmt: skip
    return Recipe("joined", Path(), RecipeFile.model_validate(file))


TEXT = {"kind": "text", "tokenizer": "tokenizer.json"}
IMAGE = {"kind": "image", "tensor": {"size": [8, 8]}}
NO_PICTURE = np.zeros((1, 8, 8, 3), np.uint8)  # these networks are given boxes directly


def passing_on(names: dict[str, tuple[int, list[Any]]], out: list[str]) -> onnx.ModelProto:
    """A network whose outputs are its inputs."""
    inputs = [helper.make_tensor_value_info(n, kind, shape) for n, (kind, shape) in names.items()]
    nodes = [helper.make_node("Identity", [f"{n}_in"], [n], f"pass_{n}") for n in out]
    for value in inputs:
        value.name = f"{value.name}_in" if value.name in out else value.name
    outputs = [helper.make_tensor_value_info(n, *names[n]) for n in out]
    graph = helper.make_graph(nodes, "passing_on", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def run(model: onnx.ModelProto, **inputs: np.ndarray) -> Answers:
    onnx.checker.check_model(model, full_check=True)
    given: Tensors = dict(inputs)
    return Session(model.SerializeToString()).run_batch(given)


def test_mean_pooling_leaves_padding_out_and_gives_length_1() -> None:
    network = passing_on(
        {"hidden": (TensorProto.FLOAT, ["batch", "tokens", 4]),
         "attention_mask": (TensorProto.INT64, ["batch", "tokens"])}, ["hidden"],
    )  # fmt: skip
    hidden = RANDOM.normal(size=(2, 5, 4)).astype(np.float32)
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]], np.int64)

    model = join(recipe(TEXT, {"kind": "embedding"}), network, 0)
    got = run(model, hidden_in=hidden, attention_mask=mask)["embedding"]

    pooled = np.stack([hidden[0].mean(axis=0), hidden[1, :2].mean(axis=0)])
    expected = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    np.testing.assert_allclose(got, expected, atol=1e-6)


def test_a_row_that_is_all_padding_gives_zeros_not_nan() -> None:
    network = passing_on(
        {"hidden": (TensorProto.FLOAT, ["batch", "tokens", 4]),
         "attention_mask": (TensorProto.INT64, ["batch", "tokens"])}, ["hidden"],
    )  # fmt: skip
    model = join(recipe(TEXT, {"kind": "embedding"}), network, 0)
    hidden, mask = np.ones((1, 3, 4), np.float32), np.zeros((1, 3), np.int64)
    assert run(model, hidden_in=hidden, attention_mask=mask)["embedding"].tolist() == [[0.0] * 4]


@pytest.mark.parametrize("activation", ["softmax", "sigmoid", "none"])
def test_scores_become_probabilities_and_the_best_k(activation: str) -> None:
    network = passing_on({"scores": (TensorProto.FLOAT, ["batch", 6])}, ["scores"])
    output = {"kind": "scores", "labels": "l", "top_k": 2, "activation": activation}
    scores = RANDOM.normal(size=(3, 6)).astype(np.float32)
    raw: Any = {"kind": "tensor", "tensors": [{"name": "x", "dtype": "float32", "shape": [6]}]}

    got = run(join(recipe(raw, output), network, 6), scores_in=scores)

    ways = {
        "softmax": np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True),
        "sigmoid": 1 / (1 + np.exp(-scores)),
        "none": scores,
    }
    np.testing.assert_allclose(got["probabilities"], ways[activation], atol=1e-6)
    assert got["top_indices"].tolist() == np.argsort(-scores, axis=1)[:, :2].tolist()


def detector() -> onnx.ModelProto:
    return passing_on(
        {"boxes": (TensorProto.FLOAT, ["batch", "n", 4]),
         "class_scores": (TensorProto.FLOAT, ["batch", "n", 3])}, ["boxes", "class_scores"],
    )  # fmt: skip


def suppressed(boxes: np.ndarray, scores: np.ndarray, most: int, overlap: float, least: float
               ) -> list[tuple[float, int, int]]:  # fmt: skip
    """(score, class, box) of what remains, best first: the textbook's way, a picture at a time."""
    kept = []
    for label in range(scores.shape[1]):
        chosen: list[int] = []
        for index in np.argsort(-scores[:, label], kind="stable"):
            if scores[index, label] > least and all(
                shared(boxes[index], boxes[other]) <= overlap for other in chosen
            ):
                chosen.append(int(index))
        kept += [(float(scores[i, label]), label, i) for i in chosen]
    return sorted(kept, reverse=True)[:most]


def shared(one: np.ndarray, other: np.ndarray) -> float:
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    inner = np.prod(np.clip(sides, 0, None))
    whole = np.prod(one[2:] - one[:2]) + np.prod(other[2:] - other[:2]) - inner
    return float(inner / whole)


def test_boxes_are_suppressed_per_class_and_picture() -> None:
    corners = RANDOM.uniform(0, 60, size=(3, 40, 2))
    boxes = np.concatenate([corners, corners + RANDOM.uniform(20, 50, (3, 40, 2))], axis=2)
    boxes, scores = boxes.astype(np.float32), RANDOM.random((3, 40, 3)).astype(np.float32)
    output = {"kind": "boxes", "labels": "l", "most": 9, "threshold": 0.4, "overlap": 0.3}

    got = run(
        join(recipe(IMAGE, output), detector(), 3),
        pixels=NO_PICTURE,
        boxes_in=boxes,
        class_scores_in=scores,
    )

    for picture in range(3):
        expected = suppressed(boxes[picture], scores[picture], 9, 0.3, 0.4)
        count = len(expected)
        assert count > 3
        assert got["box_classes"][picture, :count].tolist() == [label for _, label, _ in expected]
        np.testing.assert_allclose(got["box_scores"][picture, :count], [s for s, _, _ in expected])
        chosen = [boxes[picture, i].tolist() for _, _, i in expected]
        np.testing.assert_allclose(got["box_corners"][picture, :count], chosen)


def test_no_box_at_all_is_filled_with_zeros_and_no_class() -> None:
    output = {"kind": "boxes", "labels": "l", "most": 4, "threshold": 0.9}
    boxes, scores = np.ones((2, 5, 4), np.float32), np.full((2, 5, 3), 0.1, np.float32)
    got = run(
        join(recipe(IMAGE, output), detector(), 3),
        pixels=NO_PICTURE,
        boxes_in=boxes,
        class_scores_in=scores,
    )
    assert got["box_scores"].tolist() == [[0.0] * 4] * 2
    assert got["box_classes"].tolist() == [[-1] * 4] * 2
    assert not got["box_corners"].any()


@pytest.mark.parametrize("channels", ["RGB", "BGR"])
def test_pixels_are_scaled_and_laid_out_as_the_recipe_says(channels: str) -> None:
    tensor = {"size": [2, 3], "channels": channels, "mean": [0.1, 0.2, 0.3], "std": [0.5] * 3}
    network = passing_on({"scores": (TensorProto.FLOAT, ["batch", 18])}, ["scores"])
    flat = helper.make_node("Flatten", ["input"], ["scores_in"], "flat")
    del network.graph.input[:]
    network.graph.input.append(
        helper.make_tensor_value_info("input", TensorProto.FLOAT, ["batch", 3, 2, 3])
    )
    network.graph.node.insert(0, flat)
    output = {"kind": "scores", "labels": "l", "activation": "none"}
    pixels = RANDOM.integers(0, 256, (2, 2, 3, 3), np.uint8)

    model = join(recipe({"kind": "image", "tensor": tensor}, output), network, 18)
    got = run(model, pixels=pixels)["probabilities"]

    rgb = pixels.astype(np.float32)[..., ::-1] if channels == "BGR" else pixels.astype(np.float32)
    expected = (rgb / 255 - np.array([0.1, 0.2, 0.3], np.float32)) / np.float32(0.5)
    np.testing.assert_allclose(got, expected.transpose(0, 3, 1, 2).reshape(2, 18), atol=1e-6)


def test_an_inner_value_called_as_an_output_is_renamed() -> None:
    """Else onnx writes a file that no runtime loads, without a word."""
    network = passing_on({"scores": (TensorProto.FLOAT, ["batch", 2])}, ["scores"])
    network.graph.node[0].output[0] = "probabilities"
    network.graph.node.append(helper.make_node("Neg", ["probabilities"], ["scores"], "neg"))
    raw: Any = {"kind": "tensor", "tensors": [{"name": "x", "dtype": "float32", "shape": [2]}]}
    output = {"kind": "scores", "labels": "l", "activation": "none"}
    got = run(join(recipe(raw, output), network, 2), scores_in=np.array([[1, 2]], np.float32))
    assert got["probabilities"].tolist() == [[-1.0, -2.0]]


def test_the_joined_piece_and_the_reference_evaluator_say_the_same() -> None:
    """The judge without a reference post-processes by onnx's own evaluator."""
    output = {"kind": "boxes", "labels": "l", "most": 5, "threshold": 0.4}
    piece = after(recipe(IMAGE, output), 3)
    assert piece is not None
    corners = RANDOM.uniform(0, 60, (2, 12, 2))
    boxes = np.concatenate([corners, corners + 30], axis=2).astype(np.float32)
    scores = RANDOM.random((2, 12, 3)).astype(np.float32)
    evaluated = ReferenceEvaluator(as_model(piece)).run(
        None, {"boxes": boxes, "class_scores": scores}
    )
    got = run(
        join(recipe(IMAGE, output), detector(), 3),
        pixels=NO_PICTURE,
        boxes_in=boxes,
        class_scores_in=scores,
    )
    for name, expected in zip(("box_corners", "box_scores", "box_classes"), evaluated, strict=True):
        np.testing.assert_allclose(got[name], expected, atol=1e-6)
