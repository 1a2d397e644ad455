"""All kinds but pictures: Python's decoder and the browser's on the same random files."""

from __future__ import annotations

import base64
import json
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Playwright

from export.browser import VerifyPage, launch
from export.contract import Contract
from export.decode import Decode, decoder
from export.errors import DecodeError
from export.tensor_bytes import to_bytes
from export.workspace import ROOT
from server.process import running_server
from tests.kinds import GAPS, GIVEN, SPECS, WORDS, publish_all

COUNT = 600  # files of a kind
Told = str | dict[str, tuple[list[int], bytes]]
"""The code of a refusal, or each tensor's shape and bytes."""

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


def text(rnd: random.Random) -> bytes:
    """Words of many scripts, rarely nothing, a NUL or bytes that are no UTF-8."""
    pieces = [rnd.choice(WORDS) + rnd.choice(GAPS) for _ in range(rnd.randrange(1, 30))]
    if rnd.random() < 0.5:
        pieces += [chr(rnd.randrange(32, 127)) for _ in range(20)]
        rnd.shuffle(pieces)
    found = rnd.choice(["", "", "", "\ufeff"]) + "".join(pieces)
    if rnd.random() < 0.05:
        return rnd.choice([b"", b" \n\t", b"a\0b", b"\xff\xfea", "\u3000".encode()])
    return found.encode()


def wav(rnd: random.Random) -> bytes:
    """A WAV of any format that is read, or rarely one that is not."""
    tag, bits = rnd.choice([(1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)])
    channels, frames = rnd.choice([1, 1, 2, 3, 6]), rnd.choice([1, 2, 50, 700, 3000])
    rate = rnd.choice([8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000, 7_919])
    if tag == 3:
        loud = rnd.choice([1.0, 1e-3, 1e-42, 3e38])
        values = [loud * rnd.uniform(-1, 1) for _ in range(frames * channels)]
        if rnd.random() < 0.1:
            values[0] = rnd.choice([float("nan"), float("inf"), 1e39 if bits == 64 else 0.0])
        data = np.array(values, f"<f{bits // 8}").tobytes()
    else:
        data = rnd.randbytes(frames * channels * bits // 8)
    told, tail = tag, b""
    if rnd.random() < 0.2:
        told = 0xFFFE
        tail = struct.pack("<HHIH", 22, bits, 0, tag) + bytes.fromhex(SUBFORMAT_TAIL)
    block = channels * bits // 8
    format_ = struct.pack("<HHIIHH", told, channels, rate, rate * block, block, bits) + tail
    chunks = [(b"fmt ", format_), (b"LIST", rnd.randbytes(rnd.randrange(4))), (b"data", data)]
    if rnd.random() < 0.05:
        chunks = rnd.sample(chunks, 2)
    body = b"".join(
        kind + struct.pack("<I", len(held)) + held + b"\0" * (len(held) % 2)
        for kind, held in chunks
    )
    found = b"RIFF" + struct.pack("<I", len(body) + 4) + b"WAVE" + body
    return found[: rnd.randrange(len(found))] if rnd.random() < 0.05 else found


SUBFORMAT_TAIL = "000000001000800000aa00389b71"
FILES: dict[str, Callable[[random.Random], bytes]] = {
    "matrix": table, "columns": table, "bytes": some_bytes, "tensors": request, "sound": wav,
    "window": wav, "wordpiece": text, "byte-pairs": text,
}  # fmt: skip
BY_HAND = {
    "matrix": [b"", b"\xff{", b'{"size":NaN}', b'{"size":1,"size":2,"rooms":1e0,"new":-0}'],
    "columns": [b'{"rooms":3,"new":true,"colour":"\\ud800"}', b'{"size":-0,"rooms":3,"new":1}'],
    "sound": [b"", b"RIFF", b"OggS" + bytes(40)], "window": [],
    "wordpiece": [b"[CLS] [SEP] [PAD]", b"a" * 1_000_001], "byte-pairs": [b"<|end|>"],
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
def published(tmp_path_factory: pytest.TempPathFactory, digits: Contract) -> Path:
    """A version of every kind."""
    folder = tmp_path_factory.mktemp("kinds")
    publish_all(folder, digits)
    return folder


@pytest.fixture(scope="module", params=list(SPECS))
def both(request: pytest.FixtureRequest, playwright: Playwright, published: Path) -> Iterator[Both]:
    name = str(request.param)
    spec, inputs = SPECS[name]
    with running_server(published, ROOT / "web/dist") as server:
        browser = launch(playwright)
        page = VerifyPage(browser, server.url, name)
        handle = int(page.call("load", page.models, {"threads": 1})["handle"])
        yield Both(name, decoder(spec, inputs, published / name / "1"), page, handle)
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
