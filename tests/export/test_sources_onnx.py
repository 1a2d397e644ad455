"""ONNX files as others deliver them: repaired without changing an answer, or refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from export.errors import RecipeError, Refused, SourceError
from export.network import network_inputs
from export.recipe import Recipe
from export.repair import without_double_initialisers
from export.runtime import Session
from export.sources import Source
from export.sources.free_batch import save_with_free_batch
from export.workspace import ROOT
from tests.export.sourced import differences, exported, feeds, loaded, tensors, write

CASES = ROOT / "tests/cases"
ROWS = np.random.default_rng(2).normal(size=(6, 4)).astype(np.float32)


def of(tmp_path: Path, file: Path | onnx.ModelProto, body: str, more: str = "") -> Recipe:
    name = file.name if isinstance(file, Path) else "model.onnx"
    recipe = write(tmp_path, f'kind = "onnx"\nfile = "{name}"\n{more}', body)
    if isinstance(file, Path):
        shutil.copy(file, recipe.folder)
    else:
        onnx.save(file, recipe.folder / name)
    return recipe


def dense(batch: int | str, *middle: onnx.NodeProto, opset: int = 17) -> onnx.ModelProto:
    """x [batch, 6] times a matrix, through `middle` from "h" to "out"."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), *middle]
    shape = numpy_helper.from_array(np.array([1, 2, 2], np.int64), "one row")
    graph = helper.make_graph(
        nodes, "dense",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 6])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(ROWS, "w"), shape],
    )  # fmt: skip
    model: onnx.ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8
    )
    return model


def vector(size: int, name: str = "y") -> str:
    return tensors({"x": ("float32", ["batch", size])}, [name])


@pytest.mark.parametrize("name", ["ir3", "ir8"])
def test_weights_that_are_listed_as_inputs_are_nobodys_input(tmp_path: Path, name: str) -> None:
    case = CASES / "check-weights-listed-as-inputs"
    recipe = of(tmp_path, case / f"{name}.onnx", vector(3))
    path = exported(loaded(recipe), tmp_path)
    expected = np.load(case / "expected.npz")
    assert [value.name for value in onnx.load(path).graph.input] == ["x"]
    answer = Session(path).run_batch({"x": expected["x"]})["y"]
    np.testing.assert_allclose(answer, expected["y"], 1e-5, 1e-6)


@pytest.mark.parametrize("name", ["ir9", "ir10", "ir13", "opset22", "opset24", "opset26"])
def test_a_file_newer_than_a_browser_is_lowered_and_answers_the_same(
    tmp_path: Path, name: str
) -> None:
    case = CASES / "check-too-new-for-browser"
    recipe = of(tmp_path, case / f"{name}.onnx", tensors({"x": ("float32", ["batch"])}, ["y"]))
    path = exported(loaded(recipe), tmp_path)  # exported: of an opset and IR for every browser
    expected = np.load(case / "expected.npz")
    assert np.array_equal(Session(path).run_batch({"x": expected["x"]})["y"], expected["y"])


def test_a_file_that_needs_a_neighbour_becomes_one(tmp_path: Path) -> None:
    case = CASES / "export-small-model-split-in-two"
    recipe = of(tmp_path, case / "model.onnx", vector(8))
    shutil.copy(case / "model.onnx.data", recipe.folder)
    path = exported(loaded(recipe), tmp_path)
    shutil.rmtree(recipe.folder)
    expected = np.load(case / "expected.npz")
    answer = Session(path.read_bytes()).run_batch({"x": expected["x"]})["y"]
    np.testing.assert_allclose(answer, expected["y"], 1e-5, 1e-6)


@pytest.mark.parametrize("name", ["model.onnx", "abs.onnx"])
def test_weights_outside_the_folder_are_refused_and_not_read(tmp_path: Path, name: str) -> None:
    case = CASES / "check-external-data-escape"
    recipe = of(tmp_path, case / "sub" / name, vector(3))
    shutil.copy(case / "secret.bin", tmp_path / "secret.bin")
    with pytest.raises(
        Refused, match=r"w: its bytes would be read from (\.\./secret|/etc/hostname)"
    ):
        loaded(recipe)


def test_weights_behind_a_link_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    case = CASES / "export-small-model-split-in-two"
    recipe = of(tmp_path, case / "model.onnx", vector(8))
    shutil.copy(case / "model.onnx.data", tmp_path / "secret")
    (recipe.folder / "model.onnx.data").symlink_to(tmp_path / "secret")
    with pytest.raises(Refused, match="is a link out of the model's folder"):
        loaded(recipe)


def test_weights_that_are_missing_are_told(tmp_path: Path) -> None:
    recipe = of(tmp_path, CASES / "export-small-model-split-in-two/model.onnx", vector(8))
    with pytest.raises(Refused, match=r"bytes lie in model\.onnx\.data, which is not beside"):
        loaded(recipe)


def test_a_folder_of_the_hugging_face_layout_is_read(tmp_path: Path) -> None:
    recipe = write(tmp_path, 'kind = "onnx"\nfile = "hub"', vector(6, "out"))
    (recipe.folder / "hub/onnx").mkdir(parents=True)
    (recipe.folder / "hub/config.json").write_text("{}")
    with pytest.raises(SourceError, match=r"no onnx/model\.onnx or model\.onnx in it"):
        loaded(recipe)
    relu = helper.make_node("Relu", ["h"], ["out"])
    onnx.save(dense("N", relu), recipe.folder / "hub/onnx/model.onnx")
    source = loaded(recipe)
    assert differences(source, exported(source, tmp_path), feeds(recipe, 3))["out"] == 0


def test_names_are_the_recipes_and_outputs_that_it_leaves_out_are_gone(tmp_path: Path) -> None:
    body = tensors({"given": ("float32", ["batch", 6])}, ["h"])  # "h": also an inner name
    model = dense("N", helper.make_node("Relu", ["h"], ["out"]))
    inner = helper.make_tensor_value_info("h", TensorProto.FLOAT, ["N", 4])
    model.graph.output.append(inner)
    recipe = of(tmp_path, model, body, 'outputs = { h = "out" }')
    source = loaded(recipe)
    path = exported(source, tmp_path)
    given = feeds(recipe, 3)
    answer = Session(path).run_batch(given)
    assert [*answer] == ["h"]
    np.testing.assert_allclose(answer["h"], np.maximum(given["given"] @ ROWS, 0), 1e-5)
    assert onnx.load(path).graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"


def test_an_output_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    body = tensors({"x": ("float32", ["batch", 6])}, ["one", "two"])
    recipe = of(tmp_path, dense("N", helper.make_node("Relu", ["h"], ["out"])), body)
    with pytest.raises(RecipeError, match=r'model.onnx has out; say which is "one"'):
        loaded(recipe)


def freed(tmp_path: Path, *middle: onnx.NodeProto) -> tuple[Recipe, Source, Path]:
    """A file for one row, as a source that frees batches saves it."""
    recipe = of(tmp_path, dense(1, *middle), vector(6, "out"))
    source, path = loaded(recipe), tmp_path / "freed.onnx"
    model = onnx.load(exported(source, tmp_path))
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 1
    save_with_free_batch(model, path, network_inputs(recipe), source.infer)
    return recipe, source, path


def test_a_batch_fixed_at_one_is_freed_where_every_row_then_answers_as_alone(
    tmp_path: Path,
) -> None:
    recipe, source, path = freed(tmp_path, helper.make_node("Reshape", ["h", "one row"], ["out"]))
    for batch in (1, 3):
        given = feeds(recipe, batch)
        assert differences(source, path, given)["out"] < 1e-6
        assert source.infer(given)["out"].shape == (batch, 2, 2)


def test_a_batch_whose_rows_depend_on_each_other_stays_fixed(tmp_path: Path) -> None:
    mixed = [
        helper.make_node("ReduceMean", ["h"], ["m"], axes=[0], keepdims=1),
        helper.make_node("Sub", ["h", "m"], ["out"]),
    ]
    _, _, path = freed(tmp_path, *mixed)
    assert onnx.load(path).graph.input[0].type.tensor_type.shape.dim[0].dim_value == 1


def test_an_old_opset_is_raised_and_answers_the_same(tmp_path: Path) -> None:
    softmax = helper.make_node("Softmax", ["h"], ["out"])  # its axis changed with opset 13
    recipe = of(tmp_path, dense("N", softmax, opset=11), vector(6, "out"))
    source = loaded(recipe)
    path = exported(source, tmp_path)
    assert {o.domain: o.version for o in onnx.load(path).opset_import}[""] == 20
    assert differences(source, path, feeds(recipe, 3))["out"] < 1e-6


def test_two_weights_of_one_name_are_one_only_when_they_are_equal() -> None:
    model = dense("N")
    model.graph.initializer.append(model.graph.initializer[0])
    without_double_initialisers(model)
    assert [weight.name for weight in model.graph.initializer] == ["w", "one row"]
    model.graph.initializer.append(numpy_helper.from_array(ROWS + 1, "w"))
    with pytest.raises(SourceError, match="two weights are called w, and their values differ"):
        without_double_initialisers(model)
