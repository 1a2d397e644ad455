"""Tensors as they are, from .npy or v2 JSON. The rules are in docs/decoders.md."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from export.contract import Datatype, Tensor, TensorInput
from export.decode.reading import is_json, quoted, read_json_object, read_utf8
from export.errors import DecodeError
from export.tensor_bytes import LAYOUTS, from_bytes
from export.tensors import Array, Tensors

NPY = b"\x93NUMPY"
NPY_TYPES: dict[str, Datatype] = {
    "|b1": "bool", "|u1": "uint8", "<i4": "int32", "<i8": "int64", "<f4": "float32",
}  # fmt: skip
MAX_NPY_HEADER = 10_000  # numpy's own limit
V2_TYPES: dict[str, Datatype] = {
    "BOOL": "bool", "UINT8": "uint8", "INT32": "int32", "INT64": "int64", "FP32": "float32",
    "BYTES": "string",
}  # fmt: skip
V2_NAMES = {name: datatype for datatype, name in V2_TYPES.items()}
RANGES: dict[Datatype, tuple[int, int]] = {
    "uint8": (0, 255),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**53) + 1, 2**53 - 1),  # of JSON's int64: beyond it readers lose digits
}
MAX_SIDE = 2**31 - 1


def make(_spec: TensorInput, inputs: Sequence[Tensor], _folder: Path) -> Callable[[bytes], Tensors]:
    """The decoder of the contract's inputs themselves."""
    return lambda data: decode(data, inputs)


def decode(data: bytes, inputs: Sequence[Tensor]) -> Tensors:
    """Every input, in the contract's order; strings as object arrays of str.

    Raises DecodeError naming the input, what is wrong with it, and what the contract asks for.
    """
    if data.startswith(NPY):
        if len(inputs) != 1:
            raise DecodeError(
                f"an .npy file holds one tensor, needed are {len(inputs)} "
                f"({_names(inputs)}); give JSON with all of them"
            )
        found = {inputs[0].name: _npy_as(read_npy(data), inputs[0])}
    else:
        found = _read_json(data, inputs)
    _check_sizes(found, inputs)
    return {tensor.name: found[tensor.name] for tensor in inputs}


def _npy_as(array: Array, tensor: Tensor) -> Array:
    if tensor.dtype == "string" or array.dtype != LAYOUTS[tensor.dtype]:
        raise DecodeError(
            f"an .npy file of {array.dtype}, input {tensor.name} is {tensor.dtype}"
            + (", which only JSON carries" if tensor.dtype == "string" else "; use array.astype")
        )
    return array


def read_npy(data: bytes) -> Array:
    """The array of a .npy file of versions 1.0 to 3.0; never a pickle."""
    datatype, shape, start = _npy_header(data)
    expected = LAYOUTS[datatype].itemsize * math.prod(shape)
    if len(data) - start != expected:
        raise DecodeError(
            f"the .npy file has {len(data) - start:,} bytes of values, "
            f"{expected:,} for {datatype} {list(shape)}; save or fetch it anew"
        )
    if datatype == "bool" and not set(data[start:]) <= {0, 1}:
        raise DecodeError("the .npy file has a bool that is neither 0 nor 1")
    return from_bytes(data[start:], datatype, shape)


def _npy_header(data: bytes) -> tuple[Datatype, tuple[int, ...], int]:
    """Datatype, shape, and where the values begin."""
    version = tuple(data[6:8])
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise DecodeError(f"an .npy file of version {version}; 1.0, 2.0 and 3.0 are supported")
    begin = 10 if version == (1, 0) else 12
    size = int.from_bytes(data[8:begin], "little")
    if size > MAX_NPY_HEADER or begin + size > len(data):
        raise DecodeError(
            f"the .npy file's header says {size:,} bytes, {max(0, len(data) - begin):,} are there, "
            f"limit {MAX_NPY_HEADER:,}"
        )
    match _literal(data[begin : begin + size]):
        case {"descr": str(descr), "fortran_order": bool(fortran), "shape": tuple(shape)}:
            pass
        case _:
            raise DecodeError("the .npy file's header names no descr, fortran_order and shape")
    if descr not in NPY_TYPES:
        raise DecodeError(
            f"an .npy file of {quoted(descr)}; supported are {', '.join(NPY_TYPES)} "
            "(numpy: array.astype)"
        )
    if fortran:
        raise DecodeError("an .npy file in Fortran order; save numpy.ascontiguousarray(array)")
    if not all(type(size) is int and 0 <= size <= MAX_SIDE for size in shape):
        raise DecodeError(f"an .npy file of the shape {quoted(shape)}")
    return NPY_TYPES[descr], shape, begin + size


def _literal(header: bytes) -> object:
    try:
        # Not stripped of line ends alone: ast takes leading blanks for an indent.
        return ast.literal_eval(header.decode().strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise DecodeError("the .npy file's header cannot be read; save it anew") from error


def _read_json(data: bytes, inputs: Sequence[Tensor]) -> Tensors:
    if not is_json(text := read_utf8(data)):
        raise DecodeError(
            f"neither .npy nor a JSON object (it begins with {data[:8].hex(' ') or 'nothing'}); "
            'give numpy.save\'s file or {"inputs": [{"name", "datatype", "shape", "data"}]}'
        )
    given = read_json_object(text).get("inputs")
    if not isinstance(given, list):
        raise DecodeError(f'JSON without a list "inputs"; needed: {_names(inputs)}')
    wanted = {tensor.name: tensor for tensor in inputs}
    found: Tensors = {}
    for position, entry in enumerate(given):
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or name not in wanted:
            raise DecodeError(
                f"inputs[{position}]: no input {quoted(name)}; needed: {_names(inputs)}"
            )
        if name in found:
            raise DecodeError(f"inputs[{position}]: {name} comes twice")
        found[name] = _from_json(entry, wanted[name])
    missing = [name for name in wanted if name not in found]
    if missing:
        raise DecodeError(f"inputs: {', '.join(missing)} missing; needed: {_names(inputs)}")
    return found


def _from_json(entry: Mapping[str, Any], tensor: Tensor) -> Array:
    where = f"input {tensor.name}"
    datatype = V2_TYPES.get(str(entry.get("datatype")))
    if datatype != tensor.dtype:
        raise DecodeError(
            f"{where}: datatype {quoted(entry.get('datatype'))}, needed is {V2_NAMES[tensor.dtype]}"
        )
    shape = _shape(where, entry.get("shape"))
    if not isinstance(entry.get("data"), list):
        raise DecodeError(f"{where}: no list of data")
    values = _flat(entry["data"])
    if len(values) != math.prod(shape):
        raise DecodeError(
            f"{where}: {len(values):,} values of data, {math.prod(shape):,} for {list(shape)}"
        )
    return _array(where, values, datatype).reshape(shape)


def _shape(where: str, given: object) -> tuple[int, ...]:
    if isinstance(given, list) and all(
        type(size) is float and size.is_integer() and 0 <= size <= MAX_SIDE for size in given
    ):
        return tuple(int(size) for size in given)
    raise DecodeError(f"{where}: shape {quoted(given)}; give a list of sizes")


def _flat(data: list[object]) -> list[object]:
    """All values in order. Not recursive: how deep lists are nested is the sender's choice."""
    values: list[object] = []
    unfinished = [iter(data)]
    while unfinished:
        for value in unfinished[-1]:
            if isinstance(value, list):
                unfinished.append(iter(value))
                break
            values.append(value)
        else:
            unfinished.pop()
    return values


def _array(where: str, values: Sequence[object], datatype: Datatype) -> Array:
    if datatype in RANGES:
        low, high = RANGES[datatype]
        read: Callable[[object], object] = partial(_whole, low=low, high=high)
    else:
        read = {"bool": _bool, "float32": _float32, "string": _string}[datatype]
    array = np.empty(len(values), object if datatype == "string" else datatype)
    for position, value in enumerate(values):
        try:
            array[position] = read(value)
        except ValueError:
            raise DecodeError(
                f"{where}: value {position:,} is {quoted(value)}, no {V2_NAMES[datatype]}"
                f"{_limits(datatype)}"
            ) from None
    return array


def _limits(datatype: Datatype) -> str:
    if datatype not in RANGES:
        return ""
    low, high = RANGES[datatype]
    note = "; .npy carries larger ones" if datatype == "int64" else ""
    return f" of {low:,} to {high:,}{note}"


def _bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    return bool(_whole(value, low=0, high=1))


def _whole(value: object, *, low: int, high: int) -> int:
    if not isinstance(value, float) or not value.is_integer() or not low <= value <= high:
        raise ValueError
    return int(value)


def _float32(value: object) -> float:
    if not isinstance(value, float):
        raise ValueError
    with np.errstate(over="ignore"):
        if not np.isfinite(np.float32(value)):
            raise ValueError
    return value + 0.0


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    value.encode()  # a lone surrogate raises UnicodeEncodeError, a ValueError
    return value


def _check_sizes(found: Tensors, inputs: Sequence[Tensor]) -> None:
    """Shapes as the contract has them; sizes of one name are equal, batch is 1."""
    named: dict[str, int] = {"batch": 1}
    for tensor in inputs:
        if tensor.shape is None:
            continue
        got = found[tensor.name].shape
        fits = len(tensor.shape) == len(got) and all(map(partial(_fits, named), tensor.shape, got))
        if not fits:
            known = [f"{name} is {named[name]}" for name in tensor.shape if name in named]
            raise DecodeError(
                f"input {tensor.name}: shape {[*got]}, needed is {tensor.shape}"
                + "".join(f"; {size}" for size in known)
            )


def _fits(named: dict[str, int], wanted: int | str | None, got: int) -> bool:
    if wanted is None:
        return True
    return got == (named.setdefault(wanted, got) if isinstance(wanted, str) else wanted)


def _names(inputs: Sequence[Tensor]) -> str:
    return ", ".join(f"{t.name} {V2_NAMES[t.dtype]} {t.shape}" for t in inputs)
