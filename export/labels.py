"""Names of the labels, in the order of the model's output."""

from __future__ import annotations

from export.errors import RecipeError
from export.recipe import Recipe
from export.recipe.outputs import BoxesOutput, ScoresOutput
from export.source_file import SourceFile


def read_labels(recipe: Recipe, file: SourceFile | None) -> list[str]:
    """From the text file or the function that the recipe names; none where there is no choice."""
    output = recipe.file.output
    if not isinstance(output, ScoresOutput | BoxesOutput):
        return []
    if output.labels.startswith("source:"):
        if file is None:
            raise RecipeError(f'output.labels = "{output.labels}", but there is no source.py')
        labels = [str(label) for label in file.call(output.labels)]
    else:
        path = recipe.folder / output.labels
        if not path.exists():
            raise RecipeError(f"{path}: the recipe names this file of labels, but it is not there")
        labels = path.read_text().splitlines()
    if len(labels) < 2:
        raise RecipeError(
            f"{output.labels}: {len(labels)} labels; at least 2 are needed, one a line"
        )
    return labels
