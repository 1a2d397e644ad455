"""rollback: an earlier version becomes the current one again, recorded, all or nothing."""

from __future__ import annotations

from pathlib import Path

from export.contract import Contract, Event, IndexEntry, read_contract, read_index, sha256
from export.errors import Refused
from export.stages.publish import locked, write_entry
from export.version import index_entry, now


def rollback(
    models: Path, name: str, version: int | None = None, *, by: str = "", why: str = ""
) -> Event:
    """Make `version` the current one; without it, the one that was current before.

    Its files are compared with their hashes first. Raises Refused with every reason.
    """
    with locked(models):
        index = read_index(models / "index.json")
        if name not in index.models:
            known = ", ".join(index.models) or "none"
            raise Refused([f"{name}: nothing of that name is published; published: {known}"])
        entry = index.models[name]
        chosen = _before(name, entry) if version is None else version
        if chosen not in entry.versions:
            known = ", ".join(map(str, entry.versions))
            raise Refused([f"{name}/{chosen}: no such version; published: {known}"])
        if chosen == entry.version:
            raise Refused([f"{name}/{chosen} is the current version already"])
        folder = models / name / str(chosen)
        contract = whole(folder)
        event = Event(action="rollback", version=chosen, at=now(), by=by, why=why)
        changed = index_entry(models, folder, contract, entry.versions, [*entry.history, event])
        write_entry(models, name, changed)
    return event


def whole(folder: Path) -> Contract:
    """The contract of a version whose every file is what it promises; Refused names the others."""
    contract = read_contract(folder / "contract.json")
    label, said = f"{folder.parent.name}/{folder.name}", f"{contract.name}/{contract.version}"
    reasons = [] if said == label else [f"{label}: its contract says that it is {said}"]
    for ref in contract.files():
        path = folder / ref.file
        if not path.is_file():
            reasons.append(f"{label} {ref.file}: missing")
        elif sha256(path.read_bytes()) != ref.sha256:
            reasons.append(f"{label} {ref.file}: not the bytes that were published")
    if reasons:
        raise Refused(reasons)
    return contract


def _before(name: str, entry: IndexEntry) -> int:
    """The version that was current before this one was."""
    earlier = [event.version for event in entry.history if event.version != entry.version]
    if not earlier:
        raise Refused([f"{name}/{entry.version}: no version was current before it"])
    return earlier[-1]
