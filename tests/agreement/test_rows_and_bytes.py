"""Rows, bytes and plain tensors: Python's decoder and the browser's on the same random files."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper
from playwright.sync_api import Playwright

from export.browser import VerifyPage, launch
from export.contract import (
    BytesInput,
    Column,
    Contract,
    Index,
    Input,
    TableInput,
    Tensor,
    TensorInput,
    ValuesDecision,
    sha256,
    to_json,
)
from export.decode import Decode, decoder
from export.errors import DecodeError
from export.tensor_bytes import to_bytes
from export.version import index_entry
from export.workspace import ROOT
from server.process import running_server

COUNT = 600  # files of a kind
Told = str | dict[str, tuple[list[int], bytes]]
"""The code of a refusal, or each tensor's shape and bytes."""

COLUMNS = [
    Column(name="size", title="Size", unit="mm", type="number", missing="nan", lowest=0,
           highest=10, categories=[]),
    Column(name="rooms", title="Rooms", unit="", type="integer", missing="refuse", categories=[]),
    Column(name="new", title="New", unit="", type="boolean", missing="refuse", categories=[]),
    Column(name="colour", title="Colour", unit="", type="category", missing="nan",
           categories=["rot", "größe", "a, b"]),
]  # fmt: skip
GIVEN: dict[str, tuple[Any, list[str]]] = {
    "f": ("float32", ["FP32", "1.5", "-1e-60"]), "k": ("int64", ["INT64", str(2**53 - 1), "-1"]),
    "i": ("int32", ["INT32", "1", str(-(2**31))]), "u": ("uint8", ["UINT8", "0", "255"]),
    "b": ("bool", ["BOOL", "true", "0"]), "s": ("string", ["BYTES", '""', '"ö"']),
}  # fmt: skip
BYTES = BytesInput(kind="bytes", tensor="bytes", first=16, last=8, block=20, strip=True,
                   padding=256)  # fmt: skip


def tensors(*told: tuple[str, Any, int]) -> list[Tensor]:
    return [Tensor(name=n, dtype=dtype, shape=["batch", size]) for n, dtype, size in told]


SPECS: dict[str, tuple[Input, list[Tensor]]] = {
    "matrix": (
        TableInput(kind="table", columns=COLUMNS, matrix="features"),
        tensors(("features", "float32", 4)),
    ),
    "columns": (
        TableInput(kind="table", columns=COLUMNS, matrix=None),
        tensors(("size", "float32", 1), ("rooms", "int64", 1), ("new", "int64", 1),
                ("colour", "string", 1)),
    ),
    "bytes": (BYTES, tensors(("bytes", "int32", 24))),
    "tensors": (
        TensorInput(kind="tensor"),
        tensors(*((name, dtype, 2) for name, (dtype, _) in GIVEN.items())),
    ),
}  # fmt: skip

CELLS = ["1.5", "", "  ", "3", "3.0", "1e3", "-0", "-1e-60", ".5", "5.", "+7", "1e39", "1e400",
         "abc", "NaN", "true", "True", "0", "1", "rot", "größe", "a, b", '"a, b"',
         "9007199254740993", "1_0", "0x1", "\u00a01", "١", " 1 ", "\x0b1\x0c", '"x', 'x"y', '""',
         "\u212a", "-", "1\x00"]  # fmt: skip
VALUES: list[Any] = [1, 1.5, 0, -0.0, 1e39, 1e-60, True, False, None, "", " ", "1.5", "TRUE", "rot",
                     [1], {},
                     2**53, 2**53 - 1, "9007199254740993", "a, b"]  # fmt: skip
PLAIN = {"size": "1.5", "rooms": "3", "new": "true", "colour": '"a, b"'}


def csv(rnd: random.Random) -> bytes:
    """A line of names and a line of cells, mostly right."""
    names = list(PLAIN)
    if rnd.random() < 0.2:
        rnd.shuffle(names)
    if rnd.random() < 0.05:
        names.pop()
    names += [extra for extra in ("x", "size") if rnd.random() < 0.03]
    row = [PLAIN.get(n, "1") if rnd.random() < 0.8 else rnd.choice(CELLS) for n in names]
    end = rnd.choice(["\n", "\r\n", "\r", "\n\n"])
    text = ",".join(names) + end + ",".join(row) + rnd.choice(["", "\n", end * 2, ",", "\n1"])
    return (rnd.choice(["", "", "", "\ufeff"]) + text).encode()


def row(rnd: random.Random) -> bytes:
    """A row in JSON, mostly right."""
    right = {"size": 1.5, "rooms": 3, "new": True, "colour": "rot"}
    values = {
        name: rnd.choice(VALUES) if rnd.random() < 0.2 else value
        for name, value in right.items()
        if rnd.random() < 0.95
    }
    text = json.dumps(values, ensure_ascii=rnd.random() < 0.5)
    if rnd.random() < 0.05:
        text = text[: rnd.randrange(len(text))]
    return (rnd.choice(["", "", "", " ", "\ufeff", "\x0b"]) + text).encode()


def table(rnd: random.Random) -> bytes:
    return rnd.choice((csv, row))(rnd)


def some_bytes(rnd: random.Random) -> bytes:
    return bytes(rnd.choice(b" \t\n\x0b\x0c\r\x00ab\xff\x85\xa0") for _ in range(rnd.randrange(50)))


def request(rnd: random.Random) -> bytes:
    """The v2 protocol's JSON, mostly right."""
    odd = ["null", "1.5", '"x"', "1e39", str(2**53), "256", "-1", "[1]", "{}", '"\\ud800"']
    entries = []
    for name, (_, (datatype, *data)) in GIVEN.items():
        if rnd.random() < 0.08:
            data[rnd.randrange(2)] = rnd.choice(odd)
        if rnd.random() < 0.03:
            datatype = rnd.choice(["FP64", "x", "INT32"])
        shape = (
            rnd.choice(["[2]", "[2, 1]", '"x"', "[1, 2, 1]"]) if rnd.random() < 0.03 else "[1, 2]"
        )
        entries.append(
            f'{{"name": "{name}", "datatype": "{datatype}", "shape": {shape}, '
            f'"data": [{", ".join(data)}]}}'
        )
    if rnd.random() < 0.05:
        entries.pop()
    rnd.shuffle(entries)
    return f'{{"inputs": [{", ".join(entries)}]}}'.encode()


FILES: dict[str, Callable[[random.Random], bytes]] = {
    "matrix": table, "columns": table, "bytes": some_bytes, "tensors": request,
}  # fmt: skip
BY_HAND = {
    "matrix": [b"", b"\xff{", b'{"size":NaN}', b'{"size":1,"size":2,"rooms":1e0,"new":-0}'],
    "columns": [b'{"rooms":3,"new":true,"colour":"\\ud800"}', b'{"size":-0,"rooms":3,"new":1}'],
    "bytes": [b"", b" " * 40], "tensors": [b"{}", b"[]", b'{"inputs":null}', b" \xef\xbb\xbf{}"],
}  # fmt: skip


@dataclass(frozen=True)
class Both:
    """Python's and the browser's decoder, for one contract."""

    name: str
    decode: Decode
    page: VerifyPage
    handle: int

    def python(self, data: bytes) -> Told:
        try:
            found = self.decode(data)
        except DecodeError as error:
            return error.code
        return {name: ([*values.shape], to_bytes(values)) for name, values in found.items()}

    def browser(self, files: list[bytes]) -> list[Told]:
        packed = [base64.b64encode(data).decode() for data in files]
        found: list[Told] = []
        for there in self.page.call("decode", self.handle, packed):
            if "error" in there:
                found.append(there["error"]["code"])
            else:
                found.append({t["name"]: (t["shape"], base64.b64decode(t["data"]))
                              for t in there["tensors"]})  # fmt: skip
        return found


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, digits: Contract) -> Path:
    """Networks that give back what they get, each under the contract of its kind."""
    folder = tmp_path_factory.mktemp("kinds")
    entries = {}
    for name, (spec, inputs) in SPECS.items():
        outputs = [t.model_copy(update={"name": f"of_{t.name}"}) for t in inputs]
        home = folder / name / "1"
        home.mkdir(parents=True)
        onnx.save(identity(inputs, outputs), home / "model.onnx")
        data = (home / "model.onnx").read_bytes()
        variant = digits.variants[0].model_copy(
            update={"file": "model.onnx", "size_bytes": len(data), "sha256": sha256(data)}
        )
        contract = digits.model_copy(update={
            "name": name, "version": 1, "labels": [], "input": spec, "inputs": inputs,
            "outputs": outputs, "variants": [variant], "best": {"wasm": variant.name},
            "decision": ValuesDecision(kind="values", values=[t.name for t in outputs]),
            "examples": [], "documents": [],
        })  # fmt: skip
        (home / "contract.json").write_bytes(to_json(contract))
        entries[name] = index_entry(folder, home, contract)
    (folder / "index.json").write_bytes(to_json(Index(schema_version=2, models=entries)))
    return folder


def identity(inputs: list[Tensor], outputs: list[Tensor]) -> onnx.ModelProto:
    types = {"float32": 1, "uint8": 2, "int32": 6, "int64": 7, "string": 8, "bool": 9}

    def values(told: list[Tensor]) -> list[onnx.ValueInfoProto]:
        return [helper.make_tensor_value_info(t.name, types[t.dtype], t.shape) for t in told]

    nodes = [
        helper.make_node("Identity", [one.name], [other.name])
        for one, other in zip(inputs, outputs, strict=True)
    ]
    graph = helper.make_graph(nodes, "identity", values(inputs), values(outputs))
    opset = [helper.make_opsetid("", 20)]
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=opset, ir_version=10)
    return model


@pytest.fixture(scope="module", params=list(SPECS))
def both(request: pytest.FixtureRequest, playwright: Playwright, models: Path) -> Iterator[Both]:
    name = str(request.param)
    spec, inputs = SPECS[name]
    with running_server(models, ROOT / "web/dist") as server:
        browser = launch(playwright)
        page = VerifyPage(browser, server.url, name)
        handle = int(page.call("load", page.models, {"threads": 1})["handle"])
        yield Both(name, decoder(spec, inputs, models), page, handle)
        browser.close()


def test_both_decoders_give_the_same(both: Both) -> None:
    rnd = random.Random(1)
    files = [*BY_HAND[both.name], *(FILES[both.name](rnd) for _ in range(COUNT))]
    here = [both.python(data) for data in files]
    there = both.browser(files)
    differing = [
        f"{data!r}: {one} and {other}"
        for data, one, other in zip(files, here, there, strict=True)
        if one != other
    ]
    assert not differing, "\n".join(differing[:5])
    taken = sum(isinstance(one, dict) for one in here)
    assert taken > COUNT / 10
    assert (taken < len(files)) == (both.name != "bytes")  # any bytes are an input
