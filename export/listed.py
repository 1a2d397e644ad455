"""What index.json lists, looked up by name; what is not there is told with what is."""

from __future__ import annotations

from pathlib import Path

from export.contract import Index, IndexEntry, read_index
from export.errors import SetupError


def listed_index(models: Path) -> Index:
    """The index of a folder of models; SetupError when there is no such folder."""
    if not models.is_dir():
        raise SetupError(f"{models}: there is no such folder; give one with --models")
    return read_index(models / "index.json")


def listed_model(models: Path, name: str) -> IndexEntry:
    """One model's entry; SetupError names those that are published."""
    index = listed_index(models)
    if name not in index.models:
        known = ", ".join(index.models) or "none"
        raise SetupError(f"{name}: nothing of that name is published; published: {known}")
    return index.models[name]
