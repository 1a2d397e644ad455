"""One row of named columns, from JSON or CSV: what each cell becomes, and what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from export.contract import Column, TableInput
from export.decode import decoder
from export.decode.table import rows
from export.errors import DecodeError
from export.tensors import Tensors
from export.workspace import ROOT


def column(name: str, type_: str = "number", **more: object) -> Column:
    spec = {"name": name, "title": name, "type": type_, "missing": "refuse"}
    return Column.model_validate(spec | more)


AREA = column("area")
ROOMS = column("rooms", "integer")
GARDEN = column("garden", "boolean")
KIND = column("kind", "category", categories=["flat", "house", "house boat", " odd "])
ALL = [AREA, ROOMS, GARDEN, KIND]


def table(*columns: Column, matrix: str | None = "features") -> TableInput:
    return TableInput(kind="table", columns=list(columns), matrix=matrix)


def decoded(data: bytes | str, spec: TableInput) -> Tensors:
    return decoder(spec, [], ROOT)(data.encode() if isinstance(data, str) else data)


def cell(value: object, of: Column) -> float:
    """The one value of a matrix."""
    (got,) = decoded(json.dumps({of.name: value}), table(of))["features"].ravel().tolist()
    return float(got)


RIGHT_ROWS = {
    "json": '{"area": 81.5, "rooms": 3, "garden": true, "kind": "house"}',
    "json of texts": '{"kind":"house","garden":"1","rooms":"3","area":" 8.15e1 "}',
    "json behind a mark": '\ufeff \n{"area": 81.5, "rooms": 3.0, "garden": 1, "kind": "house"}\n',
    "a key twice": '{"area": 1, "area": 81.5, "rooms": 3, "garden": true, "kind": "house"}',
    "csv": "area,rooms,garden,kind\n81.5,3,true,house\n",
    "csv in another order": "kind,garden,rooms,area\nhouse,TRUE,3,81.5",
    "csv of windows": "\ufeffarea,rooms,garden,kind\r\n81.5,3,1,house\r\n",
    "csv of old macs": "area,rooms,garden,kind\r81.5,3,1,house\r",
    "csv in quotes": '"area","rooms","garden","kind"\n"81.5","3","True","house"\n',
    "csv with empty lines": "\n\narea,rooms,garden,kind\n\n81.5,3,1,house\n\n",
    "csv with blanks": "area,rooms,garden,kind\n 81.5 ,\t3, true ,house",
}


@pytest.mark.parametrize("name", RIGHT_ROWS)
def test_a_row_becomes_one_matrix(name: str) -> None:
    got = decoded(RIGHT_ROWS[name], table(*ALL))
    assert list(got) == ["features"]
    assert got["features"].dtype == np.float32
    assert got["features"].tolist() == [[81.5, 3, 1, 1]]


@pytest.mark.parametrize("name", RIGHT_ROWS)
def test_without_a_matrix_each_column_is_a_tensor(name: str) -> None:
    got = decoded(RIGHT_ROWS[name], table(*ALL, matrix=None))
    assert [(key, values.dtype.name, values.tolist()) for key, values in got.items()] == [
        ("area", "float32", [[81.5]]),
        ("rooms", "int64", [[3]]),
        ("garden", "int64", [[1]]),
        ("kind", "object", [["house"]]),
    ]


WRONG_ROWS: dict[str, tuple[bytes | str, str]] = {
    "nothing": ("", "the table is empty"),
    "header alone": ("area,rooms,garden,kind\n", "0 rows behind the header line"),
    "two rows": ("area,rooms,garden,kind\n1,2,1,flat\n1,2,1,flat", "2 rows behind"),
    "a cell too few": ("area,rooms,garden,kind\n1,2,1", "line 2: 3 cells, the header has 4"),
    "a cell too many": ("area,rooms,garden,kind\n1,2,1,flat,", "line 2: 5 cells"),
    "a column twice": ("area,area\n1,2", 'the header names "area" twice'),
    "semicolons": ("area;rooms\n1;2", 'no column "area;rooms"'),
    "an open quote": ('area,rooms,garden,kind\n1,2,1,"flat', "not CSV: .* in line 2"),
    "text behind a quote": ('area,rooms,garden,kind\n"1"2,2,1,flat', "not CSV: .* in line 2"),
    "an unknown column": ('{"aera": 1}', r'no column "aera" \(nearest: "area"\); columns: area,'),
    "a name with a blank": ('{"area ": 1}', r'no column "area "'),
    "a missing column": ('{"area": 1, "rooms": 1, "kind": "flat"}', "column garden: missing"),
    "a list": ("[1, 2, 3, 4]", "0 rows behind the header"),
    "json cut short": ('{"area": 1', "not JSON: .* at line 1, column"),
    "json with NaN": ('{"area": NaN}', "NaN is no JSON number"),
    "json with Infinity": ('{"area": -Infinity}', "-Infinity is no JSON number"),
    "json nested deeply": ('{"area": ' + "[" * 100_000, "not JSON"),
    "json of two objects": ("{} {}", "not JSON"),
    "json with a comma at the end": ('{"area": 1,}', "not JSON"),
    "no UTF-8": (b"area\n\xff", "not UTF-8: byte 5 is 0xff"),
    "several wrong at once": (
        '{"area": "x", "rooms": 1.5, "garden": true, "kind": "hose"}',
        'column area: "x" is no number.*column rooms: 1.5 is no integer.*column kind: "hose"',
    ),
}


@pytest.mark.parametrize("name", WRONG_ROWS)
def test_what_is_no_row_of_these_columns_is_refused(name: str) -> None:
    data, message = WRONG_ROWS[name]
    with pytest.raises(DecodeError, match=message) as caught:
        decoded(data, table(*ALL))
    assert caught.value.code == "bad-input"


NUMBERS = {
    "1": 1, "-1": -1, "+1": 1, "007": 7, "1.": 1, ".5": 0.5, "-.5e-1": -0.05, "1E3": 1000,
    "0.1": 0.1, "16777217": 16_777_216, "3.4028235677973362e38": 3.4028234663852886e38, "1e-50": 0,
    "1e-45": 1.401298464324817e-45, "-0": 0, " \t\n\v\f\r2 ": 2,
}  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_read_as_float64_then_rounded_to_float32(text: str) -> None:
    got = decoded(json.dumps({"area": text}), table(AREA))["features"]
    assert got.tobytes() == np.float32(NUMBERS[text]).tobytes()


NO_NUMBERS: list[object] = [
    "1,5", "1 000", "1_000", "0x10", "1e", "e5", ".", "+", "--1", "1.2.3", "1e1.5", "nan", "NaN",
    "inf", "Infinity", "-inf", "\u0661", "\uff11", "1\u00a0", "\u20091", "1\x1c", "12 %", "true",
    True, False, [1], {"a": 1},
]  # fmt: skip


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize("of", [AREA, ROOMS])
def test_what_is_no_number_is_refused(value: object, of: Column) -> None:
    with pytest.raises(DecodeError, match=f"column {of.name}: .* is no number"):
        cell(value, of)


@pytest.mark.parametrize(
    "value", [1e39, -1e39, "1e39", "1e400", "3.4028235677973366e38", "9" * 400]
)
def test_a_number_beyond_float32_is_refused(value: object) -> None:
    with pytest.raises(DecodeError, match=r"beyond float32, limit 3\.4e38"):
        cell(value, AREA)
    with pytest.raises(DecodeError, match="beyond float32"):
        decoded(b'{"area": ' + b"9" * 5000 + b"}", table(AREA))


@pytest.mark.parametrize(
    ("value", "right"),
    [(3, 3), (3.0, 3), ("3.0", 3), ("1e3", 1000), ("-0", 0), (2**53 - 1, 2**53 - 1),
     ("-9007199254740991", -(2**53) + 1)],
)  # fmt: skip
def test_whole_numbers_are_integers_however_they_are_written(value: object, right: int) -> None:
    got = decoded(json.dumps({"rooms": value}), table(ROOMS, matrix=None))["rooms"]
    assert got.dtype == np.int64
    assert got.tolist() == [[right]]


@pytest.mark.parametrize(
    ("value", "message"),
    [(1.5, "1.5 is no integer"), ("0.1", "0.1 is no integer"),
     (2**53, "9007199254740992 is too large an integer, limit 9,007,199,254,740,991"),
     ("-1e30", "too large an integer"), ("9007199254740993", "too large an integer")],
)  # fmt: skip
def test_other_numbers_are_no_integers(value: object, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        cell(value, ROOMS)


@pytest.mark.parametrize(
    ("value", "right"),
    [(True, 1), (False, 0), (1, 1), (0, 0), (1.0, 1), ("true", 1), ("FALSE", 0), (" True\n", 1),
     ("1", 1), ("0", 0)],
)  # fmt: skip
def test_booleans_are_true_false_1_or_0(value: object, right: int) -> None:
    assert cell(value, GARDEN) == right


@pytest.mark.parametrize("value", [2, -1, 0.5, "yes", "t", "1.0", "01", "tr\u016be", [True]])
def test_nothing_else_is_a_boolean(value: object) -> None:
    with pytest.raises(DecodeError, match="is no boolean; give true or false, 1 or 0"):
        cell(value, GARDEN)


def test_a_category_is_its_place_in_the_list() -> None:
    assert [cell(text, KIND) for text in KIND.categories] == [0, 1, 2, 3]


@pytest.mark.parametrize("value", ["Flat", "flat ", "odd", 0, True, ["flat"]])
def test_a_category_is_matched_to_the_letter(value: object) -> None:
    with pytest.raises(DecodeError, match=r"column kind: .* is no category"):
        cell(value, KIND)


def test_the_nearest_categories_are_named() -> None:
    with pytest.raises(DecodeError, match=r'"hous" is no category \(nearest: "house"'):
        cell("hous", KIND)


def test_of_many_categories_only_some_are_listed() -> None:
    many = column("kind", "category", categories=[f"k{i}" for i in range(500)])
    with pytest.raises(DecodeError, match=r"k19 and 480 more$"):
        cell("x" * 10_000, many)


def test_a_cell_in_quotes_may_hold_commas_quotes_and_line_ends() -> None:
    odd = 'a "b", c\r\nd'
    of = column("kind", "category", categories=[odd, 'in"side'])
    spec = table(of, matrix=None)
    assert decoded('kind\r\n"a ""b"", c\r\nd"\r\n', spec)["kind"].tolist() == [[odd]]
    assert decoded('kind\nin"side\n', spec)["kind"].tolist() == [['in"side']]


@pytest.mark.parametrize("data", ["{}", '{"x": null}', '{"x": ""}', 'x\n""\n'])
@pytest.mark.parametrize("type_", ["number", "integer", "boolean", "category"])
def test_a_missing_cell_is_refused_or_not_a_number_as_the_column_says(
    data: str, type_: str
) -> None:
    categories = ["a"] if type_ == "category" else []
    with pytest.raises(DecodeError, match="column x: missing; it needs a value"):
        decoded(data, table(column("x", type_, categories=categories)))
    spec = table(column("x", type_, categories=categories, missing="nan"))
    assert decoded(data, spec)["features"].tobytes() == bytes.fromhex("0000c07f")


def test_a_missing_cell_without_matrix() -> None:
    category = column("x", "category", categories=["a"], missing="nan")
    assert decoded("{}", table(category, matrix=None))["x"].tolist() == [[""]]
    number = decoded("{}", table(column("x", missing="nan"), matrix=None))["x"]
    assert number.tobytes() == bytes.fromhex("0000c07f")
    for type_ in ("integer", "boolean"):
        with pytest.raises(DecodeError, match=f"{type_}s have no NaN"):
            decoded("{}", table(column("x", type_, missing="nan"), matrix=None))


def test_white_space_alone_is_missing_but_for_categories() -> None:
    assert math.isnan(cell(" \t", column("x", missing="nan")))
    blank = column("x", "category", categories=["a"], missing="nan")
    with pytest.raises(DecodeError, match='" " is no category'):
        cell(" ", blank)
    with pytest.raises(DecodeError, match="is no number"):
        cell("\u00a0", column("x", missing="nan"))


def test_the_empty_text_counts_as_a_category_where_it_is_one() -> None:
    of = column("x", "category", categories=["a", ""], missing="nan")
    assert cell("", of) == 1
    assert math.isnan(cell(None, of))


def test_many_rows_are_read_by_name() -> None:
    data = b'area,kind\n1,flat\n\n2,"house, boat"\n'
    assert rows(data) == [{"area": "1", "kind": "flat"}, {"area": "2", "kind": "house, boat"}]
    with pytest.raises(DecodeError, match="line 3: 1 cells, the header has 2"):
        rows(b"area,kind\n1,flat\n2\n")
