"""The server answers tritonclient as onnxruntime answers directly, to the last bit."""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from export.contract import BackendResult, Contract, read_contract, read_index
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


@pytest.fixture(scope="module", params=sorted(read_index(MODELS / "index.json").models))
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
        judged = np.frombuffer((folder / example.outputs[0].file).read_bytes(), "<f4")
        for variant in contract.variants:
            result = variant.backends["cpu"]
            if result.status != "passed":
                continue
            limit = _limit(result)
            for sent, answered in [(a, b) for a in WAYS for b in WAYS]:
                key = f"{variant.name}/{sent}/{answered}/{example.id}"
                got = answers[f"{key}/{contract.decision.probabilities}"][0]
                assert np.abs(got - judged).max() <= limit, key


def test_the_best_labels_are_the_frameworks(
    contract: Contract, folder: Path, answers: Answers
) -> None:
    for example in contract.examples:
        judged = np.frombuffer((folder / example.outputs[0].file).read_bytes(), "<f4")
        best = np.argsort(-judged, kind="stable")[: contract.decision.top_k]
        for sent, answered in [(a, b) for a in WAYS for b in WAYS]:
            key = f"fp32/{sent}/{answered}/{example.id}/{contract.decision.top_indices}"
            assert answers[key][0].tolist() == best.tolist(), key


def _limit(result: BackendResult) -> float:
    if result.tolerance is not None:
        return result.tolerance
    # Where the recipe sets no limit to the difference, verify's measurement in batches is one.
    assert result.max_difference is not None
    return result.max_difference + 1e-6


def _direct(contract: Contract, folder: Path, file: str) -> dict[tuple[str, str], Any]:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(folder / file, options, providers=["CPUExecutionProvider"])
    declared = contract.inputs[0]
    found = {}
    for example in contract.examples:
        raw = (folder / example.tensors[0].file).read_bytes()
        shape = [size if isinstance(size, int) else 1 for size in declared.shape or []]
        pixels = np.frombuffer(raw, declared.dtype).reshape(shape)
        outputs = session.run(None, {declared.name: pixels})
        for tensor, value in zip(contract.outputs, outputs, strict=True):
            found[example.id, tensor.name] = value
    return found
