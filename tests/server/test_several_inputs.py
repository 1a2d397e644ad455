"""Models with several inputs, free lengths, text, truth values and states, as JSON and binary."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from export.contract import FileRef, SoundInput, State, Stream, Tensor, TextInput, sha256
from server.process import running_server
from tests.server.asking import Answer, ask
from tests.server.asking import infer as send
from tests.server.publishing import publish

IDS = Tensor(name="ids", dtype="int64", shape=["batch", "tokens"])
MASK = Tensor(name="mask", dtype="bool", shape=["batch", "tokens"])
SAMPLES = Tensor(name="samples", dtype="float32", shape=["batch", 4])
STATE = Tensor(name="state", dtype="float32", shape=[1, "batch", 4])
ANY = Tensor(name="any", dtype="float32", shape=None)
TOKENIZER = b'{"version": "1.0"}'
MAX_TOKENS = 5
WORDS = Tensor(name="words", dtype="string", shape=["batch", 1])


@pytest.fixture(scope="module")
def url(web: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    models = tmp_path_factory.mktemp("several")
    publish(models, "sums", sums(), [IDS, MASK], [IDS.model_copy(update={"name": "kept"})])
    publish(models, "text", sums(), [IDS, MASK], [IDS.model_copy(update={"name": "kept"})],
            reader=text(), files={"tokenizer.json": TOKENIZER})  # fmt: skip
    publish(models, "stream", stream(), [SAMPLES, STATE],
            [SAMPLES.model_copy(update={"name": "summed"}),
             STATE.model_copy(update={"name": "next"})], reader=sound())  # fmt: skip
    publish(models, "any", negated(), [ANY], [ANY.model_copy(update={"name": "negated"})])
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


def text() -> TextInput:
    tokenizer = FileRef(file="tokenizer.json", size_bytes=len(TOKENIZER), sha256=sha256(TOKENIZER))
    return TextInput(kind="text", tokenizer=tokenizer, max_tokens=MAX_TOKENS, ids="ids",
                     mask="mask", types=None)  # fmt: skip


def stream() -> bytes:
    """The samples, and on top of them the sum of all that came before."""
    value = helper.make_tensor_value_info
    first = helper.make_tensor("first", TensorProto.INT64, [1], [0])
    graph = helper.make_graph(
        [
            helper.make_node("Squeeze", ["state", "first"], ["before"]),
            helper.make_node("Add", ["samples", "before"], ["summed"]),
            helper.make_node("Unsqueeze", ["summed", "first"], ["next"]),
        ],
        "g",
        [
            value("samples", TensorProto.FLOAT, ["batch", 4]),
            value("state", TensorProto.FLOAT, [1, "batch", 4]),
        ],
        [
            value("summed", TensorProto.FLOAT, ["batch", 4]),
            value("next", TensorProto.FLOAT, [1, "batch", 4]),
        ],
        [first],
    )
    return serialised(graph)


def sound() -> SoundInput:
    states = [State(input="state", output="next")]
    return SoundInput(kind="sound", tensor="samples", rate=8000, mono="mean",
                      resample="kaiser-polyphase", window_samples=None,
                      stream=Stream(step_samples=4, states=states))  # fmt: skip


def negated() -> bytes:
    """A graph that says nothing of its input's rank."""
    graph = helper.make_graph(
        [helper.make_node("Neg", ["any"], ["negated"])],
        "g",
        [helper.make_tensor_value_info("any", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("negated", TensorProto.FLOAT, None)],
    )
    return serialised(graph)


def built(nodes: list[onnx.NodeProto], inputs: list[Any], output: Any) -> bytes:
    def value(name: str, kind: int, size: int | str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, ["batch", size])

    graph = helper.make_graph(nodes, "g", [value(*i) for i in inputs], [value(*output)])
    return serialised(graph)


def serialised(graph: onnx.GraphProto) -> bytes:
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


def test_two_binary_inputs_follow_in_the_order_in_which_they_are_told(url: str) -> None:
    def told(name: str, datatype: str, size: int) -> dict[str, Any]:
        return {"name": name, "datatype": datatype, "shape": [2, 2],
                "parameters": {"binary_data_size": size}}  # fmt: skip

    inputs = [told("mask", "BOOL", 4), told("ids", "INT64", 32)]
    tail = bytes([1, 0, 0, 1]) + struct.pack("<4q", -1, 2, 3, 2**63 - 1)
    assert infer(url, "sums", inputs, tail).json["outputs"][0]["data"] == [-1, 0, 0, 2**63 - 1]


def test_one_input_may_be_binary_and_the_other_json(url: str) -> None:
    given = {**mask([True, False]), "parameters": {"binary_data_size": 2}}
    del given["data"]
    answer = infer(url, "sums", [ids([5, 6]), given], b"\x01\x00")
    assert answer.json["outputs"][0]["data"] == [5, 0]


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
        ([ids([1]), {**mask([True]), "datatype": "BYTES"}], 'datatype is "BYTES", expected BOOL'),
        ([ids([2**63]), mask([True])], "out of range for INT64"),
        ([ids([1.0]), mask([True])], "value 0 is 1.0, no INT64"),  # type: ignore[list-item]
        ([ids([1]), mask([True]), ids([1])], 'input "ids" is given twice'),
        ([{**ids([1]), "shape": [1, 0], "data": []}, mask([True])], "shape is [1, 0]"),
        # Both would be spread over the other's size by the graph: an answer, and a wrong one.
        ([ids([7, 8, 9]), mask([True])], 'tokens is 1, but 3 in input "ids"'),
        ([ids([7], [8]), mask([True])], 'batch is 1, but 2 in input "ids"'),
        ([ids(*[[1]] * 65), mask(*[[True]] * 65)], "batch is 65, limit 64"),
        ([{**ids([1]), "shape": [1, 10**9]}, mask([True])], "limit 64,000,000 values"),
        ([{**ids([1]), "shape": [1, 10**4200]}, mask([True])], "limit 64,000,000 values"),
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
        (struct.pack("<I", 2) + b"\xc3\x28", "string 0 is not utf-8"),
        (struct.pack("<I", 3) + b"\xed\xa0\x80", "string 0 is not utf-8"),  # half a surrogate pair
        (struct.pack("<I", 2**32 - 1), "string 0 is cut short"),
        (b"\x01", "cannot hold 1 strings"),
        (struct.pack("<I", 1) + b"a" + struct.pack("<I", 1) + b"b", "5 bytes follow"),
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


def test_half_a_surrogate_pair_is_no_text(url: str) -> None:
    answer = infer(url, "echo", [words("\ud800")])
    assert (answer.status, "value 0 is no Unicode text" in answer.json["error"]) == (400, True)


def test_a_text_with_a_zero_byte_stays_whole(url: str) -> None:
    assert infer(url, "echo", [words("a\0b")]).json["outputs"][0]["data"] == ["a\0b"]


def test_texts_are_answered_as_lengths_and_utf8_when_asked_as_binary(url: str) -> None:
    request = {"inputs": [words("Zoë", "")], "parameters": {"binary_data_output": True}}
    answer = send(url, request, model="echo")
    tail = answer.body[int(answer.headers["inference-header-content-length"]) :]
    assert tail == struct.pack("<I", 4) + "Zoë".encode() + struct.pack("<I", 0)


def test_a_text_longer_than_its_contract_allows_is_refused(url: str) -> None:
    full, more = [1] * MAX_TOKENS, [1] * (MAX_TOKENS + 1)
    assert infer(url, "text", [ids(full), mask([True] * MAX_TOKENS)]).status == 200
    answer = infer(url, "text", [ids(more), mask([True] * len(more))])
    assert (answer.status, answer.json["error"]) == (400, 'input "ids": tokens is 6, limit 5')


def test_the_tokenizer_is_handed_out_with_its_version(url: str) -> None:
    answer = ask(url, "/models/text/1/tokenizer.json")
    assert (answer.body, answer.headers["content-type"]) == (TOKENIZER, "application/json")


def test_a_streams_state_is_an_input_and_an_output_that_the_client_carries(url: str) -> None:
    state, summed = [0.0] * 8, []
    for step in ([1.0] * 8, [2.0] * 8, [4.0] * 8):
        samples = {"name": "samples", "datatype": "FP32", "shape": [2, 4], "data": step}
        before = {"name": "state", "datatype": "FP32", "shape": [1, 2, 4], "data": state}
        outputs = {o["name"]: o for o in infer(url, "stream", [samples, before]).json["outputs"]}
        state = outputs["next"]["data"]
        summed.append(outputs["summed"]["data"][0])
    assert summed == [1, 3, 7]


def test_a_state_of_another_batch_is_refused(url: str) -> None:
    samples = {"name": "samples", "datatype": "FP32", "shape": [2, 4], "data": [0] * 8}
    state = {"name": "state", "datatype": "FP32", "shape": [1, 1, 4], "data": [0] * 4}
    answer = infer(url, "stream", [samples, state])
    assert answer.json["error"] == 'input "state": batch is 1, but 2 in input "samples"'


@pytest.mark.parametrize("shape", [[], [3], [1, 2, 1, 2]])
def test_an_input_of_unknown_rank_takes_any(url: str, shape: list[int]) -> None:
    values = [float(i) for i in range(1, math.prod(shape) + 1)]
    given = {"name": "any", "datatype": "FP32", "shape": shape, "data": values}
    output = infer(url, "any", [given]).json["outputs"][0]
    assert (output["shape"], output["data"]) == (shape, [-v for v in values])
    assert ask(url, "/v2/models/any").json["inputs"][0]["shape"] == [-1]
