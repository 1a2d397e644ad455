"""Tensors as raw little-endian bytes; strings as the v2 protocol has them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from export.contract import Datatype
from export.errors import ContractError
from export.tensors import Array

LAYOUTS: dict[Datatype, str] = {
    "bool": "|b1", "uint8": "|u1", "int32": "<i4", "int64": "<i8", "float32": "<f4",
}  # fmt: skip
LENGTH = struct.Struct("<I")


def to_bytes(array: Array) -> bytes:
    """Row-major; of strings each its length in 4 bytes, then its UTF-8."""
    if array.dtype == np.object_:
        texts = [str(value).encode() for value in array.ravel()]
        return b"".join(LENGTH.pack(len(text)) + text for text in texts)
    return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).tobytes()


def from_bytes(data: bytes, dtype: Datatype, shape: Sequence[int]) -> Array:
    """What to_bytes gave. ContractError when the bytes are not those of dtype and shape."""
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == "string":
        texts = _texts(data)
        if len(texts) != count:
            raise ContractError(f"{len(texts)} strings for a tensor of shape {list(shape)}")
        values = np.empty(count, np.object_)
        values[:] = texts
        return values.reshape(shape)
    layout = np.dtype(LAYOUTS[dtype])
    if len(data) != count * layout.itemsize:
        raise ContractError(
            f"{len(data)} bytes for {dtype} {list(shape)}, expected {count * layout.itemsize}"
        )
    return np.frombuffer(data, layout).reshape(shape)


def _texts(data: bytes) -> list[str]:
    texts, at = [], 0
    while at < len(data):
        if at + LENGTH.size > len(data):
            raise ContractError("a string's length is cut off")
        (length,) = LENGTH.unpack_from(data, at)
        at += LENGTH.size
        if at + length > len(data):
            raise ContractError(f"a string of {length} bytes is cut off")
        texts.append(data[at : at + length].decode())
        at += length
    return texts
