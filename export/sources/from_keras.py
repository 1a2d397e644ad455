"""Keras 3 models, in this environment with the torch backend."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from export.contract import Tensor
from export.errors import RecipeError, SourceError
from export.network import network_inputs, network_outputs
from export.recipe import Recipe
from export.repair import renamed, with_free_batch, with_shipped_opset
from export.sample import SourceContext
from export.source_file import SourceFile
from export.sources.origin import source_path
from export.tensors import Answers, Array, Tensors

OPSET = 20


def load(recipe: Recipe, context: SourceContext, file: SourceFile | None) -> KerasSource:
    """The model in the recipe's .keras file, or the one that its entry returns."""
    keras = _keras()
    section = recipe.file.source
    if section.file is not None:
        return KerasSource(recipe, load_file(source_path(recipe, context, section.file)))
    if file is None:
        raise RecipeError(f"{recipe.folder}: source.py is missing; it holds {section.entry}")
    model = file.call(section.entry or "")
    if not isinstance(model, keras.Model):
        raise SourceError(
            f"{section.entry} returned {type(model).__name__}; it must return a keras.Model"
        )
    return KerasSource(recipe, model)


def load_file(path: Path) -> Any:
    """The keras.Model in a .keras file. SourceError when it is none, or holds code."""
    keras = _keras()
    try:
        # Safe mode: a Lambda layer is code, and is refused.
        return keras.saving.load_model(path, compile=False, safe_mode=True)
    except Exception as error:  # keras raises many kinds
        if "Lambda" in str(error) or "safe_mode" in str(error):
            raise SourceError(
                f"{path.name}: holds a Lambda layer, which can run any code; nothing of it is run. "
                "Build the model in source.py, load its weights there and let it be the entry"
            ) from error
        raise SourceError(
            f"{path}: Keras {keras.__version__} cannot load it: {_reason(error)}"
        ) from error


def port_names(model: Any, which: str) -> list[str] | None:
    """What the model itself calls its inputs or outputs; None before it is built."""
    if which == "output":
        names = getattr(model, "output_names", None)
        return [str(name) for name in names] if names else None
    inputs = getattr(model, "inputs", None)
    return [str(tensor.name) for tensor in inputs] if inputs else None


class KerasSource:
    """A keras.Model; its answers are those of inference, not of training."""

    def __init__(self, recipe: Recipe, model: Any) -> None:
        self.recipe, self.model = recipe, model
        self.judge = f"Keras {_keras().__version__} with the torch backend"
        ours, told = [t.name for t in network_inputs(recipe)], recipe.file.source
        self._inputs = _order(recipe, "takes", ours, port_names(model, "input"), told.inputs)
        outputs = network_outputs(recipe)
        self._outputs = _order(recipe, "gives", outputs, port_names(model, "output"), told.outputs)

    def export(self, path: Path) -> int:
        """Keras' own export, then under the recipe's names."""
        inputs = network_inputs(self.recipe)
        self.infer({tensor.name: _zeros(tensor) for tensor in inputs})  # Keras wants it called
        with tempfile.TemporaryDirectory() as scratch:
            written = Path(scratch) / "keras.onnx"
            # The exporter talks to stdout and warns about its own dependencies.
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                try:
                    self.model.export(
                        str(written), format="onnx", verbose=False, opset_version=OPSET
                    )
                except Exception as error:
                    raise SourceError(
                        f"{self.recipe.name}: Keras cannot export the model: {_reason(error)}"
                    ) from error
            model = with_shipped_opset(onnx.load(written))
        graph = model.graph
        renamed(model, self._pairs(graph.input, self._inputs, [t.name for t in inputs]))
        renamed(model, self._pairs(graph.output, self._outputs, network_outputs(self.recipe)))
        with_free_batch(model)
        onnx.save(model, path)
        return int(self.model.count_params())

    def infer(self, inputs: Tensors) -> Answers:
        """The model's own answers."""
        import torch

        ours = [tensor.name for tensor in network_inputs(self.recipe)]
        given: list[Any] = [None] * len(ours)
        for name, place in zip(ours, self._inputs, strict=True):
            given[place] = torch.from_numpy(np.ascontiguousarray(inputs[name]))
        with torch.inference_mode():
            got = self.model(given[0] if len(given) == 1 else given, training=False)
        values, names = _keras().tree.flatten(got), network_outputs(self.recipe)
        if len(values) != len(names):
            raise SourceError(
                f"{self.recipe.name}: the model gives {len(values)} outputs, the recipe names "
                f"{', '.join(names)}"
            )
        return {
            name: values[place].detach().cpu().numpy()
            for name, place in zip(names, self._outputs, strict=True)
        }

    def _pairs(self, there: Any, places: list[int], ours: list[str]) -> dict[str, str]:
        its = [value.name for value in there]
        if len(its) != len(ours):
            raise SourceError(f"{self.recipe.name}: the model has {its}, the recipe names {ours}")
        return {its[place]: name for name, place in zip(ours, places, strict=True)}


def _order(
    recipe: Recipe, does: str, ours: list[str], its: list[str] | None, told: dict[str, str]
) -> list[int]:
    """For each of our names its place in the model: by name where all are there, else in order."""
    if its is None:
        return list(range(len(ours)))
    wanted = [told.get(name, name) for name in ours]
    if len(ours) != len(its) or (told and not set(wanted) <= set(its)):
        raise RecipeError(
            f"{recipe.name}: the model {does} {', '.join(its)}; the recipe names "
            f"{', '.join(wanted)}"
        )
    if set(wanted) == set(its) and len(set(its)) == len(its):
        return [its.index(name) for name in wanted]
    return list(range(len(ours)))


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]


def _zeros(tensor: Tensor) -> Array:
    """An input of the smallest size; free dimensions other than the batch get 8."""
    shape = [
        s if isinstance(s, int) else 1 if i == 0 else 8 for i, s in enumerate(tensor.shape or [])
    ]
    return np.zeros(shape, tensor.dtype)


def _keras() -> Any:
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    return keras
