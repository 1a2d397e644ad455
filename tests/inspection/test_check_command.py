"""`likewise check FILE`, as a person and a machine call it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.conformance.in_page import WEB
from tests.hostile import make_hostile as hostile

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases"


def check(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    program = "from export.commands.check import check; check()"
    command = [sys.executable, "-c", program, "--web", WEB, *arguments]
    return subprocess.run(
        [*map(str, command)], capture_output=True, text=True, cwd=ROOT, timeout=300
    )


def document(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def runtime(told: Any, backend: str) -> Any:
    return next(one for one in told["runtimes"] if one["backend"] == backend)


def test_a_model_that_runs_everywhere_is_told_as_such() -> None:
    done = check("--json", CASES / "web-int64-ids" / "model.onnx")
    told = document(done)
    assert done.returncode == 0
    assert told["holds"]
    assert told["reasons"] == []
    for backend in ("cpu", "wasm", "webgpu"):
        one = runtime(told, backend)
        assert (one["loads"], one["runs"], one["agrees"]) == (True, True, True), one
        assert "1.30.0" in one["runtime"]


def test_what_is_missing_is_told_operator_by_operator() -> None:
    done = check(CASES / "browser-bundle-choice" / "encoder_ml.onnx")
    assert done.returncode == 0  # wasm has it, and the page takes wasm
    lines = done.stdout.splitlines()
    missing = [line for line in lines if line.startswith("ai.onnx.ml.LabelEncoder")]
    assert len(missing) == 1
    assert "webgpu" in missing[0]
    assert not [line for line in lines if line.startswith(("Cast ", "Concat ", "Reshape "))]


def test_an_operator_that_no_runtime_has_is_named(tmp_path: Path) -> None:
    """FlexAttention-like: known to onnx, implemented nowhere here."""
    node = helper.make_node("ImageDecoder", ["x"], ["y"])
    made = hostile.model(
        [node], inputs=[helper.make_tensor_value_info("x", TensorProto.UINT8, ["N"])],
        outputs=[helper.make_tensor_value_info("y", TensorProto.UINT8, [None] * 3)],
    )  # fmt: skip
    done = check("--json", hostile.saved(made, tmp_path))
    told = document(done)
    assert done.returncode == 1
    assert not told["holds"]
    assert [one["loads"] for one in told["runtimes"]] == [False, False, False]
    assert len(told["missing_operators"]["ImageDecoder"]) == 3


def test_a_hostile_file_is_refused_before_a_browser_sees_it(tmp_path: Path) -> None:
    path = hostile.endless_loop(tmp_path)
    done = check("--json", "--seconds", "3", path)
    told = document(done)
    assert done.returncode == 1
    assert [reason["code"] for reason in told["reasons"]] == ["runaway-loop"]
    assert runtime(told, "wasm")["loads"] is None
    assert runtime(told, "wasm")["why"]["code"] == "runaway-loop"


def test_a_frozen_batch_is_told_even_where_every_runtime_agrees() -> None:
    done = check(CASES / "export-batch-loop-baked" / "legacy.onnx")
    assert "Before it can be published:" in done.stdout
    assert "frozen batch: 3 rows in, 1 row out (y)" in done.stdout


def test_own_feeds_and_sizes_are_used(tmp_path: Path) -> None:
    """Rows must be given three at a time: only who knows that can run it."""
    shape = numpy_helper.from_array(np.array([-1, 21]), "shape")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "width"])
    made = hostile.model([helper.make_node("Reshape", ["x", "shape"], ["y"])], inputs=[x],
                         weights=[shape])  # fmt: skip
    path = hostile.saved(made, tmp_path)
    refused = document(check("--json", "--size", "width=5", path))
    assert runtime(refused, "cpu")["why"]["code"] == "cannot-run"
    assert "--size NAME=N" in runtime(refused, "cpu")["why"]["message"]
    assert document(check("--json", "--size", "width=21", path))["holds"]
    np.savez(tmp_path / "feeds.npz", x=np.ones((4, 42), np.float32))
    given = document(check("--json", "--feeds", tmp_path / "feeds.npz", path))
    assert (given["holds"], given["batches"]) == (True, [1, 4])


def test_a_file_that_is_not_there_is_told_in_the_same_shape(tmp_path: Path) -> None:
    done = check("--json", tmp_path / "no.onnx")
    assert done.returncode == 1
    assert document(done)["reasons"][0]["code"] == "not-found"


def test_without_a_built_page_the_command_says_how_to_build_it(tmp_path: Path) -> None:
    done = check("--json", "--web", tmp_path, CASES / "web-int64-ids" / "model.onnx")
    assert done.returncode == 1
    assert document(done)["error"]["code"] == "not-set-up"
    assert "make web" in document(done)["error"]["message"]


@pytest.mark.parametrize("markup", ["[red]x[/red]", "[link=https://example.org]y[/link]"])
def test_a_file_s_own_words_are_no_markup(markup: str, tmp_path: Path) -> None:
    made = hostile.good()
    made.graph.node[0].op_type = markup
    done = check(hostile.saved(made, tmp_path))
    assert markup in done.stdout
    assert onnx.load(tmp_path / "model.onnx").graph.node[0].op_type == markup
