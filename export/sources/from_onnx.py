"""ONNX files as they are delivered, or in a folder of the Hugging Face layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

from export.errors import RecipeError, SourceError
from export.inspection.examine import refuse_hostile
from export.inspection.external import take_in
from export.joining import oldest_opset
from export.network import network_inputs, network_outputs
from export.recipe import Recipe
from export.repair import (
    renamed,
    with_free_batch,
    with_output_shapes,
    with_shipped_opset,
    without_double_initialisers,
    without_weights_as_inputs,
)
from export.runtime import Session
from export.sample import SourceContext
from export.source_file import SourceFile
from export.sources.free_batch import random_values
from export.sources.naming import paired
from export.sources.origin import source_path
from export.tensors import Answers, Tensors, stack, unstack

IN_FOLDER = ("onnx/model.onnx", "model.onnx")


def load(recipe: Recipe, context: SourceContext, file: SourceFile | None) -> OnnxSource:  # noqa: ARG001
    """The file that the recipe names."""
    if recipe.file.source.file is None:
        raise RecipeError(f'{recipe.name}: kind = "onnx" needs file = "model.onnx"')
    path = source_path(recipe, context, recipe.file.source.file)
    if path.is_dir():
        found = [path / name for name in IN_FOLDER if (path / name).is_file()]
        if not found:
            raise SourceError(f"{path}: no {' or '.join(IN_FOLDER)} in it")
        path = found[0]
    refuse_hostile(path)
    return OnnxSource(recipe, path)


class OnnxSource:
    """The delivered file is the judge, unchanged; what is exported is repaired and renamed."""

    def __init__(self, recipe: Recipe, path: Path) -> None:
        self.recipe, self.path = recipe, path
        self.judge = f"the delivered ONNX file in ONNX Runtime {ort.__version__}"
        self._delivered = onnx.load(path, load_external_data=False)
        take_in(self._delivered, path.parent)
        self._session = Session(self._delivered.SerializeToString())
        told, ours = recipe.file.source, [tensor.name for tensor in network_inputs(recipe)]
        self._inputs = paired(path.name, ours, list(self._session.inputs), told.inputs)
        first = [port.shape[0] for port in self._session.inputs.values() if port.shape]
        self._one_row = bool(first) and all(size == 1 for size in first)
        outputs = list(self._session.outputs)
        self._outputs = paired(path.name, network_outputs(recipe), outputs, told.outputs)

    def export(self, path: Path) -> int:
        """Write the repaired network under the recipe's names."""
        model = onnx.ModelProto()
        model.CopyFrom(self._delivered)
        without_weights_as_inputs(model)
        without_double_initialisers(model)
        model = with_shipped_opset(model, oldest_opset(self.recipe))
        wanted = set(self._outputs.values())
        kept = [value for value in model.graph.output if value.name in wanted]
        del model.graph.output[:]
        model.graph.output.extend(kept)
        renamed(model, {its: ours for ours, its in (self._inputs | self._outputs).items()})
        with_output_shapes(model)
        with_free_batch(model)
        onnx.save(model, path)
        self._compare(path)
        return sum(int(np.prod(t.dims)) for t in model.graph.initializer)

    def infer(self, inputs: Tensors) -> Answers:
        """What the delivered file answers to each row alone, as a visitor's input is.

        Its batch may be frozen at 1, and some files answer a row by its neighbours.
        """
        given = {self._inputs[name]: values for name, values in inputs.items()}
        answers = _row_by_row(self._session, given)
        return {ours: answers[its] for ours, its in self._outputs.items()}

    def _compare(self, path: Path) -> None:
        """The repaired file answers exactly as the delivered one, on random values."""
        generator = np.random.default_rng(0)
        for size in (1,) if self._one_row else (1, 2):
            inputs = {
                t.name: random_values(t, size, generator) for t in network_inputs(self.recipe)
            }
            try:
                before = self.infer(inputs)
            except Exception:  # noqa: S112  random ids may be outside a vocabulary, batch 2 refused
                continue
            after = _row_by_row(Session(path), inputs)
            for name, values in before.items():
                if values.dtype.kind == "f" and not np.allclose(
                    values, after[name], rtol=1e-5, atol=1e-5, equal_nan=True
                ):
                    raise SourceError(
                        f"{self.path.name}: bringing it to the shipped opset changes {name}; "
                        "export the model anew with opset 20"
                    )


def _row_by_row(session: Session, given: Tensors) -> Answers:
    count = len(next(iter(given.values())))
    return stack([session.run_batch(one) for one in unstack(given, count)])
