"""Where a file that a recipe names lies."""

from __future__ import annotations

from pathlib import Path

from export.errors import RecipeError
from export.recipe import Recipe
from export.sample import SourceContext


def source_path(recipe: Recipe, context: SourceContext, named: str) -> Path:
    """Beside the recipe, or "package:NAME:PATH" in a package that it requires."""
    if named.startswith("package:"):
        _, package, inner = named.split(":", 2)
        if package not in context.packages:
            raise RecipeError(f'"{named}": source.requires does not name the package {package}')
        path = context.packages[package] / inner
    else:
        path = recipe.folder / named
    if not path.exists():
        raise RecipeError(f'{path}: the recipe names "{named}", but it is not there')
    return path
