"""Pre- and post-processing joined into the graph: decoded input in, answers out."""

from __future__ import annotations

import onnx

from export.joining.after import after
from export.joining.before import before
from export.joining.piece import Piece, append, as_model, prepend
from export.recipe import Recipe
from export.repair import OLDEST_OPSET

IR_VERSION = 10
REDUCING_OPSET = 18  # since then ReduceL2 and ReduceMean take their axes as an input

__all__ = ["Piece", "after", "as_model", "before", "join", "oldest_opset"]


def oldest_opset(recipe: Recipe) -> int:
    """The oldest opset of a network that the joined nodes can share a graph with."""
    return REDUCING_OPSET if recipe.file.output.kind == "embedding" else OLDEST_OPSET


def join(recipe: Recipe, core: onnx.ModelProto, labels: int) -> onnx.ModelProto:
    """`core`, the bare network, between what the recipe's [input] and [output] ask for.

    `labels`: how many there are, 0 where the answer is no choice among labels.
    """
    joined = onnx.ModelProto()
    joined.CopyFrom(core)
    joined.ir_version = IR_VERSION
    if last := after(recipe, labels):
        append(joined.graph, last)
    if first := before(recipe.file.input):
        prepend(joined.graph, first)
    return joined
