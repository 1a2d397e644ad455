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
        path = source_path(recipe, context, section.file)
        try:
            # Safe mode: a Lambda layer is code, and is refused.
            return KerasSource(recipe, keras.saving.load_model(path, compile=False, safe_mode=True))
        except Exception as error:  # keras raises many kinds
            raise SourceError(
                f"{path}: Keras {keras.__version__} cannot load it: "
                f"{str(error).strip().splitlines()[0]}"
            ) from error
    if file is None:
        raise RecipeError(f"{recipe.folder}: source.py is missing; it holds {section.entry}")
    return KerasSource(recipe, file.call(section.entry or ""))


class KerasSource:
    """A keras.Model; its answers are those of inference, not of training."""

    def __init__(self, recipe: Recipe, model: Any) -> None:
        self.recipe, self.model = recipe, model
        self.judge = f"Keras {_keras().__version__} with the torch backend"

    def export(self, path: Path) -> int:
        """Keras' own export, then under the recipe's names."""
        self.infer({tensor.name: _zeros(tensor) for tensor in network_inputs(self.recipe)})
        with tempfile.TemporaryDirectory() as scratch:  # Keras wants a model that was called
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
                        f"{self.recipe.name}: Keras cannot export the model: "
                        f"{str(error).strip().splitlines()[0]}"
                    ) from error
            model = with_shipped_opset(onnx.load(written))
        ours = [tensor.name for tensor in network_inputs(self.recipe)]
        renamed(model, self._names(model.graph.input, ours))
        renamed(model, self._names(model.graph.output, network_outputs(self.recipe)))
        with_free_batch(model)
        onnx.save(model, path)
        return int(self.model.count_params())

    def infer(self, inputs: Tensors) -> Answers:
        """The model's own answers."""
        import torch

        given = [torch.from_numpy(np.ascontiguousarray(values)) for values in inputs.values()]
        with torch.inference_mode():
            got = self.model(given[0] if len(given) == 1 else given, training=False)
        values = list(got.values()) if isinstance(got, dict) else got
        values = values if isinstance(values, list | tuple) else [values]
        names = network_outputs(self.recipe)
        if len(values) != len(names):
            raise SourceError(
                f"{self.recipe.name}: the model gives {len(values)} outputs, the recipe names "
                f"{', '.join(names)}"
            )
        return {n: v.detach().cpu().numpy() for n, v in zip(names, values, strict=True)}

    def _names(self, there: Any, ours: list[str]) -> dict[str, str]:
        its = [value.name for value in there]
        if len(its) != len(ours):
            raise SourceError(f"{self.recipe.name}: the model has {its}, the recipe names {ours}")
        return dict(zip(its, ours, strict=True))


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
