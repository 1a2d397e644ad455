"""Malformed requests: refused with a message that helps, and the server lives on."""

from __future__ import annotations

import gzip
import http.client
import json
import random
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from server.process import RunningServer
from server.protocol import HEADER_LENGTH
from tests.server.asking import ask

GOOD: dict[str, Any] = {
    "name": "pixels",
    "datatype": "UINT8",
    "shape": [1, 28, 28, 1],
    "data": [0] * 784,
}
BINARY = {k: v for k, v in GOOD.items() if k != "data"} | {"parameters": {"binary_data_size": 784}}
INFER = "/v2/models/digits/infer"


def inputs(**changes: object) -> bytes:
    """A request with one input, changed; None leaves the key out."""
    entry = {k: v for k, v in {**GOOD, **changes}.items() if v is not None}
    return json.dumps({"inputs": [entry]}).encode()


def request(**changes: object) -> bytes:
    return json.dumps({"inputs": [GOOD], **changes}).encode()


# What is sent, and what the refusal must say.
REFUSED: list[tuple[str, bytes, str]] = [
    ("no body", b"", "not JSON"),
    ("blank", b"   ", "not JSON"),
    ("no JSON", b"hello", "not JSON: Expecting value at line 1, column 1"),
    ("cut short", request()[:-1], "not JSON"),
    ("two values", request() + b"{}", "not JSON: Extra data"),
    ("not UTF-8", b'{"id": "\xff"}', "not UTF-8: byte 8"),
    ("UTF-16", request().decode().encode("utf-16"), "not UTF-8"),
    ("byte order mark", b"\xef\xbb\xbf" + request(), "not JSON"),
    ("NaN", inputs().replace(b"[0,", b"[NaN,"), "NaN is no JSON number"),
    ("Infinity", inputs().replace(b"[0,", b"[-Infinity,"), "-Infinity is no JSON number"),
    ("deep lists", b"[" * 200_000, "nested too deeply"),
    ("deep objects", b'{"a":' * 200_000, "nested too deeply"),
    ("long number", b'{"inputs":' + b"9" * 100_000 + b"}", "number that is too long"),
    ("null", b"null", "the body"),
    ("list", b"[]", "the body"),
    ("string", b'"inputs"', "the body"),
    ("no inputs", b"{}", "inputs: Field required"),
    ("inputs null", b'{"inputs": null}', "inputs: Input should be a valid list"),
    ("inputs object", b'{"inputs": {}}', "inputs: Input should be a valid list"),
    ("inputs of numbers", b'{"inputs": [1]}', "inputs.0"),
    ("empty inputs", b'{"inputs": []}', "input missing: pixels"),
    ("id a number", request(id=7), "id: Input should be a valid string"),
    ("parameters a list", request(parameters=[]), "parameters"),
    ("variant a number", request(parameters={"variant": 1}), "parameters.variant"),
    ("variant unknown", request(parameters={"variant": "q4"}), '"q4" of digits/'),
    (
        "binary output a word",
        request(parameters={"binary_data_output": "yes"}),
        "binary_data_output",
    ),
    ("outputs an object", request(outputs={}), "outputs: Input should be a valid list"),
    ("output without name", request(outputs=[{}]), "outputs.0.name: Field required"),
    ("output unknown", request(outputs=[{"name": "x"}]), 'output "x" is unknown; offered: prob'),
    (
        "output twice",
        request(outputs=[{"name": "top_indices"}, {"name": "top_indices"}]),
        'output "top_indices" is asked for twice',
    ),
    ("input twice", request(inputs=[GOOD, GOOD]), 'input "pixels" is given twice'),
    ("no name", inputs(name=None), "inputs.0.name: Field required"),
    ("name a number", inputs(name=1), "inputs.0.name"),
    ("name unknown", inputs(name="image"), 'input "image" is unknown; expected: pixels'),
    ("name endless", inputs(name="x" * 100_000), "xxx... is unknown"),
    ("name no Unicode", inputs(name="\ud800"), '"\\ud800" is unknown'),
    ("no datatype", inputs(datatype=None), "inputs.0.datatype: Field required"),
    ("datatype other", inputs(datatype="FP32"), 'datatype is "FP32", expected UINT8'),
    ("datatype lower case", inputs(datatype="uint8"), 'datatype is "uint8", expected UINT8'),
    ("no shape", inputs(shape=None), "inputs.0.shape: Field required"),
    ("shape a number", inputs(shape=784), "inputs.0.shape"),
    ("shape empty", inputs(shape=[]), "shape is [], expected [-1, 28, 28, 1]"),
    ("shape flat", inputs(shape=[1, 784]), "shape is [1, 784], expected [-1, 28, 28, 1]"),
    ("shape too wide", inputs(shape=[1, 28, 29, 1]), "shape is [1, 28, 29, 1], expected"),
    ("shape transposed", inputs(shape=[1, 1, 28, 28]), "expected [-1, 28, 28, 1]"),
    ("batch 0", inputs(shape=[0, 28, 28, 1], data=[]), "shape is [0, 28, 28, 1], expected"),
    ("batch negative", inputs(shape=[-1, 28, 28, 1]), "inputs.0.shape.0"),
    ("batch over the limit", inputs(shape=[65, 28, 28, 1]), "batch is 65, limit 64"),
    ("batch absurd", inputs(shape=[2**62, 28, 28, 1]), f"batch is {2**62}, limit 64"),
    ("size beyond 64 bits", inputs(shape=[2**70, 28, 28, 1]), "limit 64"),
    ("size a fraction", inputs(shape=[1.5, 28, 28, 1]), "inputs.0.shape.0"),
    ("size a truth", inputs(shape=[True, 28, 28, 1]), "inputs.0.shape.0"),
    ("rank of 1,000", inputs(shape=[1] * 1000), "inputs.0.shape"),
    ("no data", inputs(data=None), "give data or parameters.binary_data_size, one of them"),
    ("data a word", inputs(data="AAAA"), "inputs.0.data"),
    ("data too short", inputs(data=[0] * 783), "783 values of data, expected 784"),
    ("data too long", inputs(data=[0] * 785), "785 values of data, expected 784"),
    ("data for two", inputs(shape=[2, 28, 28, 1]), "784 values of data, expected 1568"),
    ("value too big", inputs(data=[256] + [0] * 783), "out of range for UINT8"),
    ("value negative", inputs(data=[-1] + [0] * 783), "out of range for UINT8"),
    ("value huge", inputs(data=[10**400] + [0] * 783), "out of range for UINT8"),
    ("value a fraction", inputs(data=[0, 0.5] + [0] * 782), "value 1 is 0.5, no UINT8"),
    ("value a truth", inputs(data=[True] + [0] * 783), "value 0 is true, no UINT8"),
    ("value a word", inputs(data=["0"] + [0] * 783), 'value 0 is "0", no UINT8'),
    ("value null", inputs(data=[0] * 783 + [None]), "value 783 is null, no UINT8"),
    ("value an object", inputs(data=[{}] + [0] * 783), "value 0 is {}, no UINT8"),
    ("data ragged", inputs(data=[[[[0]] * 28] * 27 + [[[0]] * 27]]), "not nested as its shape"),
    ("data half nested", inputs(data=[[0] * 784]), "not nested as its shape"),
    ("data too deep", inputs(data=[[[[[0]]] * 28] * 28]), "value 0 is [0], no UINT8"),
    ("data mixed", inputs(data=[[0]] + [0] * 783), "784 values of data, expected 1"),
    ("both kinds of data", inputs(parameters={"binary_data_size": 784}), "one of them"),
    ("binary without bytes", request(inputs=[BINARY]), "but only 0 bytes follow the JSON"),
    (
        "binary size a word",
        inputs(data=None, parameters={"binary_data_size": "9"}),
        "binary_data_s",
    ),
    (
        "binary size negative",
        inputs(data=None, parameters={"binary_data_size": -1}),
        "binary_data_s",
    ),
]


@pytest.mark.parametrize(
    ("body", "said"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_a_malformed_request_is_refused_with_a_reason(url: str, body: bytes, said: str) -> None:
    answer = ask(url, INFER, "POST", body)
    assert answer.status == 400
    assert list(answer.json) == ["error"]
    assert said in answer.json["error"]
    assert "Traceback" not in answer.json["error"]
    assert len(answer.json["error"]) < 1000


BINARY_HEAD = json.dumps({"inputs": [BINARY]}).encode()
BINARY_REFUSED: list[tuple[str, bytes, str, str]] = [
    ("no number", b"{}", "ten", 'is "ten"'),
    ("negative", b"{}", "-1", 'is "-1"'),
    ("empty", b"{}", "", 'is ""'),
    ("two", b"{}", "1, 2", "is "),
    ("underlined", b"{}" * 9, "1_0", "is "),
    ("other digits", b"{}" * 9, "\u00b2", "is "),
    ("beyond the body", b"{}", "3", "expected at most 2"),
    ("endless", b"{}", "9" * 5000, "expected at most 2"),
    ("too early", BINARY_HEAD + bytes(784), "20", "not JSON"),
    ("too late", BINARY_HEAD + bytes(784), str(len(BINARY_HEAD) + 1), "not JSON"),
    ("zero", BINARY_HEAD, "0", "not JSON"),
    ("a byte missing", BINARY_HEAD + bytes(783), str(len(BINARY_HEAD)), "but only 783 bytes"),
    ("a byte too many", BINARY_HEAD + bytes(785), str(len(BINARY_HEAD)), "1 bytes follow the last"),
    ("none at all", BINARY_HEAD, str(len(BINARY_HEAD)), "but only 0 bytes"),
]


@pytest.mark.parametrize(
    ("body", "length", "said"),
    [row[1:] for row in BINARY_REFUSED],
    ids=[r[0] for r in BINARY_REFUSED],
)
def test_a_wrong_header_length_is_refused(url: str, body: bytes, length: str, said: str) -> None:
    answer = ask(url, INFER, "POST", body, {HEADER_LENGTH: length})
    assert answer.status == 400
    assert said in answer.json["error"]


def test_a_binary_size_that_is_not_the_shapes_is_refused_before_use(url: str) -> None:
    head = BINARY_HEAD.replace(b"784}", b"700}")
    answer = ask(url, INFER, "POST", head + bytes(700), {HEADER_LENGTH: str(len(head))})
    assert answer.json["error"] == (
        'input "pixels": 700 bytes of data, expected 784 for UINT8 [1, 28, 28, 1]'
    )


@pytest.mark.parametrize(
    ("encoding", "body", "status", "said"),
    [
        ("gzip", b"no gzip", 400, "the body is not gzip"),
        ("gzip", gzip.compress(request())[:-9], 400, "cut short"),
        ("gzip", gzip.compress(request()) + b"more", 400, "followed by other bytes"),
        ("deflate", b"no deflate", 400, "the body is not deflate"),
        ("deflate", zlib.compress(request())[:-5], 400, "cut short"),
        ("br", request(), 415, "known: gzip, deflate"),
        ("gzip, gzip", gzip.compress(gzip.compress(request())), 415, "unknown"),
    ],
)
def test_a_wrongly_packed_body_is_refused(
    url: str, encoding: str, body: bytes, status: int, said: str
) -> None:
    answer = ask(url, INFER, "POST", body, {"Content-Encoding": encoding})
    assert (answer.status, said in answer.json["error"]) == (status, True), answer.body


def test_a_body_that_unpacks_to_too_much_is_refused(url: str) -> None:
    bomb = zlib.compress(b" " * 65_000_000, 1)
    answer = ask(url, INFER, "POST", bomb, {"Content-Encoding": "deflate"})
    assert (answer.status, "64000000 bytes" in answer.json["error"]) == (413, True)


def test_a_body_over_the_limit_is_refused_before_it_is_read(url: str) -> None:
    answer = ask(url, INFER, "POST", headers={"Content-Length": str(10**15)})
    assert answer.status == 413


@pytest.mark.parametrize(
    ("size_bytes", "status"), [(64_000_000, 200), (64_000_001, 413), (64_001_000, 413)]
)
def test_a_chunked_body_over_the_limit_is_refused_and_never_cut(
    url: str, size_bytes: int, status: int
) -> None:
    body = request().ljust(size_bytes)
    if status != 200:
        body = body[:-1] + b"?"
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.putrequest("POST", INFER)
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders(chunked)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    assert response.status == status, answer
    assert status == 200 or "64000000 bytes" in answer["error"]


def mutations(seed: int) -> Iterator[tuple[bytes, dict[str, str]]]:
    """Bodies that were right once: bytes changed, cut, doubled, values and headers swapped."""
    dice = random.Random(seed)
    good = [(request(), {}), (BINARY_HEAD + bytes(784), {HEADER_LENGTH: str(len(BINARY_HEAD))})]
    odd: list[Any] = [
        None,
        True,
        -1,
        0,
        1e308,
        2**63,
        10**30,
        "",
        "UINT8",
        "\x00",
        [],
        {},
        [[]],
        [None],
    ]
    while True:
        body, headers = dice.choice(good)
        match dice.randrange(5):
            case 0:
                flipped = bytearray(body)
                for _ in range(dice.randrange(1, 20)):
                    flipped[dice.randrange(len(flipped))] = dice.randrange(256)
                body = bytes(flipped)
            case 1:
                at = dice.randrange(len(body))
                body = body[:at] + dice.choice([b"", body[at:] * 2, body])
            case 2:
                value: Any = json.loads(request())
                target = dice.choice([value, value["inputs"][0]])
                target[dice.choice([*target, "outputs", "parameters", "id"])] = dice.choice(odd)
                body, headers = json.dumps(value).encode(), {}
            case 3:
                length = str(dice.choice([0, 1, len(body), len(body) - 1, 10**9, -5]))
                headers = {**headers, HEADER_LENGTH: length}
            case _:
                headers = {**headers, "Content-Encoding": dice.choice(["gzip", "deflate", "x"])}
                body = dice.choice([body, gzip.compress(body)[: dice.randrange(1, 200)]])
        yield body, headers


def test_a_thousand_mutated_requests_bring_no_failure(running: RunningServer) -> None:
    connection = http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=60)
    statuses: dict[int, int] = {}
    for (body, headers), _ in zip(mutations(seed=20_26), range(1000), strict=False):
        connection.request("POST", INFER, body, headers)
        response = connection.getresponse()
        answer = response.read()
        assert response.status == 200 or list(json.loads(answer)) == ["error"]
        statuses[response.status] = statuses.get(response.status, 0) + 1
        assert response.status < 500, body
    connection.close()
    assert statuses.get(400, 0) > 500
    assert running.process.poll() is None
    assert ask(running.url, INFER, "POST", request()).status == 200
