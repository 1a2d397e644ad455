"""Where trained models come from: one file a framework, imported only when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from export.recipe import Recipe
from export.sample import Sample, SourceContext
from export.samples import Probabilities


class Source(Protocol):
    """A trained model with its data, and the framework's own way to answer."""

    judge: str

    def labels(self) -> list[str]:
        """Label names in the order of the model's output."""

    def samples(self, which: str) -> Sequence[Sample]:
        """One of the sets that the recipe names: calibration, labelled or examples."""

    def reference(self, pictures: Sequence[bytes]) -> Probabilities:
        """The framework's probabilities, float32 [pictures, labels]: the judge."""

    def export(self, path: Path) -> int:
        """Write the bare network as ONNX ("input" float -> "scores"); returns its parameters."""


# One line a source kind; the module is imported when a recipe asks for it.
SOURCES = {"torch": "export.sources.from_torch"}


def load_source(recipe: Recipe, context: SourceContext) -> Source:
    """The source that the recipe names. Raises RecipeError, SourceError."""
    module = import_module(SOURCES[recipe.file.source.kind])
    make = cast("Callable[[Recipe, SourceContext], Source]", module.load)
    return make(recipe, context)
