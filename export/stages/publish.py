"""publish: a verified version into models/, all or nothing. The only stage that writes there."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from export.contract import (
    SCHEMA_VERSION,
    Contract,
    Event,
    Index,
    IndexEntry,
    Provenance,
    file_ref,
    read_contract,
    read_index,
    to_json,
)
from export.decision_record import Before, decision_record
from export.errors import Refused, SetupError
from export.evidence import Evidence
from export.model_card import model_card
from export.stages.results import Verified
from export.tensors import Tensors
from export.version import (
    copy_decoder,
    copy_variants,
    index_entry,
    make_contract,
    now,
    write_examples,
)
from export.workspace import ROOT

INCOMING = ".incoming-"
JOURNAL = ".publishing"
"""Names the version that is being published, from before its folder is there until it is listed."""
LOCK = ".lock"
LOCK_TIMEOUT_S = 60
MIN_NAME = 5  # a shorter user name ("root") occurs by chance


def published(models: Path, name: str) -> Contract | None:
    """The current version's contract, or None when there is none yet."""
    entry = read_index(models / "index.json").models.get(name)
    return read_contract(models / entry.contract.file) if entry else None


def publish(
    models: Path,
    verified: Verified,
    tensors: Sequence[Tensors],
    provenance: Provenance,
    *,
    by: str = "",
    why: str = "",
) -> Contract:
    """Write the next version beside the others, rename it into place, then switch index.json.

    `by` and `why` go into the record of publications. Interrupted anywhere, index.json still names
    the version of before. What is half-written is cleared at once, or, after a kill, by the next
    publication. Raises Refused for private text, SetupError when models/ cannot be written.
    """
    name = verified.measured.quantised.recipe.name
    home = models / name
    with locked(models):
        clear_unfinished(models, name)
        version = _next_version(models, name)
        incoming = home / f"{INCOMING}{version}"
        incoming.mkdir(parents=True)
        event = Event(action="publish", version=version, at=now(), by=by, why=why)
        record = decision_record(verified, provenance, event, _before(models, name))
        try:
            contract = _write(incoming, version, verified, tensors, provenance, record)
            refuse_private(incoming)
            (home / JOURNAL).write_text(str(version))
            incoming.rename(home / str(version))
            _switch(models, home / str(version), contract, event)
        finally:
            clear_unfinished(models, name)
    return contract


@contextlib.contextmanager
def locked(models: Path) -> Iterator[None]:
    """Alone in models/. SetupError when another has it for too long, or it cannot be written."""
    try:
        with FileLock(models / LOCK, timeout=LOCK_TIMEOUT_S):
            yield
    except Timeout as error:
        raise SetupError(
            f"{models}: another publication or rollback holds it for over {LOCK_TIMEOUT_S} s; "
            "try again when that has ended"
        ) from error
    except OSError as error:
        where = error.filename2 or error.filename or models  # of a copy, the target
        raise SetupError(
            f"{where}: {error.strerror or error}; the current versions are as they were. Make room "
            "or give the rights, and try again"
        ) from error


def clear_unfinished(models: Path, name: str) -> None:
    """Remove what an interrupted publication left: hidden files, and the version of its journal.

    Never removed is a version folder that is listed, or that no journal names.
    """
    home = models / name
    journal = home / JOURNAL
    if journal.exists():
        entry = read_index(models / "index.json").models.get(name)
        version = journal.read_text()
        if version.isdigit() and (entry is None or int(version) not in entry.versions):
            shutil.rmtree(home / version, ignore_errors=True)
        journal.unlink()
    for leftover in home.glob(f"{INCOMING}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    (models / f"{INCOMING}index").unlink(missing_ok=True)


def _next_version(models: Path, name: str) -> int:
    """Above every folder and every number ever listed: a number is never given twice."""
    entry = read_index(models / "index.json").models.get(name)
    folders = [int(p.name) for p in (models / name).glob("*") if p.name.isdigit()]
    return max([0, *folders, *(entry.versions if entry else [])]) + 1


def _before(models: Path, name: str) -> Before | None:
    contract = published(models, name)
    if contract is None:
        return None
    path = models / name / str(contract.version) / "evidence.json"
    return Before(contract, Evidence.model_validate_json(path.read_bytes()))


def _write(
    folder: Path,
    version: int,
    verified: Verified,
    tensors: Sequence[Tensors],
    provenance: Provenance,
    record: str,
) -> Contract:
    measured = verified.measured
    quantised, exported = measured.quantised, measured.quantised.exported
    copy_decoder(folder, exported)
    variants = copy_variants(folder, quantised, verified.backends)
    kind = quantised.recipe.file.input.kind
    examples = write_examples(folder, kind, exported.sourced.examples, tensors)
    documents = {
        "evidence.json": to_json(measured.evidence),
        "details.json": to_json(measured.details),
        "decision.md": record.encode(),
        "README.md": model_card(quantised.recipe, version, measured.evidence, provenance).encode(),
    }
    for name, data in documents.items():
        (folder / name).write_bytes(data)
    contract = make_contract(
        exported,
        version=version,
        variants=variants,
        best=verified.best,
        examples=examples,
        documents=[file_ref(folder, folder / name) for name in documents],
        provenance=provenance,
    )
    (folder / "contract.json").write_bytes(to_json(contract))
    return contract


def _switch(models: Path, folder: Path, contract: Contract, event: Event) -> None:
    before = read_index(models / "index.json").models.get(contract.name)
    versions, history = (before.versions, before.history) if before else ([], [])
    entry = index_entry(models, folder, contract, versions, [*history, event])
    write_entry(models, contract.name, entry)


def write_entry(models: Path, name: str, entry: IndexEntry) -> None:
    """Replace one model's entry in index.json, whole or not at all. The caller holds the lock."""
    index = read_index(models / "index.json")
    changed = Index(
        schema_version=SCHEMA_VERSION, models=dict(sorted({**index.models, name: entry}.items()))
    )
    unfinished = models / f"{INCOMING}index"
    try:
        with unfinished.open("wb") as file:
            file.write(to_json(changed))
            file.flush()
            os.fsync(file.fileno())  # else a power cut may leave the new name with no content
        unfinished.replace(models / "index.json")
    finally:
        unfinished.unlink(missing_ok=True)


def refuse_private(folder: Path) -> None:
    """Refuse paths of this machine, its user's name and source lines in what is published."""
    marks = {f"{ROOT}/", f"{Path.home()}/", f"{tempfile.gettempdir()}/", "site-packages", ".py:"}
    user = getpass.getuser()
    marks |= {user} if len(user) > MIN_NAME else set()
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".tensor", ".outputs"):
            data = path.read_bytes()
            found += [
                f"{path.name}: holds {mark!r}" for mark in sorted(marks) if mark.encode() in data
            ]
    if found:
        raise Refused([f"private text in a file to be published: {item}" for item in found])
