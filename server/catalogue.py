"""What is published under models/, read from disk and checked before it is used."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from export.contract import (
    Backend,
    Contract,
    FileRef,
    Index,
    IndexEntry,
    Variant,
    read_contract,
    read_index,
    sha256,
)
from export.errors import ContractError
from server.digests import Digests
from server.errors import BadContract, NotFound, Unverified, WrongBytes
from server.remember import Remembered

T = TypeVar("T")
F = TypeVar("F")

BACKEND: Backend = "cpu"


@dataclass(frozen=True)
class Version:
    """One published version: its folder and its contract."""

    folder: Path
    contract: Contract

    @property
    def label(self) -> str:
        """`digits/1`, as messages name it."""
        return f"{self.contract.name}/{self.contract.version}"

    def passing(self) -> list[str]:
        """Names of the variants that passed on the server's backend."""
        return [v.name for v in self.contract.variants if _passed(v)]

    def best(self) -> Variant:
        """The variant that the recipe's rule picks here. Raises Unverified when none passed."""
        name = self.contract.best.get(BACKEND)
        if name is None or name not in self.passing():
            raise Unverified(f"{self.label}: no variant passed verification on {BACKEND}")
        return self.contract.variant(name)


class Catalogue:
    """The published models. Every answer reflects the disk as it is now."""

    def __init__(self, models: Path) -> None:
        self.models = models
        self.digests = Digests()
        self._indexes: Remembered[Index] = Remembered()
        self._contracts: Remembered[Contract] = Remembered()

    def index(self) -> Index:
        """models/index.json. Raises ContractError when it is broken; none is an empty index."""
        return _parsed(self._indexes, self.models / "index.json", read_index)

    def versions(self, name: str) -> list[int]:
        """Published version numbers, ascending, whether or not their files are whole."""
        return sorted(self._entry(name).versions)

    def published(self, name: str, number: int | None = None) -> Version:
        """A version (default: the current one) as its contract on disk describes it.

        Raises NotFound when it is not published, WrongBytes when it is and its contract is
        missing, BadContract when its contract is broken.
        Good enough to hand out files, which the page checks; for inference see `verified`.
        """
        return self._version(name, self._entry(name), number)

    def verified(self, name: str, number: int | None = None) -> Version:
        """As `published`, and the current contract's bytes are those the index names."""
        entry = self._entry(name)
        version = self._version(name, entry, number)
        if version.contract.version == entry.version:
            self._check(self.models, entry.contract)
        return version

    def check_there(self, name: str, number: int) -> None:
        """Raises WrongBytes unless the version has a contract, whatever it says."""
        file = self._contract_file(name, number)
        _open(file.parent, file.name, Path.stat)

    def check_variant(self, version: Version, variant: Variant) -> None:
        """Raises WrongBytes unless the variant's file on disk is the published one."""
        self._check(version.folder, _ref(variant))

    def variant_bytes(self, version: Version, variant: Variant) -> bytes:
        """The variant's file, verified: these very bytes hash to what the contract says."""
        ref = _ref(variant)
        data = _open(version.folder, ref.file, lambda path: path.read_bytes())
        if (len(data), sha256(data)) != (ref.size_bytes, ref.sha256):
            raise _wrong(version.folder, ref, len(data), sha256(data))
        return data

    def _version(self, name: str, entry: IndexEntry, number: int | None) -> Version:
        wanted = entry.version if number is None else number
        if wanted not in entry.versions:
            listed = ", ".join(map(str, sorted(entry.versions)))
            raise NotFound(f"{name}/{wanted} is not published; versions: {listed}")
        file = self._contract_file(name, wanted)
        self.check_there(name, wanted)
        try:
            contract = _parsed(self._contracts, file, read_contract)
        except ContractError as error:
            raise BadContract(f"{name}/{wanted}: {error}") from error
        if (contract.name, contract.version) != (name, wanted):
            raise BadContract(
                f"{name}/{wanted}/contract.json says it is {contract.name}/{contract.version}"
            )
        return Version(folder=file.parent, contract=contract)

    def _check(self, folder: Path, ref: FileRef) -> None:
        with _open(folder, ref.file, lambda path: path.open("rb")) as file:
            digest = self.digests.of(folder / ref.file, file)
        if (digest.size_bytes, digest.sha256) != (ref.size_bytes, ref.sha256):
            raise _wrong(folder, ref, digest.size_bytes, digest.sha256)

    def _entry(self, name: str) -> IndexEntry:
        models = self.index().models
        if name not in models:
            raise NotFound(f"model {name[:80]!r} is not published; models: {', '.join(models)}")
        return models[name]

    def _contract_file(self, name: str, number: int) -> Path:
        return self.models / name / str(number) / "contract.json"


def _parsed(known: Remembered[T], path: Path, read: Callable[[Path], T]) -> T:
    try:
        stat = path.stat()
    except OSError:
        return read(path)  # which knows what a missing file means
    return known.get(path, stat, lambda: read(path))


def _passed(variant: Variant) -> bool:
    result = variant.backends.get(BACKEND)
    return result is not None and result.status == "passed"


def _ref(variant: Variant) -> FileRef:
    return FileRef(file=variant.file, size_bytes=variant.size_bytes, sha256=variant.sha256)


def _open(folder: Path, file: str, use: Callable[[Path], F]) -> F:
    try:
        return use(folder / file)
    except OSError as error:
        where = f"{folder.parent.name}/{folder.name}/{file}"
        raise WrongBytes(f"{where}: cannot be read: {os.strerror(error.errno or 0)}") from error


def _wrong(folder: Path, ref: FileRef, size_bytes: int, found: str) -> WrongBytes:
    return WrongBytes(
        f"{folder.parent.name}/{folder.name}/{ref.file}: wrong bytes: it has {size_bytes} bytes"
        f" with SHA-256 {found}, published were {ref.size_bytes} bytes with SHA-256 {ref.sha256};"
        " put the published file back"
    )
