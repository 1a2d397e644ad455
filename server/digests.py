"""SHA-256 of files as they lie on disk now, without hashing an unchanged file twice."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from server.remember import Remembered


@dataclass(frozen=True)
class Digest:
    """Size and SHA-256 of one file."""

    size_bytes: int
    sha256: str


class Digests:
    """Digests of files by path. Threads may share it."""

    def __init__(self) -> None:
        self._known: Remembered[Digest] = Remembered()

    def of(self, path: Path, file: BinaryIO) -> Digest:
        """Digest of an open file, whose position ends up at its start; `path` is only the key."""
        return self._known.get(path, os.fstat(file.fileno()), lambda: _digest(file))


def _digest(file: BinaryIO) -> Digest:
    sha256 = hashlib.sha256()
    size = 0
    file.seek(0)
    while chunk := file.read(1 << 20):
        sha256.update(chunk)
        size += len(chunk)
    file.seek(0)
    return Digest(size_bytes=size, sha256=sha256.hexdigest())
