"""The ten-line recipe of docs/add-a-model.md, with a real ONNX file, up to the check."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from export.errors import Refused
from export.recipe import read_recipe
from export.stages.results import Exported
from export.workspace import ROOT
from tests.export.sourced import checked

LABELS = ["setosa", "versicolor", "virginica"]
ROWS = [(5.1, 3.5, 1.4, 0.2, 0), (6.1, 2.8, 4.0, 1.3, 1), (6.3, 3.3, 6.0, 2.5, 2)]
COLUMNS = ("sepal-length", "sepal-width", "petal-length", "petal-width")
# Longer petals, later labels.
WEIGHTS = np.array(
    [[0.5, -0.2, -0.6], [1, -0.4, -0.4], [-2, 0.3, 1.2], [-1, -0.6, 1.8]], np.float32
)
BIAS = np.array([2.0, 3.0, -5.0], np.float32)


def written() -> str:
    """The first recipe of the document."""
    found = re.search(r"```toml\n(.*?)```", (ROOT / "docs/add-a-model.md").read_text(), re.DOTALL)
    assert found
    return found[1]


def iris(batch: int | str, frozen: int | None = None) -> onnx.ModelProto:
    """Four measurements in, three probabilities out; `frozen`: rows that come out in any case."""
    nodes = [
        helper.make_node("Gemm", ["X", "w", "b"], ["z"], "linear"),
        helper.make_node("Softmax", ["z"], ["p"], "softmax", axis=-1),
    ]
    weights = [numpy_helper.from_array(WEIGHTS, "w"), numpy_helper.from_array(BIAS, "b")]
    if frozen:
        nodes[1].output[0] = "all"
        nodes.append(helper.make_node("Slice", ["all", "start", "end"], ["p"], "first rows"))
        weights += [
            numpy_helper.from_array(np.array([0], np.int64), "start"),
            numpy_helper.from_array(np.array([frozen], np.int64), "end"),
        ]
    graph = helper.make_graph(
        nodes, "iris",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [batch, 4])],
        [helper.make_tensor_value_info("p", TensorProto.FLOAT, [batch, 3])],
        weights,
    )  # fmt: skip
    model: onnx.ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    return model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """models/iris/ as the document has it: the recipe, the model, labels and rows."""
    folder = tmp_path / "models/iris"
    folder.mkdir(parents=True)
    (folder / "recipe.toml").write_text(written())
    (folder / "labels.txt").write_text("\n".join(LABELS) + "\n")
    lines = [",".join((*COLUMNS, "label"))]
    lines += [",".join([*map(str, row[:4]), LABELS[int(row[4])]]) for row in ROWS]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    return folder


def build(folder: Path, tmp_path: Path) -> Exported:
    work = tmp_path / "work"
    work.mkdir()
    return checked(read_recipe(folder.parent, "iris"), work)


def test_the_recipe_has_ten_lines_of_a_width_to_be_read() -> None:
    lines = written().splitlines()
    assert len(lines) == 10
    assert max(map(len, lines)) <= 160


def test_ten_lines_and_a_file_go_up_to_the_check(folder: Path, tmp_path: Path) -> None:
    onnx.save(iris("N"), folder / "iris.onnx")
    exported = build(folder, tmp_path)
    sourced = exported.sourced
    assert exported.parameters == 15
    assert [(t.name, t.dtype) for t in exported.inputs] == [("features", "float32")]
    assert sourced.labels == tuple(LABELS)
    assert sourced.judge.startswith("the delivered ONNX file in ONNX Runtime")
    assert sourced.input.kind == "table"
    assert [column.title for column in sourced.input.columns] == [
        "Sepal length", "Sepal width", "Petal length", "Petal width",
    ]  # fmt: skip
    assert sourced.labelled is not None
    right = [int(answer["probabilities"].argmax()) for answer in sourced.labelled.answers]
    assert right == [sample.label for sample in sourced.labelled.samples] == [0, 1, 2]
    for (*values, _), answer in zip(ROWS, sourced.examples.answers, strict=True):
        scores = np.array(values) @ WEIGHTS + BIAS
        expected = np.exp(scores) / np.exp(scores).sum()
        np.testing.assert_allclose(answer["probabilities"][0], expected, atol=1e-5)


def test_a_file_with_a_batch_of_1_is_refused_as_frozen(folder: Path, tmp_path: Path) -> None:
    onnx.save(iris(1), folder / "iris.onnx")
    with pytest.raises(Refused, match="features: the batch is frozen at 1; export it with a free"):
        build(folder, tmp_path)


def test_a_file_that_answers_one_row_of_many_is_refused(folder: Path, tmp_path: Path) -> None:
    onnx.save(iris("N", frozen=1), folder / "iris.onnx")
    with pytest.raises(Refused, match="frozen batch: 2 rows in, rows out"):
        build(folder, tmp_path)


def test_the_published_row_is_json_of_the_four_columns(folder: Path, tmp_path: Path) -> None:
    onnx.save(iris("N"), folder / "iris.onnx")
    (first, *_) = build(folder, tmp_path).sourced.examples.samples
    assert tuple(json.loads(first.data)) == COLUMNS
