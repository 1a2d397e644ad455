"""publish: a verified version into models/, all or nothing. The only stage that writes there."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from export.contract import (
    SCHEMA_VERSION,
    Contract,
    Index,
    Provenance,
    file_ref,
    read_contract,
    read_index,
    to_json,
)
from export.decode.pixels import Pixels
from export.errors import Refused
from export.model_card import model_card
from export.stages.results import Verified
from export.version import copy_variants, index_entry, make_contract, write_examples
from export.workspace import ROOT

INCOMING = ".incoming-"


def published(models: Path, name: str) -> Contract | None:
    """The current version's contract, or None when there is none yet."""
    entry = read_index(models / "index.json").models.get(name)
    return read_contract(models / entry.contract.file) if entry else None


def publish(models: Path, verified: Verified, pixels: Pixels, provenance: Provenance) -> Contract:
    """Write the next version beside the others, rename it into place, then switch index.json.

    Interrupted anywhere, index.json still names the version of before; what was left half-written
    is cleared by the next publication.
    """
    recipe = verified.measured.quantised.recipe
    home = models / recipe.name
    clear_unfinished(models, recipe.name)
    incoming = home / f"{INCOMING}{uuid.uuid4().hex[:12]}"
    incoming.mkdir(parents=True)
    try:
        contract = _write(incoming, _next_version(home), verified, pixels, provenance)
        refuse_private(incoming)
        target = home / str(contract.version)
        incoming.rename(target)
    finally:
        shutil.rmtree(incoming, ignore_errors=True)
    _switch(models, target, contract)
    return contract


def clear_unfinished(models: Path, name: str) -> None:
    """Remove what an interrupted publication left: hidden folders, and a version never listed."""
    entry = read_index(models / "index.json").models.get(name)
    listed = {str(version) for version in entry.versions} if entry else set()
    for folder in (models / name).glob("*"):
        unlisted = folder.name.isdigit() and folder.name not in listed
        if folder.is_dir() and (unlisted or folder.name.startswith(INCOMING)):
            shutil.rmtree(folder)
    for leftover in models.glob(f"{INCOMING}*"):
        leftover.unlink()


def _next_version(home: Path) -> int:
    return max((int(p.name) for p in home.glob("*") if p.name.isdigit()), default=0) + 1


def _write(
    folder: Path, version: int, verified: Verified, pixels: Pixels, provenance: Provenance
) -> Contract:
    quantised = verified.measured.quantised
    sourced = quantised.exported.sourced
    evidence = folder / "evidence.json"
    evidence.write_bytes(to_json(verified.measured.evidence))
    variants = copy_variants(folder, quantised, verified.backends)
    examples = write_examples(folder, sourced.examples, pixels)
    card = folder / "README.md"
    card.write_text(model_card(quantised.recipe, version, verified.measured.evidence, provenance))
    contract = make_contract(
        quantised.recipe,
        version=version,
        labels=sourced.labels,
        variants=variants,
        best=verified.best,
        examples=examples,
        documents=[file_ref(folder, evidence), file_ref(folder, card)],
        provenance=provenance,
    )
    (folder / "contract.json").write_bytes(to_json(contract))
    return contract


def _switch(models: Path, folder: Path, contract: Contract) -> None:
    index = read_index(models / "index.json")
    before = index.models.get(contract.name)
    entry = index_entry(models, folder, contract, before.versions if before else ())
    changed = Index(
        schema_version=SCHEMA_VERSION,
        models=dict(sorted({**index.models, contract.name: entry}.items())),
    )
    unfinished = models / f"{INCOMING}{uuid.uuid4().hex[:12]}"
    unfinished.write_bytes(to_json(changed))
    unfinished.replace(models / "index.json")


def refuse_private(folder: Path) -> None:
    """Refuse paths of this machine and source lines in any file to be published."""
    marks = {f"{ROOT}/", f"{Path.home()}/", "site-packages", 'File "', ".py:"} - {"//"}
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".tensor", ".outputs"):
            data = path.read_bytes()
            found += [
                f"{path.name}: holds {mark!r}" for mark in sorted(marks) if mark.encode() in data
            ]
    if found:
        raise Refused([f"private text in a file to be published: {item}" for item in found])
