"""What can go wrong on the way to a published version."""

from __future__ import annotations

from collections.abc import Sequence


class LikewiseError(Exception):
    """Base of all errors that a user can act on. `code` is stable and kebab-case."""

    code = "failed"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class RecipeError(LikewiseError):
    """recipe.toml, or what it names in source.py, is missing or wrong."""

    code = "bad-recipe"


class SourceError(LikewiseError):
    """The trained model, its data or a package it needs could not be had."""

    code = "bad-source"


class DecodeError(LikewiseError):
    """An input (a picture, a drawing) that the contract's decoder refuses."""

    code = "bad-input"


class ContractError(LikewiseError):
    """A contract, index or file of a version that does not hold what it promises."""

    code = "bad-contract"


class SetupError(LikewiseError):
    """Something outside the recipe is missing: a browser, the built page, a port."""

    code = "not-set-up"


class Refused(LikewiseError):
    """The gate (or a check before it) says no. Carries every reason, not only the first."""

    code = "refused"

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = tuple(reasons)
