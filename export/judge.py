"""The judge: what the training framework answers, by its own pre-processing or by the recipe's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx.reference import ReferenceEvaluator

from export.errors import SourceError
from export.joining import after, as_model, before
from export.network import network_outputs
from export.recipe import Recipe
from export.sample import Sample
from export.source_file import SourceFile
from export.sources import Source
from export.spec import decision, judged_outputs, stream_of
from export.tensors import Answers, Tensors, batches, stack, unstack

Decode = Callable[[bytes], Tensors]
BATCH = 256


class Judge:
    """Answers to encoded inputs.

    With `source.reference` in the recipe: by the framework and the training's own pre-processing,
    so that a mistake in the recipe's is found. Without: the framework's network on the tensors
    that the recipe's decoder gives, pre- and post-processed by onnx's reference evaluator.
    """

    def __init__(
        self,
        recipe: Recipe,
        source: Source,
        file: SourceFile | None,
        labels: Sequence[str],
        decode: Decode,
    ) -> None:
        self._recipe, self._source, self._file = recipe, source, file
        self._decode = decode
        self._names = judged_outputs(decision(recipe.file.output, labels))
        self._before = _evaluator(before(recipe.file.input))
        self._after = _evaluator(after(recipe, len(labels)))
        self.name = source.judge + (
            " with the training's own pre-processing"
            if recipe.file.source.reference
            else " on the tensors of the recipe's decoder"
        )

    def answer(self, samples: Sequence[Sample]) -> list[Answers]:
        """One answer a sample. SourceError when the reference does not answer in form."""
        if self._recipe.file.source.reference is None:
            return self._by_network(samples)
        answers: list[Answers] = []
        for start in range(0, len(samples), BATCH):
            answers += self._by_reference(samples[start : start + BATCH])
        return answers

    def _by_reference(self, samples: Sequence[Sample]) -> list[Answers]:
        entry = self._recipe.file.source.reference or ""
        if self._file is None:
            raise SourceError(f"{entry}: there is no source.py")
        got = self._file.call(entry, [sample.data for sample in samples])
        return [
            {name: _number(entry, name, one) for name, one in self._named(entry, single).items()}
            for single in _separate(entry, got, len(samples))
        ]

    def _named(self, entry: str, single: Any) -> Mapping[str, Any]:
        if not isinstance(single, Mapping):
            if len(self._names) != 1:
                raise SourceError(f"{entry} must return arrays by name: {', '.join(self._names)}")
            return {self._names[0]: single}
        missing = [name for name in self._names if name not in single]
        if missing:
            raise SourceError(f"{entry} returned no {', '.join(missing)}; it gave {list(single)}")
        return {name: single[name] for name in self._names}

    def _by_network(self, samples: Sequence[Sample]) -> list[Answers]:
        decoded = [self._decode(sample.data) for sample in samples]
        answers: list[Answers] = [{}] * len(decoded)
        for positions in batches(decoded):
            batch = self._batch(stack([decoded[i] for i in positions]))
            for position, one in zip(positions, unstack(batch, len(positions)), strict=True):
                answers[position] = {name: one[name] for name in self._names}
        return answers

    def _batch(self, decoded: Tensors) -> Answers:
        inputs = _run(self._before, decoded) if self._before else decoded
        if stream_of(self._recipe.file.input):
            raise SourceError(
                "a network with state needs source.reference: only the framework's own code knows "
                "how its stream begins"
            )
        outputs = self._source.infer(inputs)
        if missing := set(network_outputs(self._recipe)) - set(outputs):
            raise SourceError(f"{self._source.judge} gave no output {', '.join(sorted(missing))}")
        if self._after is None:
            return outputs
        return _run(self._after, {**inputs, **outputs})


def _evaluator(piece: Any) -> ReferenceEvaluator | None:
    return None if piece is None else ReferenceEvaluator(as_model(piece))


def _run(evaluator: ReferenceEvaluator, values: Tensors) -> Answers:
    names = list(evaluator.output_names)
    wanted = {name: values[name] for name in evaluator.input_names}
    return dict(zip(names, evaluator.run(names, wanted), strict=True))


def _separate(entry: str, got: Any, count: int) -> list[Any]:
    if isinstance(got, Mapping):
        got = [{name: values[i] for name, values in got.items()} for i in range(count)]
    if len(got) != count:
        raise SourceError(f"{entry} returned {len(got)} answers for {count} inputs")
    return list(got)


def _number(entry: str, name: str, value: Any) -> np.ndarray[Any, Any]:
    """With a batch axis of 1, float64 told as float32."""
    array = np.asarray(value)
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise SourceError(
            f"{entry}: {name} holds values that are not numbers; there is nothing to match"
        )
    return array[None]
