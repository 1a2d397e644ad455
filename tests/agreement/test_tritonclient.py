"""The server answers tritonclient as onnxruntime answers directly, to the last bit."""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export.contract import (
    BackendResult,
    Contract,
    ScoresDecision,
    TensorFile,
    read_contract,
    read_index,
)
from export.runtime import Session
from export.tensor_bytes import from_bytes
from export.tensors import Array
from server.process import running_server

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
LOCK = ROOT / "requirements/tritonclient.txt"
SCRIPT = Path(__file__).with_name("tritonclient_golden.py")
WAYS = ("json", "binary")

Answers = dict[str, np.ndarray[Any, Any]]


@pytest.fixture(scope="module")
def python() -> Path:
    """Python of tritonclient's own environment, made on first use and when its lock changes."""
    folder = ROOT / ".likewise/venvs/tritonclient"
    done, lock = folder / "installed", sha256(LOCK.read_bytes()).hexdigest()
    python = folder / "bin/python"
    if not done.is_file() or done.read_text() != lock:
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(LOCK)]
        made = subprocess.run([str(python), *install], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr[-3000:]
        done.write_text(lock)
    return python


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(MODELS, tmp_path_factory.mktemp("web")) as server:
        yield server.url


def single_step_models() -> list[str]:
    """Published models that answer in one request; a stream's states are the client's to carry."""
    entries = read_index(MODELS / "index.json").models
    return sorted(
        name
        for name, entry in entries.items()
        if getattr(read_contract(MODELS / entry.contract.file).input, "stream", None) is None
    )


@pytest.fixture(scope="module", params=single_step_models())
def folder(request: pytest.FixtureRequest) -> Path:
    """The current version of each published model."""
    entry = read_index(MODELS / "index.json").models[request.param]
    return (MODELS / entry.contract.file).parent


@pytest.fixture(scope="module")
def contract(folder: Path) -> Contract:
    return read_contract(folder / "contract.json")


@pytest.fixture(scope="module")
def answers(
    python: Path, url: str, contract: Contract, folder: Path, tmp_path_factory: Any
) -> Answers:
    """What tritonclient got, by `variant/sent/answered/example/output`."""
    out = tmp_path_factory.mktemp("answers") / "answers.npz"
    # Isolated, so that it can only see its own packages.
    arguments = ["-I", str(SCRIPT), url, str(folder), str(out)]
    ran = subprocess.run([str(python), *arguments], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    with np.load(out) as arrays:
        return {name: arrays[name] for name in arrays}


def test_tritonclient_got_every_example_every_way(contract: Contract, answers: Answers) -> None:
    passing = [v for v in contract.variants if v.backends["cpu"].status == "passed"]
    expected = len(passing) * len(contract.examples) * len(WAYS) ** 2 * len(contract.outputs)
    assert passing
    assert len(answers) == expected > 0


def test_answers_are_those_of_onnxruntime_to_the_last_bit(
    contract: Contract, folder: Path, answers: Answers
) -> None:
    compared = 0
    for variant in contract.variants:
        if variant.backends["cpu"].status != "passed":
            continue
        direct = _direct(contract, folder, variant.file)
        for key, got in answers.items():
            name, _, _, example, output = key.split("/")
            if name == variant.name:
                expected = direct[example, output]
                assert (got.dtype, got.shape) == (expected.dtype, expected.shape), key
                assert got.tobytes() == expected.tobytes(), key
                compared += 1
    assert compared == len(answers) > 0


def test_answers_are_within_the_contracts_tolerance_of_the_framework(
    contract: Contract, folder: Path, answers: Answers
) -> None:
    for example in contract.examples:
        for judged in example.outputs:
            right = _read(folder, judged)
            for variant in contract.variants:
                result = variant.backends["cpu"]
                if result.status != "passed":
                    continue
                for sent, answered in product(WAYS, WAYS):
                    key = f"{variant.name}/{sent}/{answered}/{example.id}/{judged.name}"
                    assert _gap(answers[key], _plain(right)) <= _limit(result), key


def test_the_best_labels_are_the_frameworks(
    contract: Contract, folder: Path, answers: Answers
) -> None:
    if not isinstance(contract.decision, ScoresDecision):
        return  # nothing is best
    for example in contract.examples:
        judged = np.frombuffer((folder / example.outputs[0].file).read_bytes(), "<f4")
        best = np.argsort(-judged, kind="stable")[: contract.decision.top_k]
        for sent, answered in product(WAYS, WAYS):
            key = f"fp32/{sent}/{answered}/{example.id}/{contract.decision.top_indices}"
            assert answers[key][0].tolist() == best.tolist(), key


def _limit(result: BackendResult) -> float:
    if result.tolerance is not None:
        return result.tolerance
    # Where the recipe sets no limit to the difference, verify's measurement in batches is one.
    assert result.max_difference is not None
    return result.max_difference + 1e-6


def _read(folder: Path, tensor: TensorFile) -> Array:
    shape = [int(str(size)) for size in tensor.shape or []]
    return from_bytes((folder / tensor.file).read_bytes(), tensor.dtype, shape)


def _direct(contract: Contract, folder: Path, file: str) -> dict[tuple[str, str], Any]:
    session = Session(folder / file)
    found = {}
    for example in contract.examples:
        given = {t.name: _read(folder, t) for t in example.tensors}
        for name, value in session.run_batch(given).items():
            found[example.id, name] = _plain(value)
    return found


def _plain(values: Array) -> Array:
    return values.astype(str) if values.dtype == object else values


def _gap(got: Array, right: Array) -> float:
    """The largest difference; of texts, 0 when they are equal and else endless."""
    assert got.shape == right.shape
    if right.dtype.kind == "U":
        return 0 if np.array_equal(got, right) else np.inf
    return float(np.abs(got.astype(np.float64) - right.astype(np.float64)).max())
