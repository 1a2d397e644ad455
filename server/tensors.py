"""Tensors of the Open Inference Protocol: names of types, JSON lists and raw bytes to arrays."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from export.contract import Datatype, Tensor
from export.tensor_bytes import to_bytes as strings_to_bytes
from server.errors import BadRequest, NotANumber

Array = NDArray[np.generic]

# The protocol's name and the layout on the wire (little-endian) of each type of a contract.
DATATYPES: dict[Datatype, tuple[str, np.dtype[Any]]] = {
    "bool": ("BOOL", np.dtype("?")),
    "uint8": ("UINT8", np.dtype("u1")),
    "int32": ("INT32", np.dtype("<i4")),
    "int64": ("INT64", np.dtype("<i8")),
    "float32": ("FP32", np.dtype("<f4")),
    "string": ("BYTES", np.dtype("O")),  # each its length in 4 bytes, then its UTF-8
}


# What JSON may give for a kind of numpy type.
ALLOWED: dict[str, set[type]] = {
    "b": {bool}, "i": {int}, "u": {int}, "f": {int, float}, "O": {str},
}  # fmt: skip


def datatype(tensor: Tensor) -> str:
    """The protocol's name of the tensor's type."""
    return DATATYPES[tensor.dtype][0]


def shape(tensor: Tensor) -> list[int]:
    """The tensor's shape with -1 for every dimension that is not fixed; [-1] for an unknown rank,
    of which the protocol knows nothing."""
    if tensor.shape is None:
        return [-1]
    return [size if isinstance(size, int) else -1 for size in tensor.shape]


def from_bytes(tensor: Tensor, got: Sequence[int], raw: bytes | memoryview) -> Array:
    """The array whose little-endian, row-major bytes are `raw`; its declaration is checked."""
    if tensor.dtype == "string":
        return _strings(tensor, got, raw)
    dtype = DATATYPES[tensor.dtype][1]
    expected = math.prod(got) * dtype.itemsize
    if len(raw) != expected:
        raise BadRequest(
            f"input {quoted(tensor.name)}: {len(raw)} bytes of data,"
            f" expected {expected} for {datatype(tensor)} {list(got)}"
        )
    if tensor.dtype == "bool" and np.frombuffer(raw, np.uint8).max(initial=0) > 1:
        raise BadRequest(f"input {quoted(tensor.name)}: a BOOL is neither 0 nor 1")
    return np.frombuffer(raw, dtype=dtype).reshape(got)


def _strings(tensor: Tensor, got: Sequence[int], raw: bytes | memoryview) -> Array:
    name, count = quoted(tensor.name), math.prod(got)
    if len(raw) < 4 * count:
        raise BadRequest(f"input {name}: {len(raw)} bytes cannot hold {count} strings")
    array = np.empty(count, object)
    at = 0
    for i in range(count):
        start = at + 4
        at = start + int.from_bytes(raw[at:start], "little")
        if at > len(raw):
            raise BadRequest(f"input {name}: string {i} is cut short: it ends beyond the data")
        try:
            array[i] = bytes(raw[start:at]).decode()
        except UnicodeDecodeError as error:
            raise BadRequest(f"input {name}: string {i} is not UTF-8") from error
    if at != len(raw):
        raise BadRequest(f"input {name}: {len(raw) - at} bytes follow its {count} strings")
    return array.reshape(got)


def from_json(tensor: Tensor, got: Sequence[int], data: Sequence[object]) -> Array:
    """The array of a JSON list, flat or nested as the shape; its declaration is checked."""
    name = quoted(tensor.name)
    values = _flat(name, list(got), data)
    dtype = DATATYPES[tensor.dtype][1]
    allowed = ALLOWED[dtype.kind]
    if not set(map(type, values)) <= allowed:
        at, value = next((i, v) for i, v in enumerate(values) if type(v) not in allowed)
        raise BadRequest(f"input {name}: value {at} is {quoted(value)}, no {datatype(tensor)}")
    if dtype.kind == "O":
        _check_text(name, values)
    try:
        with np.errstate(over="ignore"):
            array: Array = np.array(values, dtype=dtype)
    except OverflowError as error:
        raise BadRequest(f"input {name}: a value is out of range for {datatype(tensor)}") from error
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise BadRequest(f"input {name}: a value is out of range for {datatype(tensor)}")
    return array.reshape(got)


def to_json(tensor: Tensor, array: Array) -> list[object]:
    """The array's values, flat. Raises NotANumber where JSON has no such value."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        count = int((~np.isfinite(array)).sum())
        raise NotANumber(
            f"output {quoted(tensor.name)}: {count} of {array.size} values are NaN or Infinity,"
            ' which JSON cannot carry; ask for this output with "binary_data": true'
        )
    values: list[object] = array.ravel().tolist()  # of strings, str
    return values


def to_bytes(tensor: Tensor, array: Array) -> bytes:
    """The array's values, row-major and little-endian."""
    if tensor.dtype == "string":
        return strings_to_bytes(array)
    return array.astype(DATATYPES[tensor.dtype][1], copy=False).tobytes()


def quoted(value: object) -> str:
    """A value from outside, made short and harmless for a message."""
    try:
        text = json.dumps(value)
    except (ValueError, RecursionError):
        text = "a value"
    return text if len(text) <= 80 else f"{text[:80]}..."


def listed(sizes: Sequence[int]) -> str:
    """A shape from outside, made short for a message."""
    return quoted(list(sizes[:16]))


def _check_text(name: str, values: Sequence[object]) -> None:
    for i, value in enumerate(values):
        try:
            str(value).encode()
        except UnicodeEncodeError as error:  # JSON can write half of a surrogate pair
            raise BadRequest(
                f"input {name}: value {i} is no Unicode text: character {error.start} is half of a"
                " surrogate pair"
            ) from error


def _flat(name: str, sizes: list[int], data: Sequence[object]) -> Sequence[object]:
    expected = math.prod(sizes)
    if len(sizes) < 2 or not any(type(value) is list for value in data):
        return _counted(name, expected, data)
    level: Sequence[object] = data
    for depth, size in enumerate(sizes[1:], start=1):
        _counted(name, math.prod(sizes[:depth]), level)
        lists = [value for value in level if isinstance(value, list) and len(value) == size]
        if len(lists) != len(level):
            raise BadRequest(f"input {name}: data is not nested as its shape {sizes}")
        level = list(chain.from_iterable(lists))
    return _counted(name, expected, level)


def _counted(name: str, expected: int, values: Sequence[object]) -> Sequence[object]:
    if len(values) != expected:
        raise BadRequest(f"input {name}: {len(values)} values of data, expected {expected}")
    return values
