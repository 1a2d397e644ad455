"""The recipe's [data]: samples from source.py, or from files beside the recipe."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

from export.errors import RecipeError, SourceError
from export.recipe import Recipe
from export.sample import Sample
from export.source_file import SourceFile

LABEL, TEXT = "label", "text"  # columns of a CSV file


def read_set(
    recipe: Recipe, file: SourceFile | None, named: str, labels: list[str]
) -> list[Sample]:
    """The samples that one entry of [data] names."""
    if named.startswith("source:"):
        if file is None:
            raise RecipeError(f'{recipe.folder}: [data] names "{named}", but there is no source.py')
        return list(file.call(named))
    if recipe.file.input.kind in ("table", "text") and "*" not in named:
        return _rows(recipe, recipe.folder / named, labels)
    paths = sorted(path for path in recipe.folder.glob(named) if path.is_file())
    if not paths:
        raise RecipeError(f'{recipe.folder}: [data] names "{named}", but no file is called so')
    return [Sample(_id(path.stem), path.read_bytes(), title=path.stem) for path in paths]


def _rows(recipe: Recipe, path: Path, labels: list[str]) -> list[Sample]:
    if not path.is_file():
        raise RecipeError(f"{path}: the recipe's [data] names this file, but it is not there")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: byte {error.start} is no UTF-8; save it as UTF-8") from error
    if recipe.file.input.kind == "text" and path.suffix != ".csv":
        return [
            Sample(f"line-{number}", line.encode(), title=line[:60])
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]
    reader = csv.DictReader(io.StringIO(text))
    return [_row(recipe, path, number, row, labels) for number, row in enumerate(reader, start=2)]


def _row(recipe: Recipe, path: Path, number: int, row: dict[str, str], labels: list[str]) -> Sample:
    if None in row or None in row.values():  # csv's marks of too many cells, and of too few
        raise SourceError(f"{path}, line {number}: more or fewer cells than the header line has")
    label = row.pop(LABEL, None)
    known: int | None = None
    if label is not None:
        if label not in labels:
            raise SourceError(f"{path}, line {number}: the label {label!r} is none of {labels}")
        known = labels.index(label)
    if recipe.file.input.kind == "text":
        if TEXT not in row:
            raise SourceError(f'{path}: no column "{TEXT}" among {", ".join(row)}')
        data = row[TEXT].encode()
    else:
        data = json.dumps(row, ensure_ascii=False).encode()
    return Sample(f"line-{number}", data, known, title=f"line {number}")


def _id(stem: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-") or "example"
