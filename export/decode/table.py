"""One row of named, typed columns, from JSON or CSV. The rules are in docs/decoders.md."""

from __future__ import annotations

import csv
import difflib
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from export.contract import Column, TableInput, Tensor
from export.errors import DecodeError
from export.tensors import Array, Tensors

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
WHITE = "\t\n\v\f\r "
BOOLEANS = {"true": 1, "false": 0, "1": 1, "0": 0}
LARGEST = 2**53 - 1  # the largest whole number that JSON readers keep
MAX_BYTES = 1_000_000


def make(spec: TableInput, inputs: Sequence[Tensor], folder: Path) -> Callable[[bytes], Tensors]:  # noqa: ARG001
    """The decoder of these columns."""

    def decode(data: bytes) -> Tensors:
        row = read_row(data, [column.name for column in spec.columns])
        if spec.matrix is not None:
            values = [_in_matrix(column, row.get(column.name)) for column in spec.columns]
            return {spec.matrix: np.array([values], np.float32)}
        return {c.name: _alone(c, row.get(c.name)) for c in spec.columns}

    return decode


def read_row(data: bytes, names: Sequence[str]) -> dict[str, Any]:
    """The cells by column; DecodeError unless it is one row of these columns."""
    if len(data) > MAX_BYTES:
        raise DecodeError(f"the row has {len(data):,} bytes, limit {MAX_BYTES:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DecodeError(f"the row is not UTF-8: byte {error.start} is wrong") from error
    row = _json(text) if text.lstrip(WHITE).startswith("{") else _csv(text)
    for name in row:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            known = f"did you mean {close[0]!r}?" if close else f"columns: {', '.join(names)}"
            raise DecodeError(f"there is no column {name!r}; {known}")
    return row


def _json(text: str) -> dict[str, Any]:
    def no_number(value: str) -> Any:
        raise DecodeError(f"{value} is no JSON")

    try:
        row = json.loads(text, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"the row is not valid JSON: {error}") from error
    if not isinstance(row, dict):
        raise DecodeError("the row is no JSON object")
    return row


def _csv(text: str) -> dict[str, Any]:
    try:
        lines = [line for line in csv.reader(io.StringIO(text), strict=True) if line]
    except csv.Error as error:
        raise DecodeError(f"the row is not valid CSV: {error}") from error
    if len(lines) != 2:
        raise DecodeError(f"{len(lines)} lines; a header and one row are expected")
    header, cells = lines
    if len(set(header)) != len(header):
        raise DecodeError(f"the header names {max(header, key=header.count)!r} twice")
    if len(cells) != len(header):
        raise DecodeError(f"{len(cells)} cells for {len(header)} columns")
    return dict(zip(header, cells, strict=True))


def _in_matrix(column: Column, cell: Any) -> float:
    if _missing(column, cell):
        return float("nan")
    if column.type == "category":
        return float(column.categories.index(_category(column, cell)))
    return _number(column, cell)


def _alone(column: Column, cell: Any) -> Array:
    missing = _missing(column, cell)
    if column.type == "category":
        text = np.empty((1, 1), np.object_)
        text[0, 0] = "" if missing else _category(column, cell)
        return text
    if column.type == "number":
        return np.array([[np.nan if missing else _number(column, cell)]], np.float32)
    if missing:
        raise _wrong(column, cell, f"missing, and {column.type}s have no value for that")
    return np.array([[int(_number(column, cell))]], np.int64)


def _missing(column: Column, cell: Any) -> bool:
    if column.type == "category":
        empty = cell is None or (cell == "" and "" not in column.categories)
    else:
        empty = cell is None or (isinstance(cell, str) and not cell.strip(WHITE))
    if empty and column.missing == "refuse":
        raise DecodeError(f"column {column.name!r}: the value is missing")
    return empty


def _category(column: Column, cell: Any) -> str:
    if isinstance(cell, str) and cell in column.categories:
        return cell
    close = difflib.get_close_matches(str(cell), column.categories, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"one of {', '.join(column.categories[:20])}"
    raise _wrong(column, cell, hint)


def _number(column: Column, cell: Any) -> float:
    """Of a number, an integer or a boolean; its float32 is finite, minus zero becomes zero."""
    if column.type == "boolean":
        return float(_boolean(column, cell))
    value = _parsed(column, cell)
    with np.errstate(over="ignore"):
        if not np.isfinite(np.float32(value)):
            raise _wrong(column, cell, "too large for float32")
    if column.type == "integer" and (value != int(value) or abs(value) > LARGEST):
        raise _wrong(column, cell, f"a whole number up to {LARGEST} is expected")
    return value + 0.0


def _parsed(column: Column, cell: Any) -> float:
    if isinstance(cell, str) and NUMBER.fullmatch(cell.strip(WHITE)):
        return float(cell.strip(WHITE))
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        try:
            return float(cell)
        except OverflowError:
            raise _wrong(column, cell, "too large for float32") from None
    raise _wrong(column, cell, "a number is expected, as 12, -0.5 or 1e-3")


def _boolean(column: Column, cell: Any) -> int:
    if isinstance(cell, str):
        cell = BOOLEANS.get(cell.strip(WHITE).lower(), cell)
    if cell in (0, 1):
        return int(cell)
    raise _wrong(column, cell, "true or false is expected")


def _wrong(column: Column, cell: Any, hint: str) -> DecodeError:
    return DecodeError(f"column {column.name!r}: {str(cell)[:60]!r}: {hint}")
