"""q8 as the recipe asks for it: the way that fits, and the layers that it has to spare."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from export.contract import Stream
from export.errors import RecipeError
from export.evaluate import Evaluate, Evaluation
from export.quantise.aim import loss, missed_by, words
from export.quantise.nodes import followers, layers
from export.quantise.q8 import Quantiser, Way
from export.quantise.sensitive import Harm, Question, Say, search
from export.recipe.limits import Q8Section
from export.runtime import Session
from export.tensors import Answers, Tensors

FEW = 8  # inputs on which the harm of each layer is measured
GROUPS = (("first-layer",), ("first-layer", "depthwise"))
NOISE = 0.001  # two ways closer than this are the same, and the smaller one wins


@dataclass(frozen=True)
class Chosen:
    """`kept`: what stays in float32, as "first-layer" or names of nodes."""

    model: onnx.ModelProto
    way: Way
    kept: list[str]


def choose_q8(
    quantiser: Quantiser,
    section: Q8Section,
    fp32: Path,
    evaluate: Evaluate | None,
    few: Sequence[Tensors] = (),
    stream: Stream | None = None,
    say: Say = print,
) -> Chosen:
    """The variant by the method that the recipe names; where several fit, the one measured best.

    With an aim, layers are kept in float32 until it is reached (see `search`); then `evaluate` is
    needed. `few`: inputs to measure each layer's harm on; none: `evaluate` is asked, which is
    slower.
    """
    if section.aim is not None and evaluate is None:
        raise RecipeError(
            "variants.q8.aim is measured on real data: name [data] labelled or calibration"
        )
    ways = quantiser.ways(section.method, measured=evaluate is not None)
    if evaluate is None or (len(ways) == 1 and section.aim is None):
        return Chosen(quantiser.make(ways[0], section.keep_fp32), ways[0], [*section.keep_fp32])
    with tempfile.TemporaryDirectory() as scratch:
        trying = _Trying(quantiser, section, evaluate, Path(scratch) / "tried.onnx")
        yardstick = evaluate(fp32)
        way = _best(trying, ways, yardstick, say)
        kept = list(section.keep_fp32)
        if section.aim is not None:
            question = Question(
                section.aim, yardstick, kept, GROUPS if quantiser.convolutional else (),
                _spared(quantiser, way),
            )  # fmt: skip
            harm = _harm(trying, way, yardstick, fp32, few, stream)
            found = search(
                question, lambda keep: trying.tried(way, keep), harm, section.search_minutes, say
            )
            kept = list(found.keep)
    return Chosen(quantiser.make(way, kept), way, kept)


@dataclass
class _Trying:
    quantiser: Quantiser
    section: Q8Section
    evaluate: Evaluate
    path: Path

    def tried(self, way: Way, keep: Sequence[str], only: Sequence[str] = ()) -> Evaluation:
        onnx.save(self.quantiser.make(way, keep, only), self.path)
        return self.evaluate(self.path)


def _best(trying: _Trying, ways: Sequence[Way], fp32: Evaluation, say: Say) -> Way:
    """The way that loses least against fp32; of equal ones the smallest file."""
    if len(ways) == 1:
        return ways[0]
    ranks = []
    for number, way in enumerate(ways):
        got = trying.tried(way, trying.section.keep_fp32)
        size = trying.path.stat().st_size
        say(f"{way}: {words(got)}, {size / 1e6:.2f} MB")
        aim = trying.section.aim
        missed = loss(fp32, got) if aim is None else missed_by(aim, fp32, got)
        ranks.append((round(missed / NOISE), size, number, way))
    return min(ranks)[-1]


def _spared(quantiser: Quantiser, way: Way) -> dict[str, list[str]]:
    """Each layer, and what is kept with it: beside a static layer the sums and products after."""
    names = layers(quantiser.graph)
    if way == "dynamic" or not quantiser.convolutional:
        return {name: [name] for name in names}
    behind = followers(quantiser.graph, ("Add", "Mul", "Sigmoid", "LeakyRelu"))
    return {name: [name, *behind.get(name, [])] for name in names}


def _harm(
    trying: _Trying, way: Way, yardstick: Evaluation, fp32: Path, few: Sequence[Tensors],
    stream: Stream | None,
) -> Harm:  # fmt: skip
    if not few:
        return lambda name: loss(yardstick, trying.tried(way, (), [name]))
    picked = [few[i] for i in np.linspace(0, len(few) - 1, min(FEW, len(few))).astype(int)]
    right = Session(fp32, stream).run(picked)

    def harm(name: str) -> float:
        model = trying.quantiser.make(way, (), [name])
        return _error(right, Session(model.SerializeToString(), stream).run(picked))

    return harm


def _error(right: Sequence[Answers], got: Sequence[Answers]) -> float:
    """Squared error relative to the value, over all floating-point outputs."""
    total = 0.0
    for name, one in right[0].items():
        if one.dtype != np.float32:
            continue
        mine = np.concatenate([np.ravel(answers[name]) for answers in right]).astype(np.float64)
        its = np.concatenate([np.ravel(answers[name]) for answers in got]).astype(np.float64)
        total += float(((mine - its) ** 2).sum() / max(float((mine**2).sum()), 1e-30))
    return total
