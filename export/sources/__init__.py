"""Where trained models come from: one file a framework, imported only when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from export.recipe import Recipe
from export.recipe.source import SourceKind
from export.sample import SourceContext
from export.source_file import SourceFile
from export.tensors import Answers, Tensors


class Source(Protocol):
    """A trained model, and its framework's own way to answer."""

    judge: str
    """The framework and its version."""

    def export(self, path: Path) -> int:
        """Write the bare network as ONNX, named as export.network says; returns its parameters."""

    def infer(self, inputs: Tensors) -> Answers:
        """What the framework answers to the bare network's inputs, at any batch size."""


# One line a source kind; the module is imported when a recipe asks for it.
SOURCES: dict[SourceKind, str] = {
    "torch": "export.sources.from_torch",
    "torchscript": "export.sources.from_torchscript",
    "sklearn": "export.sources.from_sklearn",
    "keras": "export.sources.from_keras",
    "tensorflow": "export.sources.from_tensorflow",
    "tflite": "export.sources.from_tensorflow",
    "onnx": "export.sources.from_onnx",
}


def load_source(recipe: Recipe, context: SourceContext, file: SourceFile | None) -> Source:
    """The source that the recipe names. Raises RecipeError, SourceError."""
    module = import_module(SOURCES[recipe.file.source.kind])
    make = cast("Callable[[Recipe, SourceContext, SourceFile | None], Source]", module.load)
    return make(recipe, context, file)
