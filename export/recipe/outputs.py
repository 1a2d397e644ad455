"""[output]: what the network's raw output means."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from export.contract import Strict

Share = Annotated[float, Field(ge=0, le=1)]


class ScoresOutput(Strict):
    """The network's "scores" [batch, labels]; softmax and top-k are joined into the graph."""

    kind: Literal["scores"]
    activation: Literal["softmax", "sigmoid", "none"] = "softmax"
    labels: str = Field(description='A text file, one label a line, or "source:function".')
    top_k: Annotated[int, Field(ge=1)] = 5
    ask_a_person_below: Share | None = None


class EmbeddingOutput(Strict):
    """A vector of length 1, from the network's "hidden" [batch, tokens, dimensions] by pooling
    under the text's mask, or from its "vector" [batch, dimensions] without."""

    kind: Literal["embedding"]
    pooling: Literal["mean", "first", "none"] = "mean"
    normalise: Literal[True] = True


class FramesOutput(Strict):
    """The network's "scores" [batch, frames], each a probability already."""

    kind: Literal["frames"]
    frame_seconds: Annotated[float, Field(gt=0)]
    threshold: Share = 0.5


class BoxesOutput(Strict):
    """The network's "boxes" [batch, n, 4] (x1, y1, x2, y2 in pixels of the input tensor) and
    "class_scores" [batch, n, labels]; per class non-maximum suppression is joined into the graph.
    """

    kind: Literal["boxes"]
    labels: str
    threshold: Share = 0.25
    overlap: Share = Field(default=0.45, description="Boxes of a class that share more are one.")
    most: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=100, description="How many boxes are given at most."
    )


class ValuesOutput(Strict):
    """The network's outputs as they are."""

    kind: Literal["values"]
    names: Annotated[list[str], Field(min_length=1)]


OutputSection = Annotated[
    ScoresOutput | EmbeddingOutput | FramesOutput | BoxesOutput | ValuesOutput,
    Field(discriminator="kind"),
]
