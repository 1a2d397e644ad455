"""Tensors as raw bytes: little-endian, strings as the v2 protocol has them, and back."""

from __future__ import annotations

import numpy as np
import pytest

from export.contract import Datatype
from export.errors import ContractError
from export.tensor_bytes import from_bytes, to_bytes
from export.tensors import Array

TEXTS = np.array([["", "a\u00e9"], ["\U0001f600", "\0x"]], object)
TABLE: list[tuple[Datatype, Array, str]] = [
    ("bool", np.array([[True, False]]), "0100"),
    ("uint8", np.array([0, 255], np.uint8), "00ff"),
    ("int32", np.array([1, -2], np.int32), "01000000feffffff"),
    ("int64", np.array([[-(2**63)], [1]], np.int64), "00000000000000800100000000000000"),
    ("float32", np.array([1, -0.0], np.float32), "0000803f00000080"),
    ("float32", np.array(np.nan, np.float32), "0000c07f"),
    ("float32", np.zeros((1, 0), np.float32), ""),
    ("string", TEXTS, "00000000" "0300000061c3a9" "04000000f09f9880" "020000000078"),
    ("string", np.empty((0,), object), ""),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "array", "expected"), TABLE)
def test_values_go_to_bytes_and_back(dtype: Datatype, array: Array, expected: str) -> None:
    data = to_bytes(array)
    assert data.hex() == expected
    back = from_bytes(data, dtype, array.shape)
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert to_bytes(back) == data


def test_the_order_in_memory_does_not_matter() -> None:
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert to_bytes(np.asfortranarray(array)) == to_bytes(array)
    assert to_bytes(array.astype(">i4")) == to_bytes(array)
    assert to_bytes(array[:, ::-1]) == to_bytes(array[:, ::-1].copy())


@pytest.mark.parametrize(
    "array", [np.zeros(1), np.zeros(1, np.float16), np.array(["a"]), np.array([1], object),
              np.array([b"a"], object), np.array(["\ud83d"], object)],
)  # fmt: skip
def test_what_no_contract_has_is_refused(array: Array) -> None:
    with pytest.raises(ValueError, match=r"."):
        to_bytes(array)


WRONG: list[tuple[bytes, Datatype, list[int], str]] = [
    (bytes(7), "float32", [2], r"7 bytes for float32 \[2\], which has 8"),
    (bytes(9), "float32", [2], "9 bytes"),
    (bytes(8), "string", [1], "2 strings, the shape asks for 1"),
    (b"\1\0\0", "string", [1], "cut short"),
    (b"\2\0\0\0a", "string", [1], "cut short: it ends at byte 6 of 5"),
    (b"\xff\xff\xff\xffa", "string", [1], "cut short"),
    (b"\1\0\0\0\xff", "string", [1], "no UTF-8"),
]


@pytest.mark.parametrize(("data", "dtype", "shape", "message"), WRONG)
def test_bytes_of_another_tensor_are_refused(
    data: bytes, dtype: Datatype, shape: list[int], message: str
) -> None:
    with pytest.raises(ContractError, match=message):
        from_bytes(data, dtype, shape)
