"""The two ends of any file, as Magika takes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from export.contract import BytesInput
from export.decode import decoder


def ends(data: bytes, **change: object) -> list[int]:
    spec = {"kind": "bytes", "tensor": "bytes", "first": 4, "last": 3, "block": 6, "strip": True,
            "padding": 256}  # fmt: skip
    decode = decoder(BytesInput.model_validate(spec | change), [], Path())
    (values,) = decode(data)["bytes"]
    assert values.dtype == np.int32
    return [int(value) for value in values]


A, B, C, D, E, F, G, H = b"abcdefgh"
PAD = 256

TABLE: dict[str, tuple[bytes, list[int]]] = {
    "nothing": (b"", [PAD] * 7),
    "shorter than either part": (b"ab", [A, B, PAD, PAD, PAD, A, B]),
    "both parts overlap": (b"abcdef", [A, B, C, D, D, E, F]),
    "longer than a block": (b"abcdefgh", [A, B, C, D, F, G, H]),
    "white space at the beginning": (b" \t\n\v\f\rab", [PAD] * 4 + [13, A, B]),
    "a part of a block of white space": (b"  \nabcdef", [A, B, C, PAD, D, E, F]),
    "white space at the end": (b"abcdef \r\n", [A, B, C, D, D, E, F]),
    "white space within": (b"a b c d", [A, 32, B, 32, C, 32, D]),
    "white space alone": (b" " * 9, [PAD] * 7),
    "what only others call white space": (b"\x85\xa0\x1c\x00", [133, 160, 28, 0, 160, 28, 0]),
    "the end's own beginning is kept": (b"abc    d", [A, B, C, 32, 32, 32, D]),
}


@pytest.mark.parametrize("name", TABLE)
def test_both_ends_are_taken_stripped_and_padded(name: str) -> None:
    data, expected = TABLE[name]
    assert ends(data) == expected


def test_white_space_stays_where_it_is_not_stripped() -> None:
    assert ends(b" a ", strip=False) == [32, A, 32, PAD, 32, A, 32]


def test_one_end_may_be_left_out() -> None:
    assert ends(b"abcdefgh", last=0) == [A, B, C, D]
    assert ends(b"abcdefgh", first=0) == [F, G, H]


def test_padding_is_as_the_spec_says() -> None:
    assert ends(b"", first=1, last=1, padding=-1) == [-1, -1]
