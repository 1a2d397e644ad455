"""What the bytes of a file are, before anything is parsed or allocated for it."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from export.inspection.reason import Reason

MAX_BYTES = 2**31 - 1  # protobuf's own limit, and a browser's for one buffer
MAX_DEPTH = 100  # of messages within messages: what onnx and onnxruntime stop at

# What people hand over instead of a model, by how it begins.
OTHERS = {
    b"version https://git-lfs": "a Git LFS pointer; fetch the real file with `git lfs pull`",
    b"PK\x03\x04": "a zip archive (a PyTorch file is one too); unpack it, or export it to ONNX",
    b"PK\x05\x06": "an empty zip archive",
    b"\x1f\x8b": "a gzip archive; unpack it first",
    b"\xfd7zXZ": "an xz archive; unpack it first",
    b"BZh": "a bzip2 archive; unpack it first",
    b"\x28\xb5\x2f\xfd": "a zstd archive; unpack it first",
    b"\x89HDF\r\n": "an HDF5 file, as old Keras writes; give it to `likewise init`",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"%PDF": "a PDF document",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"ORTM": "an .ort file, tied to one runtime version; give the .onnx that it was made from",
}
BEGINNING = 512
IR_VERSION = b"\x08"  # the key of the first field, with which every ONNX file begins


def form_reasons(path: Path) -> list[Reason]:
    """Why the file cannot be an ONNX file at all, from its size and its first bytes."""
    try:
        about = path.stat()
    except OSError as error:
        return [Reason("not-found", f"{path.name}: cannot be read: {error.strerror}")]
    if not stat.S_ISREG(about.st_mode):
        return [
            Reason("not-a-file", f"{path.name}: is no regular file; give the .onnx file itself")
        ]
    if about.st_size == 0:
        return [Reason("empty-file", f"{path.name}: has 0 bytes; copy or download it again")]
    if about.st_size > MAX_BYTES:
        return [Reason("too-large", f"{path.name}: {about.st_size:,} bytes, limit {MAX_BYTES:,}; "
                       "keep large weights in lower precision")]  # fmt: skip
    with path.open("rb") as file:
        what = _other(file.read(BEGINNING))
    return [Reason("not-onnx", f"{path.name}: is {what}")] if what else []


def parse_reason(name: str, data: bytes, error: Exception) -> Reason:
    """Why protobuf could not read the bytes: cut off, nested too deep, or no ONNX at all."""
    for found in _walk(data):
        if found.depth > MAX_DEPTH:
            return Reason(
                "nesting-bomb",
                f"{name}: at byte {found.at:,} messages lie more than {MAX_DEPTH} deep within each "
                "other; no trained model needs that",
            )
        if found.claimed > MAX_BYTES and data[:1] == IR_VERSION:
            return Reason(
                "huge-claim",
                f"{name}: the field at byte {found.at:,} claims {found.claimed:,} bytes, limit "
                f"{MAX_BYTES:,}; copy or download the file again",
            )
        if found.claimed > found.left and data[:1] == IR_VERSION:
            return Reason(
                "truncated",
                f"{name}: the field at byte {found.at:,} claims {found.claimed:,} bytes, "
                f"{found.left:,} are left; copy or download the file again",
            )
    text = str(error).strip().splitlines()
    return Reason(
        "not-onnx", f"{name}: is no ONNX file: {text[0] if text else type(error).__name__}"
    )


def _other(start: bytes) -> str | None:
    for magic, what in OTHERS.items():
        if start.startswith(magic):
            return what
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        return "a web page, so the download went wrong; open its address in a browser to see why"
    if start[:1] == b"\x80" and start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return "a Python pickle; export the model to ONNX first"
    return None


# Fields of onnx.proto that hold messages a model is nested in, by message: field -> message.
_MESSAGES: dict[str, dict[int, str]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "leaf", 11: "value", 12: "value", 13: "value"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "leaf", 6: "graph", 10: "leaf", 11: "graph", 14: "type", 15: "type"},
    "value": {2: "type"},
    "type": {1: "type-of", 4: "type-of", 5: "type-of", 9: "type-of"},
    "type-of": {1: "type", 2: "type"},
    "leaf": {},
}
_MAX_VARINT = 10


@dataclass(frozen=True)
class _Field:
    at: int
    depth: int
    claimed: int
    left: int


def _walk(data: bytes) -> Iterator[_Field]:
    """Fields with a length, of the messages that ONNX nests; ends where the bytes make no sense."""
    stack = [("model", 0, len(data), 0)]
    while stack:
        message, at, end, depth = stack.pop()
        while at < end:
            start = at
            key, at = _varint(data, at)
            kind, number = key & 7, key >> 3
            if kind == 0:
                _, at = _varint(data, at)
            elif kind in (1, 5):
                at += 8 if kind == 1 else 4
            elif kind == 2:
                claimed, at = _varint(data, at)
                yield _Field(start, depth + 1, claimed, end - at)
                inner = _MESSAGES[message].get(number)
                if claimed > end - at:
                    return
                if inner is not None and depth < MAX_DEPTH + 1:
                    stack.append((message, at + claimed, end, depth))
                    message, end, depth = inner, at + claimed, depth + 1
                else:
                    at += claimed
            else:
                return


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for i in range(_MAX_VARINT):
        if at + i >= len(data):
            return value, len(data)
        value |= (data[at + i] & 0x7F) << (7 * i)
        if data[at + i] < 0x80:
            return value, at + i + 1
    return value, at + _MAX_VARINT
