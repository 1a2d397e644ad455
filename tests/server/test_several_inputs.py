"""Models with several inputs, free lengths, text and truth values, over JSON and binary."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from export.contract import Tensor
from server.process import running_server
from tests.server.asking import Answer, ask
from tests.server.asking import infer as send
from tests.server.publishing import publish

IDS = Tensor(name="ids", dtype="int64", shape=["batch", "tokens"])
MASK = Tensor(name="mask", dtype="bool", shape=["batch", "tokens"])
WORDS = Tensor(name="words", dtype="string", shape=["batch", 1])


@pytest.fixture(scope="module")
def url(web: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    models = tmp_path_factory.mktemp("several")
    publish(models, "sums", sums(), [IDS, MASK], [IDS.model_copy(update={"name": "kept"})])
    publish(models, "echo", echo(), [WORDS], [WORDS.model_copy(update={"name": "said"})])
    with running_server(models, web) as server:
        yield server.url


def sums() -> bytes:
    """Ids where the mask is true, else 0."""
    cast = helper.make_node("Cast", ["mask"], ["ones"], to=TensorProto.INT64)
    return built([cast, helper.make_node("Mul", ["ids", "ones"], ["kept"])],
                 [("ids", TensorProto.INT64, "tokens"), ("mask", TensorProto.BOOL, "tokens")],
                 ("kept", TensorProto.INT64, "tokens"))  # fmt: skip


def echo() -> bytes:
    return built([helper.make_node("Identity", ["words"], ["said"])],
                 [("words", TensorProto.STRING, 1)], ("said", TensorProto.STRING, 1))  # fmt: skip


def built(nodes: list[onnx.NodeProto], inputs: list[Any], output: Any) -> bytes:
    def value(name: str, kind: int, size: int | str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, ["batch", size])

    graph = helper.make_graph(nodes, "g", [value(*i) for i in inputs], [value(*output)])
    opsets = [helper.make_opsetid("", 20)]
    data: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    return data


def infer(url: str, model: str, inputs: list[dict[str, Any]], tail: bytes = b"") -> Answer:
    return send(url, {"inputs": inputs}, model=model, tail=tail)


def ids(*rows: list[int]) -> dict[str, Any]:
    return {"name": "ids", "datatype": "INT64", "shape": [len(rows), len(rows[0])],
            "data": [value for row in rows for value in row]}  # fmt: skip


def mask(*rows: list[bool]) -> dict[str, Any]:
    return {"name": "mask", "datatype": "BOOL", "shape": [len(rows), len(rows[0])],
            "data": [value for row in rows for value in row]}  # fmt: skip


def words(*values: Any) -> dict[str, Any]:
    return {"name": "words", "datatype": "BYTES", "shape": [len(values), 1], "data": list(values)}


def test_metadata_name_every_input_with_its_free_sizes(url: str) -> None:
    inputs = ask(url, "/v2/models/sums").json["inputs"]
    assert inputs == [
        {"name": "ids", "datatype": "INT64", "shape": [-1, -1]},
        {"name": "mask", "datatype": "BOOL", "shape": [-1, -1]},
    ]


def test_two_inputs_of_any_length_give_their_answer(url: str) -> None:
    answer = infer(url, "sums", [ids([7, 8, 9]), mask([True, False, True])])
    assert answer.json["outputs"][0]["data"] == [7, 0, 9]


def test_texts_go_through_json_as_strings(url: str) -> None:
    answer = infer(url, "echo", [words("", "ä, 漢字 and 🙂")])
    assert answer.json["outputs"][0]["data"] == ["", "ä, 漢字 and 🙂"]


def test_texts_go_through_binary_as_lengths_and_utf8(url: str) -> None:
    tail = b"".join(struct.pack("<I", len(t)) + t for t in ("Zoë".encode(), b""))
    given = {"name": "words", "datatype": "BYTES", "shape": [2, 1],
             "parameters": {"binary_data_size": len(tail)}}  # fmt: skip
    assert infer(url, "echo", [given], tail).json["outputs"][0]["data"] == ["Zoë", ""]


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ([ids([1])], "input missing: mask"),
        ([ids([1]), mask([1])], "value 0 is 1, no BOOL"),  # type: ignore[list-item]
        ([ids([1]), {**mask([True]), "shape": [1]}], "shape is [1], expected [-1, -1]"),
        ([{**ids([1]), "datatype": "INT32"}, mask([True])], 'datatype is "INT32", expected INT64'),
    ],
)
def test_what_does_not_fit_is_refused_by_the_tensors_name(
    url: str, inputs: list[dict[str, Any]], told: str
) -> None:
    answer = infer(url, "sums", inputs)
    assert answer.status == 400
    assert told in answer.json["error"]


@pytest.mark.parametrize(
    ("tail", "told"),
    [
        (struct.pack("<I", 9) + b"short", "cut"),
        (struct.pack("<I", 2) + b"\xc3\x28", "utf-8"),
        (b"\x01", "cannot hold 1 strings"),
        (struct.pack("<I", 1) + b"a" + struct.pack("<I", 1) + b"b", "strings"),
    ],
)
def test_broken_texts_are_refused(url: str, tail: bytes, told: str) -> None:
    given = {"name": "words", "datatype": "BYTES", "shape": [1, 1],
             "parameters": {"binary_data_size": len(tail)}}  # fmt: skip
    answer = infer(url, "echo", [given], tail)
    assert answer.status == 400
    assert told in answer.json["error"].lower()


def test_a_number_is_no_text(url: str) -> None:
    assert "value 0 is 5, no BYTES" in infer(url, "echo", [words(5)]).json["error"]
