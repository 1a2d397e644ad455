"""After the network: softmax and top-k, pooling and length, boxes and their suppression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from export.graph_names import (
    BOX_CLASSES,
    BOX_CORNERS,
    BOX_SCORES,
    EMBEDDING,
    PREFIX,
    PROBABILITIES,
    TOP_INDICES,
    TOP_PROBABILITIES,
)
from export.joining.piece import Piece
from export.recipe import Recipe
from export.recipe.inputs import TextSection
from export.recipe.outputs import BoxesOutput, EmbeddingOutput, ScoresOutput

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
ACTIVATIONS = {"softmax": "Softmax", "sigmoid": "Sigmoid", "none": "Identity"}
TINY_LENGTH, TINY_COUNT = 1e-12, 1e-9  # as torch.nn.functional.normalize and sentence-transformers


def after(recipe: Recipe, labels: int) -> Piece | None:
    """From the network's outputs to the answers; None: they are the same."""
    output = recipe.file.output
    match output.kind:
        case "scores":
            return _scores(output, labels)
        case "embedding":
            return _embedding(output, recipe)
        case "frames":
            return _frames()
        case "boxes":
            return _boxes(output, labels)
        case "values":
            return None


def _scores(output: ScoresOutput, labels: int) -> Piece:
    k = min(output.top_k, labels)
    piece = Piece(
        inputs=[_value("scores", ["batch", labels])],
        outputs=[
            _value(PROBABILITIES, ["batch", labels]),
            _value(TOP_PROBABILITIES, ["batch", k]),
            _value(TOP_INDICES, ["batch", k], INT64),
        ],
        replaced=frozenset({"scores"}),
    )
    attributes = {"axis": -1} if output.activation == "softmax" else {}
    piece.node(ACTIVATIONS[output.activation], ["scores"], PROBABILITIES, **attributes)
    count = piece.constant("k", np.array([k], np.int64))
    piece.node("TopK", [PROBABILITIES, count], [TOP_PROBABILITIES, TOP_INDICES])
    return piece


def _frames() -> Piece:
    piece = Piece(
        inputs=[_value("scores", ["batch", "frames"])],
        outputs=[_value(PROBABILITIES, ["batch", "frames"])],
        replaced=frozenset({"scores"}),
    )
    piece.node("Identity", ["scores"], PROBABILITIES)
    return piece


def _embedding(output: EmbeddingOutput, recipe: Recipe) -> Piece:
    source = "vector" if output.pooling == "none" else "hidden"
    tokens = [] if source == "vector" else ["tokens"]
    shape = ["batch", *tokens, "dimensions"]
    piece = Piece(
        inputs=[_value(source, shape)],
        outputs=[_value(EMBEDDING, ["batch", "dimensions"])],
        replaced=frozenset({source}),
    )
    value = source
    if output.pooling == "first":
        first = piece.constant("first", np.array(0, np.int64))
        value = piece.step("Gather", [source, first], "pooled", axis=1)
    elif output.pooling == "mean":
        value = _mean(piece, source, recipe)
    length = piece.step("ReduceL2", [value, piece.constant("last", _ints(-1))], "length")
    least = piece.constant("tiny_length", np.array(TINY_LENGTH, np.float32))
    length = piece.step("Max", [length, least], "length_or_tiny")
    piece.node("Div", [value, length], EMBEDDING)
    return piece


def _mean(piece: Piece, hidden: str, recipe: Recipe) -> str:
    """The mean over tokens; padding does not count where the text has a mask."""
    section = recipe.file.input
    axis = piece.constant("tokens", _ints(1))
    mask = section.mask if isinstance(section, TextSection) else None
    if mask is None:
        return piece.step("ReduceMean", [hidden, axis], "pooled", keepdims=0)
    piece.inputs.append(_value(mask, ["batch", "tokens"], INT64))
    weight = piece.step("Cast", [mask], "mask_float", to=FLOAT)
    weight = piece.step("Unsqueeze", [weight, piece.constant("mask_axis", _ints(2))], "weight")
    weighted = piece.step("Mul", [hidden, weight], "weighted")
    total = piece.step("ReduceSum", [weighted, axis], "total", keepdims=0)
    count = piece.step("ReduceSum", [weight, axis], "count", keepdims=0)
    least = piece.constant("tiny_count", np.array(TINY_COUNT, np.float32))
    count = piece.step("Max", [count, least], "count_or_tiny")
    return piece.step("Div", [total, count], "pooled")


def _boxes(output: BoxesOutput, labels: int) -> Piece:
    """Per class suppression for every picture of a batch, then the best `most` of all classes.

    What is left over is filled with score 0, class -1 and a box of zeros: equal in every runtime.
    """
    k = output.most
    piece = Piece(
        inputs=[_value("boxes", ["batch", "n", 4]), _value("class_scores", ["batch", "n", labels])],
        outputs=[
            _value(BOX_CORNERS, ["batch", k, 4]),
            _value(BOX_SCORES, ["batch", k]),
            _value(BOX_CLASSES, ["batch", k], INT64),
        ],
        replaced=frozenset({"boxes", "class_scores"}),
    )
    by_class = piece.step("Transpose", ["class_scores"], "by_class", perm=[0, 2, 1])
    most = piece.constant("most", _ints(k))
    overlap = piece.constant("overlap", np.array([output.overlap], np.float32))
    threshold = piece.constant("threshold", np.array([output.threshold], np.float32))
    selected = piece.step(
        "NonMaxSuppression", ["boxes", by_class, most, overlap, threshold], "selected"
    )
    kept = piece.step("GatherND", [by_class, selected], "kept_scores")
    shape = piece.step("Shape", [by_class], "by_class_shape")
    nothing = piece.step("ConstantOfShape", [shape], "nothing")
    scattered = piece.step("ScatterND", [nothing, selected, kept], "scattered")
    flat = piece.step("Flatten", [scattered], "flat", axis=1)
    piece.node("TopK", [flat, most], [BOX_SCORES, f"{PREFIX}positions"])
    count = piece.step("Gather", [shape, piece.constant("third", np.array(2, np.int64))], "n")
    classes = piece.step("Div", [f"{PREFIX}positions", count], "classes")
    which = piece.step("Mod", [f"{PREFIX}positions", count], "which")
    which = piece.step("Unsqueeze", [which, piece.constant("at_end", _ints(-1))], "which_box")
    found = piece.step("GatherND", ["boxes", which], "found", batch_dims=1)
    zero = piece.constant("zero", np.array(0, np.float32))
    real = piece.step("Greater", [BOX_SCORES, zero], "real")
    none = piece.constant("no_class", np.array(-1, np.int64))
    piece.node("Where", [real, classes, none], BOX_CLASSES)
    real = piece.step("Unsqueeze", [real, f"{PREFIX}at_end"], "real_box")
    piece.node("Where", [real, found, zero], BOX_CORNERS)
    return piece


def _value(name: str, shape: Sequence[int | str], kind: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)
