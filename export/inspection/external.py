"""Weights that lie in other files: only in the model's own folder, whole, and never elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

import onnx
from onnx import TensorProto

from export.inspection.form import MAX_BYTES
from export.inspection.reason import Reason
from export.inspection.walk import shown, tensors


@dataclass(frozen=True)
class Part:
    """Where the bytes of one external tensor lie; `length` None: to the end of the file."""

    location: str
    offset: int
    length: int | None


def external_tensors(model: onnx.ModelProto) -> list[tuple[str, TensorProto]]:
    """Every tensor whose bytes are not in the model's own file."""
    return [(n, t) for n, t in tensors(model) if t.data_location == TensorProto.EXTERNAL]


def external_reasons(model: onnx.ModelProto, name: str, folder: Path) -> Iterator[Reason]:
    """Paths that lead out of `folder`, files that are not there or too short."""
    total = 0
    for where, tensor in external_tensors(model):
        at = f"{name}: {where}"
        part = read_part(tensor)
        if part is None:
            yield Reason("external-data-bad", f"{at}: says neither which other file its bytes lie "
                         "in nor where; export it as one file")  # fmt: skip
            continue
        reason, size = _location(at, part.location, folder)
        if reason is None:
            reason = _inside(at, part, size)
        if reason is not None:
            yield reason
        else:
            total += size - part.offset if part.length is None else part.length
    if total > MAX_BYTES:
        yield Reason("too-large", f"{name}: {total:,} bytes of weights in other files, limit "
                     f"{MAX_BYTES:,}; keep them in lower precision")  # fmt: skip


def read_part(tensor: TensorProto) -> Part | None:
    """What an external tensor says about its place; None where that makes no sense."""
    about = {entry.key: entry.value for entry in tensor.external_data}
    numbers = [about.get("offset", "0"), about.get("length", "0")]
    if not about.get("location") or not all(n.isascii() and n.isdigit() for n in numbers):
        return None
    if any(len(n) > 18 for n in numbers):
        return None
    length = int(about["length"]) if "length" in about else None
    return Part(about["location"], int(numbers[0]), length)


def _location(at: str, location: str, folder: Path) -> tuple[Reason | None, int]:
    """Why the file may not be read, else its size."""
    told = shown(location)
    windows = PureWindowsPath(location)
    parts = {*PurePosixPath(location).parts, *windows.parts}
    if location.startswith(("/", "\\")) or windows.drive or ".." in parts or "\0" in location:
        return _escape(at, told, "leads out of the model's folder"), 0
    path, home = folder / location, folder.resolve()
    if not path.exists():
        return Reason("external-data-missing", f"{at}: its bytes lie in {told}, which is not "
                      "beside the model; put the file there"), 0  # fmt: skip
    if not path.resolve().is_relative_to(home):
        return _escape(at, told, "is a link out of the model's folder"), 0
    if not path.is_file():
        return Reason("external-data-bad", f"{at}: {told} is no regular file"), 0
    return None, path.stat().st_size


def _escape(at: str, told: str, why: str) -> Reason:
    return Reason("external-data-escape", f"{at}: its bytes would be read from {told}, which {why};"
                  " nothing was read. Copy the weights beside the model")  # fmt: skip


def _inside(at: str, part: Part, size: int) -> Reason | None:
    end = part.offset + (part.length or 0)
    if end <= size:
        return None
    return Reason("external-data-short", f"{at}: its bytes end at {end:,} of {shown(part.location)}"
                  f", which has {size:,}; copy or download that file again")  # fmt: skip


def take_in(model: onnx.ModelProto, folder: Path) -> None:
    """Put external weights into the model. Only after external_reasons has found none."""
    for _, tensor in external_tensors(model):
        part = read_part(tensor)
        if part is None:
            raise ValueError("external data was not checked")
        with (folder / part.location).open("rb") as file:
            file.seek(part.offset)
            tensor.raw_data = file.read(-1 if part.length is None else part.length)
        del tensor.external_data[:]
        tensor.data_location = TensorProto.DEFAULT
