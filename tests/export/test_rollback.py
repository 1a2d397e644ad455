"""Going back to an earlier version: recorded, checked, all or nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from export.contract import IndexEntry, Tensor, read_index
from export.errors import ContractError, Refused
from export.stages.rollback import rollback
from export.workspace import ROOT
from tests.server.publishing import copy_version, list_version, publish

NAME = "doubling"


def doubling() -> bytes:
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 2])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 2])
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "g", [value], [result])
    model: onnx.ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10
    )
    data: bytes = model.SerializeToString()
    return data


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Versions 1 to 3 of one model; 3 is the current one."""
    x, y = (Tensor(name=name, dtype="float32", shape=["batch", 2]) for name in "xy")
    publish(tmp_path, NAME, doubling(), [x], [y])
    for version in (2, 3):
        copy_version(tmp_path, NAME, version - 1, version)
        list_version(tmp_path, NAME, version)
    return tmp_path


def entry(models: Path) -> IndexEntry:
    return read_index(models / "index.json").models[NAME]


def spoil(models: Path, version: int) -> None:
    path = models / NAME / str(version) / "model.onnx"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_an_earlier_version_is_current_again_and_the_record_says_who_and_why(
    models: Path,
) -> None:
    event = rollback(models, NAME, 1, by="Ada", why="3 is slower")
    now = entry(models)
    assert (now.version, now.versions) == (1, [1, 2, 3])
    assert now.contract.file == f"{NAME}/1/contract.json"
    assert now.history[-1] == event
    assert (event.action, event.version, event.by, event.why) == (
        "rollback", 1, "Ada", "3 is slower",
    )  # fmt: skip
    assert (models / NAME / "3/contract.json").exists()


def test_every_rollback_is_added_to_the_record(models: Path) -> None:
    for version in (2, 1, 3):
        rollback(models, NAME, version)
    assert [event.version for event in entry(models).history] == [2, 1, 3]


def test_without_a_version_the_one_that_was_current_before_comes_back(models: Path) -> None:
    rollback(models, NAME, 1)
    rollback(models, NAME, 2)
    assert rollback(models, NAME).version == 1
    assert rollback(models, NAME).version == 2


def test_without_a_version_and_without_a_record_nothing_is_guessed(models: Path) -> None:
    before = (models / "index.json").read_bytes()
    with pytest.raises(Refused, match="no version was current before"):
        rollback(models, NAME)
    assert (models / "index.json").read_bytes() == before


def test_a_version_with_a_changed_byte_is_refused_by_the_files_name(models: Path) -> None:
    spoil(models, 2)
    before = (models / "index.json").read_bytes()
    with pytest.raises(Refused, match=rf"{NAME}/2 model\.onnx: not the bytes"):
        rollback(models, NAME, 2)
    assert (models / "index.json").read_bytes() == before


def test_a_version_with_a_missing_file_is_refused(models: Path) -> None:
    (models / NAME / "2/model.onnx").unlink()
    with pytest.raises(Refused, match=rf"{NAME}/2 model\.onnx: missing"):
        rollback(models, NAME, 2)


def test_a_version_without_a_contract_is_refused(models: Path) -> None:
    (models / NAME / "2/contract.json").unlink()
    with pytest.raises(ContractError, match=r"contract\.json: cannot be read"):
        rollback(models, NAME, 2)


def test_a_folder_whose_contract_is_another_versions_is_refused(models: Path) -> None:
    path = models / NAME / "1/contract.json"
    path.write_bytes((models / NAME / "3/contract.json").read_bytes())
    before = (models / "index.json").read_bytes()
    with pytest.raises(Refused, match=f"{NAME}/1"):
        rollback(models, NAME, 1)
    assert (models / "index.json").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "version", "told"),
    [
        (NAME, 9, "no such version; published: 1, 2, 3"),
        (NAME, 3, "is the current version already"),
        ("tripling", 1, f"nothing of that name is published; published: {NAME}"),
    ],
)
def test_what_cannot_be_gone_back_to_is_told(
    models: Path, name: str, version: int, told: str
) -> None:
    with pytest.raises(Refused, match=told):
        rollback(models, name, version)


def test_a_folder_that_was_never_published_is_no_version(models: Path) -> None:
    copy_version(models, NAME, 3, 4)
    with pytest.raises(Refused, match="no such version"):
        rollback(models, NAME, 4)


def command(models: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "export", "rollback", NAME, *more, "--models", str(models)],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_the_command_goes_back_and_answers_in_json(models: Path) -> None:
    done = command(models, "2", "--by", "Ada", "--why", "a test", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["action"], told["version"], told["by"], told["why"]) == (
        "rollback", 2, "Ada", "a test",
    )  # fmt: skip
    assert entry(models).version == 2


def test_the_command_tells_a_refusal_in_a_line_and_fails(models: Path) -> None:
    spoil(models, 1)
    done = command(models, "1")
    assert done.returncode == 1
    assert done.stderr.startswith("refused: ")
    assert "Traceback" not in done.stderr
    assert entry(models).version == 3
