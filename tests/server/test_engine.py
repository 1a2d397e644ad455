"""The engine: deadlines, one session per file, nothing loaded from beside the model."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as h
import pytest

from export.contract import Tensor, read_contract
from server.engines import Task
from server.engines.local import LocalEngine
from server.errors import BadContract, Busy, TimedOut
from tests.server.publishing import publish

X = Tensor(name="x", dtype="float32", shape=["N", 4])
Y = Tensor(name="y", dtype="float32", shape=["N", 4])
SHAPE = h.make_tensor("s", onnx.TensorProto.INT64, [2], [1, 4])
ONES = np.ones((1, 4), np.float32)


def model(nodes: list[Any], initialisers: list[Any]) -> bytes:
    ends = [h.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["N", 4]) for n in "xy"]
    graph = h.make_graph(nodes, "g", ends[:1], ends[1:], initialisers)
    opsets = [h.make_opsetid("", 20)]
    made: bytes = h.make_model(graph, ir_version=10, opset_imports=opsets).SerializeToString()
    return made


@pytest.fixture
def endless() -> bytes:
    """A model that would loop for 2^62 rounds."""
    value = onnx.TensorProto
    body = h.make_graph(
        [h.make_node("Identity", ["go"], ["go_on"]), h.make_node("Sin", ["v"], ["w"])],
        "body",
        [
            h.make_tensor_value_info("i", value.INT64, []),
            h.make_tensor_value_info("go", value.BOOL, []),
            h.make_tensor_value_info("v", value.FLOAT, ["N", 4]),
        ],
        [
            h.make_tensor_value_info("go_on", value.BOOL, []),
            h.make_tensor_value_info("w", value.FLOAT, ["N", 4]),
        ],
    )
    counts = [h.make_tensor("n", value.INT64, [], [2**62]), h.make_tensor("t", value.BOOL, [], [1])]
    return model([h.make_node("Loop", ["n", "t", "x"], ["y"], body=body)], counts)


@pytest.fixture
def external() -> bytes:
    """A model whose weights are said to lie in a file beside it."""
    weights = onnx.TensorProto(
        name="w",
        data_type=onnx.TensorProto.FLOAT,
        dims=[4],
        data_location=onnx.TensorProto.EXTERNAL,
    )
    for key, value in {"location": "secret.bin", "offset": "0", "length": "16"}.items():
        weights.external_data.add(key=key, value=value)
    return model([h.make_node("Reshape", ["w", "s"], ["y"])], [weights, SHAPE])


@pytest.fixture
def doubling() -> bytes:
    return model([h.make_node("Add", ["x", "x"], ["y"])], [])


def task(tmp_path: Path, data: bytes, outputs: list[Tensor] | None = None) -> Task:
    publish(tmp_path, "made", data, X, outputs or [Y])
    contract = read_contract(tmp_path / "made/1/contract.json")
    return Task(contract, contract.variants[0], lambda: data, {"x": ONES}, ["y"])


def engine(**changes: Any) -> LocalEngine:
    return LocalEngine(**{"threads": 1, "at_once": 1, "timeout_s": 0.5, **changes})


def test_a_run_past_its_deadline_is_stopped_and_frees_its_place(
    tmp_path: Path, endless: bytes
) -> None:
    run, one = engine(), task(tmp_path, endless)
    for _ in range(2):
        with pytest.raises(TimedOut, match=r"made/1 model\.onnx: stopped after 0\.5 s"):
            run.infer(one)


def test_a_task_that_finds_no_free_place_in_time_is_told_so(tmp_path: Path, endless: bytes) -> None:
    run, one = engine(timeout_s=1), task(tmp_path, endless)
    with ThreadPoolExecutor(3) as pool:
        errors = [pool.submit(run.infer, one).exception() for _ in range(1)]
        errors += [future.exception() for future in [pool.submit(run.infer, one) for _ in range(3)]]
    assert {type(error) for error in errors} <= {TimedOut, Busy}
    assert Busy in {type(error) for error in errors}


def test_weights_from_a_file_beside_the_model_are_refused(
    tmp_path: Path, external: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadContract, match="onnxruntime cannot load the model"):
        engine().infer(task(tmp_path, external))


def test_a_model_with_other_outputs_than_its_contract_is_refused(
    tmp_path: Path, doubling: bytes
) -> None:
    other = [Tensor(name="y", dtype="int64", shape=["N", 4])]
    with pytest.raises(BadContract, match="not those of its contract"):
        engine().infer(task(tmp_path, doubling, other))


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadContract, match="cannot load"):
        engine().infer(task(tmp_path, b"no model"))


def test_the_file_is_read_once_for_many_runs(tmp_path: Path, doubling: bytes) -> None:
    reads: list[int] = []

    def read() -> bytes:
        reads.append(1)
        return doubling

    one, run = replace(task(tmp_path, doubling), read=read), engine(at_once=4, timeout_s=30)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: run.infer(one)[0], range(50)))
    assert len(reads) == 1
    assert all((answer == 2 * ONES).all() for answer in answers)


def test_a_slow_load_keeps_nobody_else_waiting(tmp_path: Path, doubling: bytes) -> None:
    reading, go_on = threading.Event(), threading.Event()

    def read_slowly() -> bytes:
        reading.set()
        go_on.wait(30)
        return doubling

    quick = task(tmp_path, doubling)
    variant = quick.variant.model_copy(update={"sha256": "0" * 64})
    slow = replace(quick, variant=variant, read=read_slowly)
    run = engine(timeout_s=1)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(run.infer, slow)
        try:
            assert reading.wait(10)
            second = pool.submit(run.infer, slow)
            assert (run.infer(quick)[0] == 2 * ONES).all()
            assert isinstance(second.exception(10), Busy)
            assert not first.done()
        finally:
            go_on.set()
        assert (first.result(10)[0] == 2 * ONES).all()
