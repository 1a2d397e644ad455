"""Which of a file's inputs and outputs are those that the recipe speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from export.errors import RecipeError


def paired(
    file: str, ours: Sequence[str], its: Sequence[str], told: Mapping[str, str]
) -> dict[str, str]:
    """Our name: the file's. By the recipe, else by equal names, else the only one there is."""
    names = {}
    for name in ours:
        given = told.get(name, name if name in its else None)
        if given is None and len(ours) == len(its) == 1:
            given = its[0]
        if given is None or given not in its:
            raise RecipeError(
                f'{file} has {", ".join(its)}; say which is "{name}": [source] '
                f'inputs or outputs = {{ {name} = "..." }}'
            )
        names[name] = given
    return names
