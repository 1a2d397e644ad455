"""Golden examples of digits: page and server give the framework's answers."""

from __future__ import annotations

import base64
import json
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export.browser import VerifyPage
from export.contract import Contract, Example
from server.process import RunningServer
from tests.agreement.conftest import digits_folder

THREADS = (1, 2)


def packed(example: Example) -> list[dict[str, Any]]:
    """The decoded tensors as the page's functions take them."""
    folder = digits_folder()
    return [
        {"name": t.name, "dtype": t.dtype, "shape": t.shape,
         "data": base64.b64encode((folder / t.file).read_bytes()).decode()}
        for t in example.tensors
    ]  # fmt: skip


def read(example: Example) -> tuple[bytes, bytes, np.ndarray]:
    """The encoded input, the tensor's bytes, the judge's probabilities."""
    folder: Path = digits_folder()
    outputs = np.frombuffer((folder / example.outputs[0].file).read_bytes(), "<f4")
    tensor = (folder / example.tensors[0].file).read_bytes()
    return (folder / example.input.file).read_bytes(), tensor, outputs


def ask_server(url: str, contract: Contract, variant: str, tensor: bytes) -> np.ndarray:
    """Probabilities by the v2 protocol, binary both ways."""
    shape = [1, *(contract.inputs[0].shape or [])[1:]]
    header: dict[str, Any] = {
        "inputs": [
            {"name": "pixels", "datatype": "UINT8", "shape": shape,
             "parameters": {"binary_data_size": len(tensor)}}
        ],
        "outputs": [{"name": "probabilities", "parameters": {"binary_data": True}}],
        "parameters": {"variant": variant},
    }  # fmt: skip
    text = json.dumps(header).encode()
    request = urllib.request.Request(
        f"{url}/v2/models/{contract.name}/versions/{contract.version}/infer", text + tensor,
        {"Inference-Header-Content-Length": str(len(text))},
    )  # fmt: skip
    with urllib.request.urlopen(request) as answer:
        length = int(answer.headers["Inference-Header-Content-Length"])
        return np.frombuffer(answer.read()[length:], "<f4")


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("variant", ["fp32", "fp16", "q8"])
def test_page_server_and_framework_agree(
    page: VerifyPage, serving: RunningServer, digits: Contract, variant: str, threads: int
) -> None:
    proven = digits.variant(variant).backends["wasm"]
    golden = [read(example) for example in digits.examples]
    answers = page.predict(variant, "wasm", threads, [picture for picture, _, _ in golden])
    seen = [decoded["pixels"].tobytes() for decoded in answers.decoded]
    assert seen == [tensor for _, tensor, _ in golden]
    for answer, (_, tensor, judge) in zip(answers.answers, golden, strict=True):
        row = answer["probabilities"][0]
        by_server = ask_server(serving.url, digits, variant, tensor)
        allowed = max(proven.tolerance or 0, (proven.max_difference or 0) + 1e-6)
        assert row.argmax() == by_server.argmax() == judge.argmax()
        assert np.abs(row - judge).max() <= allowed
        assert np.abs(by_server - row).max() <= 2 * allowed


def test_stored_tensors_predict_as_the_pictures_do(page: VerifyPage, digits: Contract) -> None:
    loaded = page.call("load", page.models, {"variant": "fp32", "threads": 1})
    tensors = [packed(example) for example in digits.examples]
    results = page.call("predictTensors", loaded["handle"], tensors)
    page.call("close", loaded["handle"])
    best = [result["answers"][0]["index"] for result in results]
    assert best == [int(read(example)[2].argmax()) for example in digits.examples]
