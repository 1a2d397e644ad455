"""One row of named, typed columns, from JSON or CSV. The rules are in docs/decoders.md."""

from __future__ import annotations

import csv
import difflib
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from export.contract import Column, TableInput, Tensor
from export.decode.reading import WHITE_SPACE, is_json, quoted, read_json_object, read_utf8
from export.errors import DecodeError
from export.tensors import Array, Tensors

NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
MAX_WHOLE = 2**53 - 1  # beyond it float64, and with it JavaScript, skips integers
BOOLEANS = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}


def make(spec: TableInput, _inputs: Sequence[Tensor], _folder: Path) -> Callable[[bytes], Tensors]:
    """The decoder of one row."""
    return lambda data: decode(data, spec)


def decode(data: bytes, spec: TableInput) -> Tensors:
    """The row as a matrix float32 [1, columns], or one tensor [1, 1] a column in their order.

    Raises DecodeError naming each column that is wrong, its value and what it may be.
    """
    cells = read_row(data)
    _refuse_unknown(list(cells), spec)
    values: dict[str, float | str] = {}
    wrong: list[str] = []
    for column in spec.columns:
        try:
            values[column.name] = cell(cells.get(column.name), column, in_matrix=bool(spec.matrix))
        except DecodeError as error:
            wrong.append(f"column {column.name}: {error}")
    if wrong:
        raise DecodeError("; ".join(wrong))
    if spec.matrix:
        return {spec.matrix: np.array([list(values.values())], np.float64).astype(np.float32)}
    return {c.name: _tensor(c, values[c.name]) for c in spec.columns}


def read_row(data: bytes) -> Mapping[str, object]:
    """The cells of a JSON object or of a CSV file with one row, as they are, by column."""
    text = read_utf8(data)
    if is_json(text):
        return read_json_object(text)
    found = _csv_rows(text)
    if len(found) != 1:
        raise DecodeError(f"{len(found):,} rows behind the header line; give exactly one")
    return found[0]


def rows(data: bytes) -> list[dict[str, str]]:
    """All rows of a CSV file with a header line, for data of many samples."""
    return _csv_rows(read_utf8(data))


def cell(value: object, column: Column, *, in_matrix: bool) -> float | str:
    """One cell's value: a number whose float32 is finite or NaN, or a category's text.

    Raises DecodeError (the caller names the column).
    """
    if _is_missing(value, column):
        return _missing(column, in_matrix=in_matrix)
    match column.type:
        case "category":
            return _category(value, column, in_matrix=in_matrix)
        case "boolean":
            return _boolean(value)
        case "integer":
            return _integer(_number(value))
        case "number":
            return _number(value)


def _csv_rows(text: str) -> list[dict[str, str]]:
    # newline="" leaves the line ends to csv, which tells those within quotes from others.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        lines = [(reader.line_num, line) for line in reader if line]
    except csv.Error as error:
        raise DecodeError(f"not CSV: {error}, in line {reader.line_num}") from error
    if not lines:
        raise DecodeError("the table is empty; give a header line with the columns, then one row")
    header = lines[0][1]
    double = [name for name, count in Counter(header).items() if count > 1]
    if double:
        raise DecodeError(f"the header names {', '.join(map(quoted, double))} twice")
    for number, line in lines[1:]:
        if len(line) != len(header):
            raise DecodeError(
                f"line {number}: {len(line)} cells, the header has {len(header)}; "
                "cells are separated by commas"
            )
    return [dict(zip(header, line, strict=True)) for _, line in lines[1:]]


def _refuse_unknown(names: Sequence[str], spec: TableInput) -> None:
    known = [column.name for column in spec.columns]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise DecodeError(
            f"no column {', '.join(quoted(n) + _nearest(n, known) for n in unknown[:5])}; "
            f"columns: {_some(known)}"
        )


def _nearest(text: str, known: Sequence[str]) -> str:
    # Long texts are no misspelt names, and slow to compare.
    near = difflib.get_close_matches(text[:100], known, n=3) if len(text) <= 100 else []
    return f" (nearest: {', '.join(map(quoted, near))})" if near else ""


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:20])
    return shown if len(names) <= 20 else f"{shown} and {len(names) - 20} more"


def _is_missing(value: object, column: Column) -> bool:
    if value is None:
        return True
    if not isinstance(value, str):
        return False
    if column.type == "category":
        return value == "" and "" not in column.categories
    return not value.strip(WHITE_SPACE)


def _missing(column: Column, *, in_matrix: bool) -> float | str:
    if column.missing == "refuse":
        raise DecodeError("missing; it needs a value")
    if column.type == "category" and not in_matrix:
        return ""
    if column.type in ("integer", "boolean") and not in_matrix:
        raise DecodeError(f"missing; it needs a value, since {column.type}s have no NaN")
    return math.nan


def _number(value: object) -> float:
    number = _float64(value)
    with np.errstate(over="ignore"):
        if not np.isfinite(np.float32(number)):
            raise DecodeError(f"{quoted(value)} is beyond float32, limit 3.4e38")
    return number + 0.0  # minus zero becomes zero


def _float64(value: object) -> float:
    if isinstance(value, float):
        return value
    if isinstance(value, str) and NUMBER.fullmatch(value.strip(WHITE_SPACE)):
        return float(value.strip(WHITE_SPACE))
    raise DecodeError(f"{quoted(value)} is no number; write it as 1234.5 or 1.2e-3")


def _integer(number: float) -> float:
    if not number.is_integer():
        raise DecodeError(f"{number} is no integer")
    if abs(number) > MAX_WHOLE:
        raise DecodeError(f"{number:.0f} is too large an integer, limit {MAX_WHOLE:,}")
    return number


def _boolean(value: object) -> float:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, float) and value in (0.0, 1.0):
        return value + 0.0
    if isinstance(value, str):
        # Not str.lower, which makes ASCII of some letters that are none (the Kelvin sign).
        text = value.strip(WHITE_SPACE)
        if text.isascii() and text.lower() in BOOLEANS:
            return BOOLEANS[text.lower()]
    raise DecodeError(f"{quoted(value)} is no boolean; give true or false, 1 or 0")


def _category(value: object, column: Column, *, in_matrix: bool) -> float | str:
    if isinstance(value, str) and value in column.categories:
        return float(column.categories.index(value)) if in_matrix else value
    near = _nearest(value, column.categories) if isinstance(value, str) else ""
    raise DecodeError(
        f"{quoted(value)} is no category{near}; categories: {_some(column.categories)}"
    )


def _tensor(column: Column, value: float | str) -> Array:
    if isinstance(value, str):
        text = np.empty((1, 1), object)
        text[0, 0] = value
        return text
    if column.type == "number":
        return np.array([[value]], np.float64).astype(np.float32)
    return np.array([[int(value)]], np.int64)
