"""SavedModels and TFLite files, made by TensorFlow itself, answer in ONNX as in TensorFlow."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest

from export.errors import RecipeError, SetupError, SourceError
from export.recipe import Recipe
from export.sample import SourceContext
from export.sources import environment
from export.sources.environment import COMPLETE, python_of
from export.sources.from_tensorflow import TensorFlowSource, open_model
from export.sources.worker import Worker
from export.workspace import Workspace
from tests.export.sourced import differences, exported, feeds, loaded, tensors, write

ENVIRONMENTS = Workspace().work / "environments"
CONTEXT = SourceContext({}, Path(), ENVIRONMENTS, say=print)
PICTURES = tensors({"input": ("float32", ["batch", 8, 8, 1])}, ["scores"])
FLAT = tensors({"input": ("float32", ["batch", 64])}, ["scores"])
# File; the largest difference from TensorFlow. One step of the softmax's int8 is 1/256; TFLite
# rounds each layer's activations where only the weights are integers.
FILES = {
    "pictures": 1e-6, "float.tflite": 1e-6, "one-row.tflite": 1e-6, "weights.tflite": 1e-2,
    "int8.tflite": 1 / 255, "uint8.tflite": 1 / 255,
}  # fmt: skip
needs_tensorflow = pytest.mark.skipif(
    bool(os.environ.get("LIKEWISE_SKIP_TENSORFLOW")),
    reason="LIKEWISE_SKIP_TENSORFLOW is set; TensorFlow's environment takes 1.7 GB",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every model, by TensorFlow in its environment, which is made where it is missing."""
    folder = tmp_path_factory.mktemp("tensorflow")
    python = python_of("tensorflow", ENVIRONMENTS, print)
    script = Path(__file__).with_name("tensorflow_models.py")
    done = subprocess.run(
        [python, script, folder], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


@pytest.fixture(scope="module")
def opened(made: Path) -> Callable[[str], Worker]:
    """The process that holds a file, started once: TensorFlow takes seconds to start."""
    return cache(lambda name: open_model(kind_of(name), made / name, CONTEXT))


def kind_of(name: str) -> str:
    return "tflite" if name.endswith(".tflite") else "tensorflow"


def recipe_of(tmp_path: Path, name: str, body: str, more: str = "") -> Recipe:
    return write(tmp_path, f'kind = "{kind_of(name)}"\nfile = "{name}"\n{more}', body)


def source_of(recipe: Recipe, opened: Callable[[str], Worker]) -> TensorFlowSource:
    name = recipe.file.source.file or ""
    return TensorFlowSource(recipe, Path(name), opened(name))


@needs_tensorflow
@pytest.mark.parametrize("name", FILES)
def test_the_file_answers_as_tensorflow_alone_and_in_batches(
    tmp_path: Path, opened: Callable[[str], Worker], name: str
) -> None:
    recipe = recipe_of(tmp_path, name, PICTURES)
    source = source_of(recipe, opened)
    path = exported(source, tmp_path)
    assert source.judge.startswith("TensorFlow")
    assert onnx.load(path).graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    for batch in (1, 3):
        given = feeds(recipe, batch)
        assert differences(source, path, given)["scores"] <= FILES[name]
        assert source.infer(given)["scores"].sum(1) == pytest.approx(1, abs=0.02)


@needs_tensorflow
def test_inputs_and_outputs_are_those_that_the_recipe_names(
    tmp_path: Path, opened: Callable[[str], Worker]
) -> None:
    row: list[int | str] = ["batch", 4]
    body = tensors({"a": ("float32", row), "b": ("float32", row)}, ["sum", "product"])
    more = 'inputs = { a = "left", b = "right" }\noutputs = { sum = "total" }'
    recipe = recipe_of(tmp_path, "two", body, more)
    source = source_of(recipe, opened)
    path = exported(source, tmp_path)
    given = feeds(recipe, 3)
    weights = np.arange(8, dtype=np.float32).reshape(4, 2)
    assert source.infer(given)["sum"] == pytest.approx((given["a"] - 2 * given["b"]) @ weights)
    assert max(differences(source, path, given).values()) < 1e-6
    assert [value.name for value in onnx.load(path).graph.output] == ["sum", "product"]


@needs_tensorflow
def test_a_model_of_tensorflow_1_is_read(tmp_path: Path, opened: Callable[[str], Worker]) -> None:
    recipe = recipe_of(tmp_path, "version-1", tensors({"x": ("float32", ["batch", 4])}, ["y"]))
    source = source_of(recipe, opened)
    path = exported(source, tmp_path)
    assert differences(source, path, feeds(recipe, 3))["y"] < 1e-6


@needs_tensorflow
def test_an_input_of_another_rank_is_reshaped_where_that_is_certain(
    tmp_path: Path, opened: Callable[[str], Worker]
) -> None:
    recipe = recipe_of(tmp_path, "pictures", FLAT)
    source = source_of(recipe, opened)
    path = exported(source, tmp_path)
    assert differences(source, path, feeds(recipe, 3))["scores"] < 1e-6


@needs_tensorflow
def test_a_recipe_that_names_nothing_of_the_file_is_told_what_there_is(
    tmp_path: Path, opened: Callable[[str], Worker]
) -> None:
    body = tensors({"a": ("float32", ["batch", 4]), "b": ("float32", ["batch", 4])}, ["sum"])
    recipe = recipe_of(tmp_path, "two", body)
    with pytest.raises(RecipeError, match=r'two has left, right; say which is "a"'):
        source_of(recipe, opened)


@needs_tensorflow
def test_an_input_that_the_recipe_leaves_out_is_named(
    tmp_path: Path, opened: Callable[[str], Worker]
) -> None:
    body = tensors({"left": ("float32", ["batch", 4])}, ["total"])
    recipe = recipe_of(tmp_path, "two", body)
    with pytest.raises(RecipeError, match="two also takes right"):
        source_of(recipe, opened)


@needs_tensorflow
def test_what_is_no_tflite_file_is_refused_by_name(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, "broken.tflite", PICTURES)
    (recipe.folder / "broken.tflite").write_bytes(b"<html>not found</html>")
    with pytest.raises(SourceError, match=r"broken.tflite: TensorFlow cannot load it: ValueError"):
        loaded(recipe, CONTEXT)


def test_a_folder_without_a_saved_model_is_refused_before_anything_is_installed(
    tmp_path: Path,
) -> None:
    recipe = recipe_of(tmp_path, "empty", PICTURES)
    (recipe.folder / "empty").mkdir()
    context = SourceContext({}, tmp_path, tmp_path / "environments")
    with pytest.raises(SourceError, match=r"no saved_model.pb"):
        loaded(recipe, context)
    assert not (tmp_path / "environments").exists()


def test_a_half_made_environment_is_never_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "REQUIREMENTS", tmp_path)
    (tmp_path / "broken.txt").write_text("./no-such-package==1\n")
    with pytest.raises(SetupError, match="broken: its Python environment could not be made"):
        python_of("broken", tmp_path / "environments", print)
    (folder,) = (tmp_path / "environments").glob("broken-*[!k]")
    assert not (folder / COMPLETE).exists()
    (tmp_path / "broken.txt").write_text("# nothing\n")
    told: list[str] = []
    python = python_of("broken", tmp_path / "environments", told.append)
    assert python.exists()
    assert told
    told.clear()
    assert python_of("broken", tmp_path / "environments", told.append) == python
    assert told == []
