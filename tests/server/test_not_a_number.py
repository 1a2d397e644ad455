"""Case json-nan-inf: an answer that is not a number is never sent as broken JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export.contract import Tensor
from server.process import running_server
from server.protocol import HEADER_LENGTH
from tests.server.asking import infer
from tests.server.publishing import publish

CASE = Path(__file__).parents[1] / "cases/json-nan-inf"


@pytest.fixture(scope="module")
def expected() -> dict[str, np.ndarray[Any, Any]]:
    with np.load(CASE / "expected.npz") as arrays:
        return {name: arrays[name] for name in arrays}


@pytest.fixture(scope="module")
def case_url(tmp_path_factory: pytest.TempPathFactory, web: Path) -> Iterator[str]:
    models = tmp_path_factory.mktemp("models")
    given = Tensor(name="x", dtype="float32", shape=["N", 4])
    outputs = [
        Tensor(name="l", dtype="float32", shape=["N", 4]),
        Tensor(name="q", dtype="float32", shape=["N", 4]),
        Tensor(name="k", dtype="int64", shape=["N"]),
    ]
    publish(models, "nan", (CASE / "model.onnx").read_bytes(), given, outputs)
    with running_server(models, web) as server:
        yield server.url


def given(values: np.ndarray[Any, Any]) -> dict[str, object]:
    return {
        "name": "x",
        "datatype": "FP32",
        "shape": list(values.shape),
        "parameters": {"binary_data_size": values.nbytes},
    }


def test_json_is_refused_with_the_way_out(case_url: str, expected: Any) -> None:
    x = expected["x"]
    answer = infer(case_url, {"inputs": [given(x)]}, model="nan", tail=x.tobytes())
    assert answer.status == 422
    assert answer.json["error"] == (
        'output "l": 3 of 8 values are NaN or Infinity, which JSON cannot carry;'
        ' ask for this output with "binary_data": true'
    )


def test_binary_carries_the_very_values(case_url: str, expected: Any) -> None:
    x = expected["x"]
    request = {"inputs": [given(x)], "parameters": {"binary_data_output": True}}
    answer = infer(case_url, request, model="nan", tail=x.tobytes())
    assert answer.status == 200
    length = int(answer.headers[HEADER_LENGTH.lower()])
    sizes = [
        o["parameters"]["binary_data_size"] for o in json.loads(answer.body[:length])["outputs"]
    ]
    assert sizes == [32, 32, 16]
    floats = np.frombuffer(answer.body[length : length + 64], "<f4").reshape(2, 2, 4)
    np.testing.assert_allclose(floats[0], expected["l"], rtol=1e-5)
    np.testing.assert_allclose(floats[1], expected["q"], rtol=1e-5)


def test_finite_rows_come_as_json(case_url: str) -> None:
    x = np.array([[1, 2, 4, 8]], "<f4")
    answer = infer(case_url, {"inputs": [given(x)]}, model="nan", tail=x.tobytes())
    assert answer.json["outputs"][2]["data"] == [3]
    assert answer.json["outputs"][1]["data"] == [1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("value", [1e39, -1e39, 10**400])
def test_a_number_that_is_infinite_as_float32_is_refused(case_url: str, value: float) -> None:
    entry = {"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [value, 1, 1, 1]}
    answer = infer(case_url, {"inputs": [entry]}, model="nan")
    assert (answer.status, "out of range for FP32" in answer.json["error"]) == (400, True)


def test_whole_numbers_are_numbers_for_float32(case_url: str) -> None:
    entry = {"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 2.5, 3, 4]}
    assert infer(case_url, {"inputs": [entry]}, model="nan").status == 200
