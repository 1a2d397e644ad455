"""A published version as the report reads it, every file checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from export.contract import Contract, IndexEntry, VariantName
from export.errors import ContractError, Refused, SetupError
from export.evidence import Detail, Details, Evidence, Where
from export.listed import listed_model
from export.stages.rollback import whole

PAGE: tuple[Where, ...] = ("chromium-wasm-1-thread", "chromium-wasm-2-threads")


@dataclass(frozen=True)
class Reported:
    """A version with its evidence."""

    folder: Path
    entry: IndexEntry
    contract: Contract
    evidence: Evidence
    details: tuple[Detail, ...]

    @property
    def used(self) -> VariantName:
        """The variant that the page runs."""
        return self.contract.best.get("wasm", self.contract.variants[0].name)

    def detail(self, variant: VariantName, data: str, *, labelled: bool = False) -> Detail | None:
        """Of a variant in the page, else natively; `labelled`: one that has a confusion matrix or
        a reliability curve."""
        for where in (*PAGE, "python-cpu"):
            for one in self.details:
                right = (one.variant, one.where, one.data) == (variant, where, data)
                if right and (not labelled or one.reliability is not None):
                    return one
        return None


def read_version(models: Path, name: str, version: int | None = None) -> Reported:
    """Read a version, the current one by default, and check it."""
    entry = listed_model(models, name)
    chosen = entry.version if version is None else version
    if chosen not in entry.versions:
        known = ", ".join(map(str, entry.versions))
        raise SetupError(f"{name}/{chosen}: no such version; published: {known}")
    folder = models / name / str(chosen)
    contract = whole(folder)
    listed = {ref.file for ref in contract.documents}
    if "evidence.json" not in listed:
        raise Refused([f"{name}/{chosen}: it has no evidence.json, so there is nothing to report"])
    try:
        evidence = Evidence.model_validate_json((folder / "evidence.json").read_bytes())
        details: tuple[Detail, ...] = ()
        if "details.json" in listed:
            read = Details.model_validate_json((folder / "details.json").read_bytes())
            details = tuple(read.details)
    except ValidationError as error:
        raise ContractError(f"{name}/{chosen}: its evidence cannot be read: {error}") from error
    return Reported(folder, entry, contract, evidence, details)
