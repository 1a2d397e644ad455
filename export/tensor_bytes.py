"""Tensors as raw bytes: what contract.TensorFile describes, and what the page is handed."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from export.contract import Datatype
from export.errors import ContractError
from export.tensors import Array

# How a value lies in memory and on disk: little-endian, on every machine.
LAYOUTS: dict[Datatype, np.dtype[Any]] = {
    "bool": np.dtype("?"),
    "uint8": np.dtype("u1"),
    "int32": np.dtype("<i4"),
    "int64": np.dtype("<i8"),
    "float32": np.dtype("<f4"),
}


def to_bytes(array: Array) -> bytes:
    """The values, row by row and little-endian; strings (an object array of str) as v2's BYTES.

    Raises ValueError for a type that no contract has, and for text that is no Unicode.
    """
    if array.dtype == object:
        return b"".join(_packed(value) for value in array.ravel().tolist())
    for layout in LAYOUTS.values():
        if array.dtype.newbyteorder("<") == layout:
            return array.astype(layout, copy=False).tobytes()
    raise ValueError(f"a tensor of {array.dtype}; a contract has {', '.join(LAYOUTS)} and string")


def from_bytes(data: bytes, dtype: Datatype, shape: Sequence[int]) -> Array:
    """The array whose `to_bytes` is `data`; ContractError when there are too few or too many."""
    count = math.prod(shape)
    if dtype == "string":
        return _strings(data, count).reshape(shape)
    layout = LAYOUTS[dtype]
    if len(data) != count * layout.itemsize:
        raise ContractError(
            f"{len(data):,} bytes for {dtype} {list(shape)}, which has {count * layout.itemsize:,}"
        )
    return np.frombuffer(data, layout).reshape(shape)


def _packed(value: object) -> bytes:
    if not isinstance(value, str):
        raise ValueError(f"a tensor of strings holds {value!r}")
    text = value.encode()
    return struct.pack("<I", len(text)) + text


def _strings(data: bytes, count: int) -> Array:
    values = list(_unpacked(data))
    if len(values) != count:
        raise ContractError(f"{len(values):,} strings, the shape asks for {count:,}")
    array = np.empty(count, object)
    array[:] = values
    return array


def _unpacked(data: bytes) -> Iterator[str]:
    at = 0
    while at < len(data):
        start = at + 4
        end = start + int.from_bytes(data[at:start], "little")
        if end > len(data):
            raise ContractError(f"a string is cut short: it ends at byte {end:,} of {len(data):,}")
        try:
            yield data[start:end].decode()
        except UnicodeDecodeError as error:
            raise ContractError(f"a string at byte {start:,} is no UTF-8") from error
        at = end
