"""explain: for a variant that missed a limit, the first tensor where it leaves the fp32 file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx

from export.bisect import first_difference
from export.contract import VariantName
from export.errors import LikewiseError
from export.evidence import Evidence
from export.runtime import Session
from export.spec import stream_of
from export.stages.gate import refuses
from export.stages.results import Measured
from export.tensors import Answers, Tensors

MISSED = {"max_difference", "label_agreement", "cosine", "accuracy", "accuracy_loss_points"}
# Of a tensor's largest value: rounding stays below the last, a broken layer is above the first.
TOLERANCES = (0.5, 0.1, 0.02, 0.001)


def explain(measured: Measured, judged: Evidence, examples: Sequence[Tensors]) -> list[str]:
    """A line for each variant that missed a limit of exactness; `judged` has the limits filled in.

    On the golden example on which the variant is furthest from the judge. What fp32 misses in the
    same place is not the variant's doing.
    """
    lines = []
    recipe = measured.quantised.recipe
    failed = [m for m in judged.measurements if m.what in MISSED and refuses(recipe, m)]
    anyway = {(m.what, m.where, m.data) for m in failed if m.variant == "fp32"}
    for variant in measured.quantised.paths:
        if any(m.variant == variant and (m.what, m.where, m.data) not in anyway for m in failed):
            lines += _parting(measured, variant, examples[_worst(measured, variant)])
    return lines


def _worst(measured: Measured, variant: VariantName) -> int:
    ids = [sample.id for sample in measured.quantised.exported.sourced.examples.samples]
    for detail in measured.details.details:
        if (detail.variant, detail.data) == (variant, "golden examples") and detail.worst:
            return ids.index(detail.worst[0].id)
    return 0


def _parting(measured: Measured, variant: VariantName, example: Tensors) -> list[str]:
    paths = measured.quantised.paths
    fp32, other = onnx.load(paths["fp32"]), onnx.load(paths[variant])
    run = _runner(measured)
    for tolerance in TOLERANCES:
        try:
            found = first_difference((fp32, run), (other, run), example, tolerance)
        except LikewiseError as error:
            return [f"{variant}: no tensor could be named: {error}"]
        if found:
            return [f'{variant} against fp32, {found}; keep_fp32 = ["{found.node}"] may help']
    return []


def _runner(measured: Measured) -> Callable[[bytes, Tensors], Answers]:
    stream = stream_of(measured.quantised.recipe.file.input)

    def run(model: bytes, inputs: Tensors) -> Answers:
        session = Session(model)
        if stream is None:
            return session.run_batch(inputs)
        (samples,) = inputs.values()  # of a stream, its first step
        first = dict.fromkeys(inputs, samples[:, : stream.step_samples])
        return session.run_batch({**first, **session.zero_states(stream, len(samples))})

    return run
