"""likewise init on models that nobody here made: the draft, filled in where it asks, is built."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper, numpy_helper

from export.cli import main
from export.contract import read_contract
from export.recipe import read_recipe
from export.sample import SourceContext
from export.workspace import ROOT, Workspace
from tests.export.foreign import FOREIGN, Foreign, packages_of, silero_whole
from tests.export.sourced import checked

WHOLE_WAY = ("torchscript", "onnx")  # with the browser; the others up to the check
ENVIRONMENTS = Workspace().work / "environments"
ASKED = {
    "# TODO: a title, one sentence on what it does, and the model's licence\n": "",
    'description = ""': 'description = "What it does."',
    'licence     = ""': 'licence     = "Apache-2.0"',
    'about = ""   # TODO: what data the examples are, and their licence': (
        'about = "Real inputs, of packages."'
    ),
}


def build(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "export", "build", *map(str, command)], cwd=ROOT,
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def init(*command: str | Path) -> Result:
    return CliRunner().invoke(main, ["init", *map(str, command)])


def filled(draft: str, foreign: Foreign) -> str:
    """The draft with each thing that a TODO asks for written, and nothing else changed."""
    for asked, written in {**ASKED, **foreign.fills}.items():
        assert draft.count(asked) == 1, asked
        draft = draft.replace(asked, written)
    return re.sub(r" *# TODO:.*", "", draft)  # what remains was asked and is right as it stands


def largest_difference(contract_folder: Path) -> float:
    """Of fp32, where it is offered."""
    evidence = json.loads((contract_folder / "evidence.json").read_text())
    return max(
        float(m["value"]) for m in evidence["measurements"]
        if m["what"] == "max_difference" and m["variant"] == "fp32" and m["passed"] is not False
    )  # fmt: skip


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_draft_builds_once_its_todo_lines_are_filled_in(tmp_path: Path, kind: str) -> None:
    foreign = FOREIGN[kind]
    if foreign.tensorflow and os.environ.get("LIKEWISE_SKIP_TENSORFLOW"):
        pytest.skip("LIKEWISE_SKIP_TENSORFLOW is set; TensorFlow's environment takes 1.7 GB")
    packages = packages_of(foreign)
    (tmp_path / "given").mkdir()
    given = foreign.model(packages, tmp_path / "given")
    models, work = tmp_path / "models", tmp_path / "work"
    work.mkdir()
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)  # a fresh checkout has none yet
    (work / "environments").symlink_to(ENVIRONMENTS)

    done = init(given, "--name", "foreign", "--models", models, "--work", work, "--json")
    assert done.exit_code == 0, done.stderr
    recipe = models / "foreign/recipe.toml"
    draft = recipe.read_text()
    written = [line.partition("   #")[0].rstrip() for line in draft.splitlines()]
    assert [line for line in foreign.knew if line not in written] == []
    assert len(json.loads(done.stdout)["todo"]) == draft.count("# TODO:")
    recipe.write_text(filled(draft, foreign))
    foreign.examples(packages, recipe.parent)

    if kind in WHOLE_WAY:
        built = build("foreign", "--models", models, "--work", work, "--json")
        assert built.returncode == 0, built.stdout + built.stderr
        version = models / "foreign/1"
        assert read_contract(version / "contract.json").provenance.source_kind == kind
        assert 0 <= largest_difference(version) <= 1e-3
    else:
        exported = checked(
            read_recipe(models, "foreign"), work, SourceContext({}, work, ENVIRONMENTS)
        )
        assert len(exported.sourced.examples.samples) >= 6
        assert exported.parameters > 10_000


def test_the_console_says_which_line_asks_what(tmp_path: Path) -> None:
    onnx.save(network([2, 3]), tmp_path / "My Net.onnx")
    done = init(tmp_path / "My Net.onnx", "--models", tmp_path / "models")
    assert done.exit_code == 0, done.stderr
    recipe = tmp_path / "models/my-net/recipe.toml"
    assert f"Wrote {recipe}. Before `likewise build my-net`:" in done.stdout
    lines = recipe.read_text().splitlines()
    told = re.findall(r"- line (\d+): (?:(\w+): )?(.+)", done.stdout)
    assert told
    for number, key, text in told:
        assert lines[int(number) - 1].startswith(key or "# TODO")
        assert lines[int(number) - 1].endswith(text)


def network(sizes: list[int | str], dtype: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """x of these sizes to x + x."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["y"], "twice")], "twice",
        [value("x", dtype, ["N", *sizes])], [value("y", dtype, ["N", *sizes])],
    )  # fmt: skip
    model: onnx.ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    return model


def text_file(folder: Path) -> Path:
    (folder / "notes.txt").write_text("not a model")
    return folder / "notes.txt"


def html(folder: Path) -> Path:
    (folder / "model.onnx").write_text("<html>not found</html>")
    return folder / "model.onnx"


def empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def pickled(folder: Path) -> Path:
    (folder / "iris.pkl").write_bytes(pickle.dumps({"not": "loaded"}))
    return folder / "iris.pkl"


def weights(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "weights.pt", "w") as opened:
        opened.writestr("weights/data.pkl", b"x")
        opened.writestr("weights/version", b"3")
    return folder / "weights.pt"


def hostile(folder: Path) -> Path:
    """Weights that are said to lie outside of the folder."""
    model = network([4])
    tensor = numpy_helper.from_array(np.ones(4, np.float32), "w")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../../etc/passwd")
    model.graph.initializer.append(tensor)
    model.graph.node[0].input[1] = "w"
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder / "model.onnx"


def halves(folder: Path) -> Path:
    onnx.save(network([4], TensorProto.FLOAT16), folder / "half.onnx")
    return folder / "half.onnx"


def whole_silero(_folder: Path) -> Path:
    return silero_whole(packages_of(FOREIGN["torchscript"]))


REFUSED = {
    text_file: r"notes\.txt: \.txt is not known; known are \.onnx, .*can be converted",
    html: r"model\.onnx: is a web page, so the download went wrong",
    empty: r"empty: no onnx/model\.onnx or model\.onnx in it",
    pickled: r"iris\.pkl is a pickle: .*say --trust if you know who made it",
    weights: r'weights\.pt: PyTorch cannot load .*\[source\] kind = "torch", entry',
    hostile: r"model\.onnx: .*etc/passwd",
    halves: r"half\.onnx: the input x is float16; given can be bool, .*Save the model",
    whole_silero: r"forward\(x: Tensor, sr: int\) asks for sr, .*its part _model or _model_8k",
}


@pytest.mark.parametrize("make", REFUSED)
def test_what_is_no_model_to_begin_with_is_refused_and_nothing_is_left(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    models = tmp_path / "models"
    done = init(make(tmp_path), "--models", models)
    assert done.exit_code == 1
    assert re.search(REFUSED[make], done.stderr, re.DOTALL), done.stderr
    assert not models.exists()


def test_a_trusted_pickle_of_anything_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.joblib").write_bytes(pickle.dumps({1: 2}))
    done = init(tmp_path / "notes.joblib", "--models", tmp_path / "models", "--trust")
    assert done.exit_code == 1
    assert "notes.joblib: dict is no estimator" in done.stderr
    assert not (tmp_path / "models").exists()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = init(tmp_path / "gone.onnx", "--models", tmp_path)
    assert f"{tmp_path}/gone.onnx: there is no such file or folder" in done.stderr


def test_an_existing_recipe_is_not_overwritten(tmp_path: Path) -> None:
    onnx.save(network([4]), tmp_path / "net.onnx")
    (tmp_path / "net").mkdir()
    (tmp_path / "net/recipe.toml").write_text("mine")
    done = init(tmp_path / "net.onnx", "--models", tmp_path)
    assert done.exit_code == 1
    assert f"{tmp_path}/net: exists already; give another name with --name" in done.stderr
    assert (tmp_path / "net/recipe.toml").read_text() == "mine"


@pytest.mark.parametrize("name", ["Net", "../net", "1", "a_b"])
def test_what_cannot_be_a_name_is_refused(tmp_path: Path, name: str) -> None:
    onnx.save(network([4]), tmp_path / "net.onnx")
    done = init(tmp_path / "net.onnx", "--models", tmp_path / "models", "--name", name)
    assert done.exit_code == 1
    assert f"{name!r} cannot be a model's name" in done.stderr
    assert not (tmp_path / "models").exists()
