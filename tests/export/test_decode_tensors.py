"""Tensors as they are, from .npy and v2 JSON, checked against the contract's inputs."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable

import numpy as np
import pytest

from export.contract import Datatype, Tensor, TensorInput
from export.decode import decoder
from export.errors import DecodeError
from export.tensors import Array, Tensors
from export.workspace import ROOT

Shape = list[int | str | None]


def tensor(dtype: Datatype = "float32", shape: Shape | None = None, name: str = "x") -> Tensor:
    return Tensor(name=name, dtype=dtype, shape=shape)


def decoded(data: bytes, *inputs: Tensor) -> Tensors:
    return decoder(TensorInput(kind="tensor"), inputs, ROOT)(data)


def npy(array: Array, version: tuple[int, int] | None = None) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=version, allow_pickle=True)
    return buffer.getvalue()


def raw_npy(header: str, values: bytes = bytes(8)) -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode("latin-1") + values


def v2(*entries: object) -> bytes:
    return json.dumps({"inputs": entries}).encode()


def entry(datatype: str, shape: object, data: object, name: object = "x") -> dict[str, object]:
    return {"name": name, "datatype": datatype, "shape": shape, "data": data}


F2 = np.array([[0.1, np.nan]], np.float32)
ARRAYS: dict[str, tuple[Array, Datatype]] = {
    "bool": (np.array([[True, False]]), "bool"),
    "uint8": (np.array([0, 255], np.uint8), "uint8"),
    "int32": (np.array([[-(2**31)], [2**31 - 1]], np.int32), "int32"),
    "int64": (np.array([-(2**63), 2**63 - 1], np.int64), "int64"),
    "float32": (np.array([-0.0, np.inf, np.nan, 1e-45], np.float32), "float32"),
    "a scalar": (np.array(3, np.int64), "int64"),
    "no value": (np.zeros((1, 0, 3), np.float32), "float32"),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_is_kept_bit_for_bit(name: str, version: tuple[int, int]) -> None:
    array, dtype = ARRAYS[name]
    # numpy warns that old numpys cannot read version 2 and 3.
    data = npy(array) if version == (1, 0) else _as_version(npy(array), version)
    got = decoded(data, tensor(dtype))["x"]
    assert got.dtype == array.dtype
    assert got.shape == array.shape
    assert got.tobytes() == array.tobytes()


def _as_version(data: bytes, version: tuple[int, int]) -> bytes:
    size = int.from_bytes(data[8:10], "little")
    return data[:6] + bytes(version) + struct.pack("<I", size) + data[10:]


HEAD = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }"
WRONG_NPY: dict[str, tuple[bytes, str]] = {
    "float64": (npy(np.zeros((1, 2))), 'an .npy file of "<f8"; supported are'),
    "big-endian": (npy(np.zeros((1, 2), ">f4")), '">f4"'),
    "complex": (npy(np.zeros(2, np.complex64)), '"<c8"'),
    "text": (npy(np.array(["a"])), '"<U1"'),
    "a pickle": (npy(np.array([{"a": 1}], object)), '"|O"'),
    "fields": (npy(np.zeros(1, [("a", "<f4")])), "names no descr"),
    "fortran order": (npy(np.asfortranarray(np.zeros((2, 2), np.float32))), "Fortran order"),
    "another type": (npy(np.zeros((1, 2), np.int32)), "of int32, input x is float32"),
    "another shape": (npy(np.zeros((1, 3), np.float32)), r"shape \[1, 3\], needed is \[1, 2\]"),
    "another rank": (npy(np.zeros(2, np.float32)), r"shape \[2\]"),
    "cut short": (npy(F2)[:-1], "has 7 bytes of values, 8 for float32"),
    "too long": (npy(F2) + b"\0", "has 9 bytes of values"),
    "version 9": (_as_version(npy(F2), (9, 0)), r"version \(9, 0\)"),
    "magic alone": (b"\x93NUMPY", r"version \(\)"),
    "header cut short": (raw_npy(HEAD)[:30], "header says 59 bytes, 20 are there"),
    "a huge header": (b"\x93NUMPY\2\0\xff\xff\xff\xff" + bytes(9), "says 4,294,967,295 bytes"),
    "no literal": (raw_npy("__import__('os').getcwd()"), "cannot be read"),
    "deep nesting": (raw_npy("(" * 5000), "cannot be read"),
    "a list": (raw_npy("[1]"), "names no descr"),
    "a negative size": (raw_npy(HEAD.replace("1, 2", "-1, -2")), "of the shape"),
    "a size that is no number": (raw_npy(HEAD.replace("1, 2", "True, 2")), "of the shape"),
    "a huge size": (raw_npy(HEAD.replace("1, 2", "2147483647, 2147483647")), "8 bytes of values"),
}


@pytest.mark.parametrize("name", WRONG_NPY)
def test_any_other_npy_is_refused(name: str) -> None:
    data, message = WRONG_NPY[name]
    with pytest.raises(DecodeError, match=message):
        decoded(data, tensor(shape=[1, 2]))


def test_a_bool_of_another_value_is_refused() -> None:
    data = npy(np.array([True]))
    with pytest.raises(DecodeError, match="neither 0 nor 1"):
        decoded(data[:-1] + b"\2", tensor("bool"))


RIGHT_JSON: dict[str, tuple[dict[str, object], Datatype, Array]] = {
    "FP32": (entry("FP32", [1, 3], [0.1, -1, 1e-50]), "float32", np.array([[0.1, -1, 0]], "<f4")),
    "minus zero": (entry("FP32", [1], [-0.0]), "float32", np.array([0], "<f4")),
    "the largest": (entry("FP32", [1], [3.4028235677973362e38]), "float32",
                    np.array([3.4028234663852886e38], "<f4")),
    "nested": (entry("INT32", [2, 2], [[1, 2], [3, 4.0]]), "int32",
               np.array([[1, 2], [3, 4]], "<i4")),
    "a scalar": (entry("UINT8", [], [255]), "uint8", np.array(255, "u1")),
    "INT64": (entry("INT64", [2], [2**53 - 1, -(2**53) + 1]), "int64",
              np.array([2**53 - 1, -(2**53) + 1])),
    "BOOL": (entry("BOOL", [4], [True, False, 1, 0.0]), "bool",
             np.array([True, False, True, False])),
    "BYTES": (entry("BYTES", [1, 2], ["", "a\u00e9\U0001f600"]), "string",
              np.array([["", "a\u00e9\U0001f600"]], object)),
    "no value": (entry("FP32", [0, 3], []), "float32", np.zeros((0, 3), "<f4")),
    "other keys": (entry("FP32", [1], [1]) | {"parameters": {"a": 1}}, "float32",
                   np.array([1], "<f4")),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT_JSON)
def test_v2_json_becomes_the_tensor(name: str) -> None:
    given, dtype, expected = RIGHT_JSON[name]
    got = decoded(b"\xef\xbb\xbf\n" + v2(given), tensor(dtype))["x"]
    assert (got.dtype, got.shape, got.tolist()) == (
        expected.dtype, expected.shape, expected.tolist(),
    )  # fmt: skip
    assert dtype != "float32" or got.tobytes() == expected.tobytes()


def value(datatype: str, given: object) -> Callable[[], bytes]:
    return lambda: v2(entry(datatype, [1], [given]))


WRONG_JSON: dict[str, tuple[Datatype, Callable[[], bytes], str]] = {
    "nothing": ("float32", lambda: b"", "neither .npy nor a JSON object .it begins with nothing"),
    "a picture": ("float32", lambda: b"\x89PNG\r\n", "not UTF-8"),
    "a list": ("float32", lambda: b"[]", "neither .npy nor a JSON object"),
    "no inputs": ("float32", lambda: b'{"a": 1}', 'without a list "inputs"; needed: x FP32'),
    "inputs no list": ("float32", lambda: b'{"inputs": {}}', 'without a list "inputs"'),
    "NaN": ("float32", lambda: b'{"inputs": [NaN]}', "NaN is no JSON number"),
    "a missing input": ("float32", lambda: v2(), "inputs: x missing"),
    "an unknown input": ("float32", lambda: v2(entry("FP32", [1], [1], "y")), 'no input "y"'),
    "an entry that is none": ("float32", lambda: v2(7), r"inputs\[0\]: no input null"),
    "an input twice": ("float32", lambda: v2(*[entry("FP32", [1], [1])] * 2), "x comes twice"),
    "another datatype": ("int64", value("FP32", 1), 'datatype "FP32", needed is INT64'),
    "an unknown datatype": ("float32", value("FP64", 1), 'datatype "FP64", needed is FP32'),
    "no shape": ("float32", lambda: v2(entry("FP32", None, [1])), "shape null; give a list"),
    "a shape of -1": ("float32", lambda: v2(entry("FP32", [-1], [1])), r"shape \[-1.0\]"),
    "a shape of halves": ("float32", lambda: v2(entry("FP32", [1.5], [1])), "give a list of"),
    "no data": ("float32", lambda: v2(entry("FP32", [1], 1)), "no list of data"),
    "too few": ("float32", lambda: v2(entry("FP32", [3], [1, 2])), "2 values of data, 3 for"),
    "too many": ("float32", lambda: v2(entry("FP32", [1], [1, 2])), "2 values of data, 1 for"),
    "a text as a number": ("float32", value("FP32", "1"), 'value 0 is "1", no FP32'),
    "null as a number": ("float32", value("FP32", None), "value 0 is null, no FP32"),
    "a bool as a number": ("float32", value("FP32", True), "value 0 is true, no FP32"),
    "an object as a number": ("float32", value("FP32", {"a": 1}), "no FP32"),
    "beyond float32": ("float32", value("FP32", 1e39), r"value 0 is 1e\+39, no FP32"),
    "beyond float64": ("float32", lambda: v2(entry("FP32", [1], [1])).replace(b"[1]}", b"[1e999]}"),
                       "no FP32"),
    "a half as an integer": ("int32", value("INT32", 1.5), "1.5, no INT32 of -2,147,483,648 to"),
    "a bool as an integer": ("int32", value("INT32", True), "true, no INT32"),
    "beyond uint8": ("uint8", value("UINT8", 256), "no UINT8 of 0 to 255"),
    "below uint8": ("uint8", value("UINT8", -1), "no UINT8"),
    "beyond int32": ("int32", value("INT32", 2**31), "no INT32"),
    "beyond what JSON holds": ("int64", value("INT64", 2**53), ".npy carries larger ones"),
    "beyond, unrounded": ("int64", value("INT64", 2**53 + 1), "no INT64"),
    "2 as a bool": ("bool", value("BOOL", 2), "no BOOL"),
    "a text as a bool": ("bool", value("BOOL", "true"), "no BOOL"),
    "a number as a string": ("string", value("BYTES", 1), "no BYTES"),
    "half a surrogate pair": ("string", value("BYTES", "\ud83d"), "no BYTES"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_JSON)
def test_any_other_json_is_refused(name: str) -> None:
    dtype, data, message = WRONG_JSON[name]
    with pytest.raises(DecodeError, match=message) as caught:
        decoded(data(), tensor(dtype))
    assert caught.value.code == "bad-input"


def test_deeply_nested_data_is_flattened_or_refused_but_never_fells_the_decoder() -> None:
    deep = b"[" * 500 + b"1" + b"]" * 500
    body = b'{"inputs": [{"name": "x", "datatype": "FP32", "shape": [1], "data": %s}]}'
    assert decoded(body % deep, tensor())["x"].tolist() == [1]
    with pytest.raises(DecodeError, match="nested too deeply"):
        decoded(body % (b"[" * 100_000 + b"]" * 100_000), tensor())


def test_several_inputs_come_in_the_contracts_order() -> None:
    data = v2(entry("INT64", [1, 2], [1, 2], "b"), entry("FP32", [1, 2], [3, 4], "a"))
    got = decoded(
        data, tensor(shape=["batch", "n"], name="a"), tensor("int64", ["batch", "n"], "b")
    )
    assert list(got) == ["a", "b"]
    assert got["b"].tolist() == [[1, 2]]


def test_sizes_of_one_name_are_equal_and_batch_is_1() -> None:
    a, b = tensor(shape=["batch", "n"], name="a"), tensor(shape=["batch", "n", None], name="b")
    right = v2(entry("FP32", [1, 2], [1, 2], "a"), entry("FP32", [1, 2, 1], [1, 2], "b"))
    assert decoded(right, a, b)["b"].shape == (1, 2, 1)
    unequal = v2(entry("FP32", [1, 2], [1, 2], "a"), entry("FP32", [1, 1, 2], [1, 2], "b"))
    with pytest.raises(DecodeError, match=r"input b: shape \[1, 1, 2\].*; batch is 1; n is 2"):
        decoded(unequal, a, b)
    with pytest.raises(DecodeError, match=r"input a: shape \[2, 1\], needed is .*; batch is 1"):
        decoded(v2(entry("FP32", [2, 1], [1, 2], "a")), a)


def test_npy_is_for_one_input_that_is_no_text() -> None:
    with pytest.raises(DecodeError, match=r"needed are 2 .*give JSON"):
        decoded(npy(F2), tensor(name="a"), tensor(name="b"))
    with pytest.raises(DecodeError, match="input x is string, which only JSON carries"):
        decoded(npy(F2), tensor("string"))


def test_an_unknown_rank_takes_any() -> None:
    assert decoded(npy(np.zeros((1, 2, 3), np.float32)), tensor())["x"].shape == (1, 2, 3)
    with pytest.raises(DecodeError, match=r"shape \[1\], needed is \[\]"):
        decoded(npy(np.zeros(1, np.float32)), tensor(shape=[]))
