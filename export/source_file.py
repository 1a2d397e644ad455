"""The functions of a recipe's source.py."""

from __future__ import annotations

import importlib.util
import traceback
from types import ModuleType
from typing import Any

from export.errors import RecipeError, SourceError
from export.recipe import Recipe
from export.sample import SourceContext


class SourceFile:
    """source.py, loaded once; calls its functions by their recipe entry ("source:name")."""

    def __init__(self, recipe: Recipe, context: SourceContext) -> None:
        self.path = recipe.folder / "source.py"
        self.recipe = recipe
        self.context = context
        self.module = self._load()

    def call(self, entry: str, *arguments: Any) -> Any:
        """Call `entry`; what goes wrong in it is told with the line in source.py."""
        name = entry.removeprefix("source:")
        function = getattr(self.module, name, None)
        if not callable(function):
            raise RecipeError(
                f'{self.path}: the recipe names "{entry}", but there is no function {name}'
            )
        try:
            return function(self.context, *arguments)
        except Exception as error:
            raise SourceError(
                f"{self.path}: {name} failed{self._line(error)}: {error!r}"
            ) from error

    def _load(self) -> ModuleType:
        if not self.path.exists():
            raise RecipeError(f"{self.path}: missing; it holds the functions that the recipe names")
        spec = importlib.util.spec_from_file_location(
            f"source_{self.recipe.name.replace('-', '_')}", self.path
        )
        if spec is None or spec.loader is None:
            raise RecipeError(f"{self.path}: cannot be loaded as Python")
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise SourceError(
                f"{self.path}: failed while loading{self._line(error)}: {error!r}"
            ) from error
        return module

    def _line(self, error: Exception) -> str:
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if frame.filename == str(self.path):
                return f" in line {frame.lineno}"
        return ""
