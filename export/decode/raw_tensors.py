"""Tensors as they are: .npy, or JSON of the v2 protocol. The rules are in docs/decoders.md."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from export.contract import Tensor, TensorInput
from export.errors import DecodeError
from export.tensors import Array, Tensors

MAGIC = b"\x93NUMPY"
DATATYPES = {
    "BOOL": ("bool", np.bool_), "UINT8": ("uint8", np.uint8), "INT32": ("int32", np.int32),
    "INT64": ("int64", np.int64), "FP32": ("float32", np.float32), "BYTES": ("string", np.object_),
}  # fmt: skip
LAYOUTS = {"|b1": "bool", "|u1": "uint8", "<i4": "int32", "<i8": "int64", "<f4": "float32"}
LARGEST = 2**53 - 1  # the largest whole number that JSON readers keep


def make(spec: TensorInput, inputs: Sequence[Tensor], folder: Path) -> Callable[[bytes], Tensors]:  # noqa: ARG001
    """The decoder of these inputs."""

    def decode(data: bytes) -> Tensors:
        if data.startswith(MAGIC):
            tensors = {inputs[0].name: _npy(data, inputs)}
        elif data.lstrip(b"\t\n\v\f\r ").startswith(b"{"):
            tensors = _json(data, inputs)
        else:
            raise DecodeError("neither .npy nor JSON")
        sizes: dict[str, int] = {}
        for tensor in inputs:
            _check_shape(tensor, tensors[tensor.name], sizes)
        return {tensor.name: tensors[tensor.name] for tensor in inputs}

    return decode


def _npy(data: bytes, inputs: Sequence[Tensor]) -> Array:
    if len(inputs) != 1:
        raise DecodeError(f".npy holds one tensor, the model takes {len(inputs)}; give JSON")
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        readers = {(1, 0): np.lib.format.read_array_header_1_0,
                   (2, 0): np.lib.format.read_array_header_2_0}  # fmt: skip
        if version not in readers:
            raise DecodeError(f".npy of version {version}; 1.0 and 2.0 are read")
        shape, fortran, dtype = readers[version](stream)
    except ValueError as error:
        raise DecodeError(f"not a .npy file: {error}") from error
    if fortran or dtype.str not in LAYOUTS:
        raise DecodeError(f".npy of {dtype.str}{' in Fortran order' if fortran else ''}; "
                          f"{', '.join(LAYOUTS)} in C order are read")  # fmt: skip
    if LAYOUTS[dtype.str] != inputs[0].dtype:
        raise DecodeError(f"{inputs[0].name} is {inputs[0].dtype}, the file has {dtype.str}")
    body = data[stream.tell() :]
    expected = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    if len(body) != expected:
        raise DecodeError(f"{len(body)} bytes of values, {expected} expected for {list(shape)}")
    return np.frombuffer(body, dtype).reshape(shape)


def _json(data: bytes, inputs: Sequence[Tensor]) -> Tensors:
    try:
        document = json.loads(data)
        given = {str(one["name"]): one for one in document["inputs"]}
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise DecodeError('not the v2 protocol\'s {"inputs": [...]}') from error
    names = {tensor.name for tensor in inputs}
    if set(given) != names or len(document["inputs"]) != len(names):
        raise DecodeError(f"inputs {sorted(given)}; the model takes each of {sorted(names)} once")
    return {tensor.name: _values(tensor, given[tensor.name]) for tensor in inputs}


def _values(tensor: Tensor, given: dict[str, Any]) -> Array:
    name, kind = DATATYPES.get(str(given.get("datatype")), ("", np.object_))
    if name != tensor.dtype:
        raise DecodeError(f"{tensor.name}: datatype {given.get('datatype')}, not {tensor.dtype}")
    shape, data = given.get("shape"), given.get("data")
    if not isinstance(shape, list) or not all(type(s) is int and s >= 0 for s in shape):
        raise DecodeError(f"{tensor.name}: shape {shape} is no list of sizes")
    values = list(_flat(data))
    if len(values) != int(np.prod(shape, dtype=np.int64)):
        raise DecodeError(f"{tensor.name}: {len(values)} values for shape {shape}")
    wrong = next((value for value in values if not _fits(value, tensor.dtype)), None)
    if wrong is not None:
        raise DecodeError(f"{tensor.name}: {str(wrong)[:60]} is no {tensor.dtype}")
    array: Array = np.empty(len(values), kind)
    array[:] = [value + 0.0 for value in values] if tensor.dtype == "float32" else values
    return array.reshape(shape)


def _flat(data: Any) -> Iterator[Any]:
    if isinstance(data, list):
        for value in data:
            yield from _flat(value)
    else:
        yield data


def _fits(value: Any, dtype: str) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match dtype:
        case "string":
            return isinstance(value, str)
        case "bool":
            return isinstance(value, bool) or (number and value in (0, 1))
        case "float32":
            with np.errstate(over="ignore"):
                return number and bool(np.isfinite(np.float32(value)))
    limits = {"uint8": (0, 255), "int32": (-(2**31), 2**31 - 1), "int64": (-LARGEST, LARGEST)}
    low, high = limits[dtype]
    return number and value == int(value) and low <= value <= high


def _check_shape(tensor: Tensor, array: Array, sizes: dict[str, int]) -> None:
    expected = tensor.shape or []
    if tensor.shape is not None and len(expected) != array.ndim:
        raise DecodeError(f"{tensor.name}: shape {list(array.shape)}, expected {expected}")
    for size, want in zip(array.shape, expected, strict=False):
        known = 1 if want == "batch" else want
        if isinstance(known, str):
            known = sizes.setdefault(known, size)
        if known is not None and known != size:
            raise DecodeError(f"{tensor.name}: shape {list(array.shape)}, expected {expected}")
