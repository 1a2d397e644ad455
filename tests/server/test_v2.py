"""The Open Inference Protocol v2: metadata and inference, JSON and binary."""

from __future__ import annotations

import gzip
import http.client
import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np
import pytest

from export.contract import Contract
from server.config import Config
from server.engines import Task
from server.engines.local import LocalEngine
from server.protocol import HEADER_LENGTH
from tests.server.asking import Answer, ask, infer

Tensors = dict[str, np.ndarray[Any, Any]]


@pytest.fixture(scope="module")
def pixels(digits: Contract, digits_folder: Path) -> np.ndarray[Any, Any]:
    """All golden tensors of digits as one batch."""
    raw = b"".join((digits_folder / e.tensors[0].file).read_bytes() for e in digits.examples)
    return np.frombuffer(raw, np.uint8).reshape(-1, 28, 28, 1)


@pytest.fixture(scope="module")
def direct(digits: Contract, digits_folder: Path) -> Any:
    """Runs a variant, by default the best one, without the server."""
    engine = LocalEngine(threads=1, at_once=1, timeout_s=30)

    def run(batch: np.ndarray[Any, Any], name: str = digits.best["cpu"]) -> Tensors:
        variant = digits.variant(name)
        names = [tensor.name for tensor in digits.outputs]
        read = (digits_folder / variant.file).read_bytes
        task = Task(digits, variant, read, {digits.inputs[0].name: batch}, names)
        return dict(zip(names, engine.infer(task), strict=True))

    return run


def as_json(batch: np.ndarray[Any, Any]) -> dict[str, object]:
    return {
        "name": "pixels",
        "datatype": "UINT8",
        "shape": list(batch.shape),
        "data": batch.ravel().tolist(),
    }


def as_binary(batch: np.ndarray[Any, Any]) -> dict[str, object]:
    entry = as_json(batch)
    del entry["data"]
    return {**entry, "parameters": {"binary_data_size": batch.nbytes}}


def tensors_of(answer: Answer) -> Tensors:
    """All outputs of an answer, JSON or binary."""
    assert answer.status == 200, answer.body
    length = int(answer.headers.get(HEADER_LENGTH.lower(), len(answer.body)))
    head, tail = json.loads(answer.body[:length]), answer.body[length:]
    types = {"FP32": "<f4", "INT64": "<i8"}
    found: Tensors = {}
    for output in head["outputs"]:
        dtype = np.dtype(types[output["datatype"]])
        size = output.get("parameters", {}).get("binary_data_size")
        if size is None:
            values = np.array(output["data"], dtype)
        else:
            values, tail = np.frombuffer(tail[:size], dtype), tail[size:]
        found[output["name"]] = values.reshape(output["shape"])
    assert tail == b""
    return found


def equal(left: Tensors, right: Tensors) -> bool:
    return left.keys() == right.keys() and all(
        left[name].tobytes() == right[name].tobytes() for name in left
    )


def test_the_server_says_what_it_speaks(url: str) -> None:
    about = ask(url, "/v2").json
    assert about["name"] == "likewise"
    assert "binary_tensor_data" in about["extensions"]
    assert ask(url, "/v2/health/live").json == {"live": True}
    assert ask(url, "/v2/health/ready").json == {"ready": True}


def test_metadata_is_that_of_the_contract(url: str, digits: Contract) -> None:
    told = ask(url, "/v2/models/digits").json
    assert told["inputs"] == [{"name": "pixels", "datatype": "UINT8", "shape": [-1, 28, 28, 1]}]
    assert [output["name"] for output in told["outputs"]] == [t.name for t in digits.outputs]
    assert told["outputs"][0] == {
        "name": "probabilities",
        "datatype": "FP32",
        "shape": [-1, len(digits.labels)],
    }
    assert str(digits.version) in told["versions"]
    assert ask(url, f"/v2/models/digits/versions/{digits.version}").json == told


@pytest.mark.parametrize("path", ["", "/ready", "/versions/{v}/ready"])
def test_readiness_of_a_model(url: str, digits: Contract, path: str) -> None:
    where = path.format(v=digits.version)
    assert ask(url, f"/v2/models/digits{where}").status == 200
    assert ask(url, f"/v2/models/nobody{where}").status == 404


@pytest.mark.parametrize("version", ["0", "999", "01x", "-1", "1.0", "٣", "9" * 30])
def test_a_version_that_is_not_published_is_not_found(url: str, version: str) -> None:
    answer = ask(url, f"/v2/models/digits/versions/{quote(version)}")
    assert (answer.status, list(answer.json)) == (404, ["error"])


def test_the_repository_lists_what_is_ready(url: str, digits: Contract) -> None:
    for body in (b"", b"{}", b'{"ready": true}'):
        rows = ask(url, "/v2/repository/index", "POST", body).json
        row = {"name": "digits", "version": str(digits.version), "state": "READY", "reason": ""}
        assert row in rows


@pytest.mark.parametrize("variant", ["fp32", "fp16", "q8"])
@pytest.mark.parametrize("sent", [as_json, as_binary])
@pytest.mark.parametrize("binary", [False, True])
def test_every_way_to_ask_gives_the_models_own_answer(
    url: str, digits: Contract, pixels: Any, direct: Any, variant: str, sent: Any, binary: bool
) -> None:
    assert digits.variant(variant).backends["cpu"].status == "passed"
    request = {
        "inputs": [sent(pixels)],
        "parameters": {"variant": variant, "binary_data_output": binary},
    }
    tail = pixels.tobytes() if sent is as_binary else b""
    answer = infer(url, request, tail=tail)
    assert equal(tensors_of(answer), direct(pixels, variant))
    length = int(answer.headers.get(HEADER_LENGTH.lower(), len(answer.body)))
    assert json.loads(answer.body[:length])["parameters"] == {
        "variant": variant,
        "provider": "CPUExecutionProvider",
        "version": digits.version,
    }
    assert answer.headers["content-type"] == (
        "application/octet-stream" if binary else "application/json"
    )


def test_json_and_binary_outputs_can_be_mixed(url: str, pixels: Any, direct: Any) -> None:
    outputs = [
        {"name": "top_indices"},
        {"name": "probabilities", "parameters": {"binary_data": True}},
    ]
    answer = infer(url, {"inputs": [as_json(pixels)], "outputs": outputs})
    found = tensors_of(answer)
    assert list(found) == ["top_indices", "probabilities"]
    expected = direct(pixels)
    assert equal(found, {name: expected[name] for name in found})


def test_one_output_can_refuse_the_binary_default(url: str, pixels: Any) -> None:
    request = {
        "inputs": [as_json(pixels[:1])],
        "parameters": {"binary_data_output": True},
        "outputs": [{"name": "top_indices", "parameters": {"binary_data": False}}],
    }
    assert "data" in infer(url, request).json["outputs"][0]


def test_data_may_be_nested_as_its_shape(url: str, pixels: Any, direct: Any) -> None:
    entry = {**as_json(pixels[:2]), "data": pixels[:2].tolist()}
    assert equal(tensors_of(infer(url, {"inputs": [entry]})), direct(pixels[:2]))


def test_the_id_comes_back(url: str, pixels: Any) -> None:
    inputs = [as_json(pixels[:1])]
    assert infer(url, {"id": "a\ud800b", "inputs": inputs}).json["id"] == "a\ud800b"
    assert "id" not in infer(url, {"inputs": inputs}).json


def test_the_default_variant_is_the_contracts_best(url: str, digits: Contract, pixels: Any) -> None:
    answer = infer(url, {"inputs": [as_json(pixels[:1])]}).json
    assert answer["parameters"]["variant"] == digits.best["cpu"]
    assert (answer["model_name"], answer["model_version"]) == ("digits", str(digits.version))


def test_a_variant_that_is_not_offered_is_refused_by_name(url: str, pixels: Any) -> None:
    request = {"inputs": [as_json(pixels[:1])], "parameters": {"variant": "q4"}}
    answer = infer(url, request)
    assert answer.status == 400
    assert '"q4"' in answer.json["error"]
    assert "fp32" in answer.json["error"]


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_bodies_may_be_packed(url: str, pixels: Any, direct: Any, encoding: str, pack: Any) -> None:
    head = json.dumps({"inputs": [as_binary(pixels)]}).encode()
    headers = {"Content-Encoding": encoding, HEADER_LENGTH: str(len(head))}
    body = pack(head + pixels.tobytes())
    answer = ask(url, "/v2/models/digits/infer", "POST", body, headers)
    assert equal(tensors_of(answer), direct(pixels))


def test_a_chunked_body_is_read(url: str, pixels: Any, direct: Any) -> None:
    body = json.dumps({"inputs": [as_json(pixels[:1])]}).encode()
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.putrequest("POST", "/v2/models/digits/infer")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders(chunked)
    response = connection.getresponse()
    found = tensors_of(Answer(response.status, {}, response.read()))
    connection.close()
    assert equal(found, direct(pixels[:1]))


def test_parallel_requests_each_get_their_own_answer(url: str, pixels: Any, direct: Any) -> None:
    expected = [direct(pixels[i : i + 1]) for i in range(len(pixels))]

    def one(number: int) -> bool:
        at = number % len(pixels)
        request = {"id": str(number), "inputs": [as_binary(pixels[at : at + 1])]}
        answer = infer(url, request, tail=pixels[at : at + 1].tobytes())
        return answer.json["id"] == str(number) and equal(tensors_of(answer), expected[at])

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(one, range(200)))


def test_a_batch_up_to_the_limit_is_taken(url: str, pixels: Any, direct: Any) -> None:
    limit = Config(models=Path(), web=Path()).max_batch
    batch = np.resize(pixels, (limit, 28, 28, 1))
    answer = infer(url, {"inputs": [as_binary(batch)]}, tail=batch.tobytes())
    assert equal(tensors_of(answer), direct(batch))
    more = np.resize(pixels, (limit + 1, 28, 28, 1))
    refused = infer(url, {"inputs": [as_binary(more)]}, tail=more.tobytes())
    assert (refused.status, refused.json["error"]) == (
        400,
        f'input "pixels": batch is {limit + 1}, limit {limit}',
    )
