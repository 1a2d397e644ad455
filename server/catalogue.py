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
        """models/index.json. Raises BadContract when it is broken; none is an empty index."""
        path = self.models / "index.json"
        return _parsed(self._indexes, path, read_index) if path.exists() else read_index(path)

    def versions(self, name: str) -> list[int]:
        """Published version numbers that lie here complete, ascending."""
        numbers = sorted(self._entry(name).versions)
        return [n for n in numbers if (self._folder(name, n) / "contract.json").is_file()]

    def published(self, name: str, number: int | None = None) -> Version:
        """A version (default: the current one) as its contract on disk describes it.

        Raises NotFound when it is not published, BadContract when the contract cannot be read.
        Good enough to hand out files, which the page checks; for inference see `verified`.
        """
        current = self._entry(name).version
        wanted = current if number is None else number
        if wanted not in self.versions(name):
            listed = ", ".join(map(str, self.versions(name)))
            raise NotFound(f"{name}/{wanted} is not published; versions: {listed}")
        folder = self._folder(name, wanted)
        contract = _parsed(self._contracts, folder / "contract.json", read_contract)
        if (contract.name, contract.version) != (name, wanted):
            raise BadContract(
                f"{name}/{wanted}/contract.json says it is {contract.name}/{contract.version}"
            )
        return Version(folder=folder, contract=contract)

    def verified(self, name: str, number: int | None = None) -> Version:
        """As `published`, and the current contract's bytes are those the index names."""
        entry = self._entry(name)
        version = self.published(name, number)
        if version.contract.version == entry.version:
            self._check(self.models, entry.contract)
        return version

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

    def _folder(self, name: str, number: int) -> Path:
        return self.models / name / str(number)


def _parsed(known: Remembered[T], path: Path, read: Callable[[Path], T]) -> T:
    try:
        return known.get(path, path.stat(), lambda: read(path))
    except (ContractError, OSError) as error:
        raise BadContract(str(error)) from error


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
