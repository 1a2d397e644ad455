"""recipe.toml: what an engineer writes about a trained model. docs/add-a-model.md explains it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import ValidationError, model_validator

from export.contract import NAME_PATTERN, Strict
from export.errors import RecipeError
from export.recipe.data import DataSection, Said
from export.recipe.inputs import InputSection
from export.recipe.limits import BrowserSection, LimitsSection, VariantsSection
from export.recipe.outputs import OutputSection
from export.recipe.source import SourceSection

TAGGED = {"input", "output"}  # sections whose kind decides what else is in them


class RecipeFile(Strict):
    """The whole of recipe.toml."""

    title: Said
    description: Said
    task: Said
    licence: Said
    source: SourceSection
    input: InputSection
    output: OutputSection
    data: DataSection
    variants: VariantsSection = VariantsSection()
    browser: BrowserSection = BrowserSection()
    limits: LimitsSection

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.output.kind == "boxes" and self.input.kind != "image":
            raise ValueError('output.kind = "boxes" needs input.kind = "image"')
        if "q8" in self.variants.offer and self.variants.q8.method == "static":
            self._needs_calibration()
        return self

    def _needs_calibration(self) -> None:
        if self.data.calibration is None:
            raise ValueError("variants.q8.method = static measures ranges: name data.calibration")


@dataclass(frozen=True)
class Recipe:
    """A recipe and where it lies."""

    name: str
    folder: Path
    file: RecipeFile


def read_recipe(models: Path, name: str) -> Recipe:
    """Read models/<name>/recipe.toml; RecipeError names each wrong field, and what is there."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise RecipeError(
            f"{name!r} cannot be a model's name: small letters, digits and hyphens, "
            "beginning with a letter, at most 63; rename its folder"
        )
    path = models / name / "recipe.toml"
    if not path.exists():
        known = ", ".join(sorted(p.parent.name for p in models.glob("*/recipe.toml"))) or "none"
        raise RecipeError(f"{path}: no such recipe; known models: {known}")
    try:
        return Recipe(name, path.parent, RecipeFile.model_validate(tomllib.loads(path.read_text())))
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{path}: not valid TOML: {error}") from error
    except ValidationError as error:
        wrong = [f"{_where(e['loc'])}: {_plain(e['msg'])}" for e in error.errors()]
        raise RecipeError(f"{path}: " + "; ".join(wrong)) from error


def _where(place: tuple[int | str, ...]) -> str:
    """As the recipe has it: pydantic adds the kind to the place in [input] and [output]."""
    section, *inner = [str(part) for part in place] or ["recipe.toml"]
    return ".".join([section, *(inner[1:] if section in TAGGED else inner)])


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ")
