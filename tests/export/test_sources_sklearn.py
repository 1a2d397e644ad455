"""scikit-learn's estimators: as in Python, at split points too, and what is refused."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from skops import io as skops

from export.errors import RecipeError, SourceError
from export.recipe import Recipe
from export.runtime import Session
from export.workspace import ROOT
from tests.export.sourced import differences, exported, feeds, loaded, trusting, write

CASES = ROOT / "tests/cases"
ENTRY = 'kind = "sklearn"\nentry = "source:model"'
CODE = "import joblib, pathlib\ndef model(context):\n    return joblib.load({path!r})\n"
SCORES = '[output]\nkind = "scores"\nactivation = "none"\nlabels = "labels.txt"'
VALUE = '[output]\nkind = "values"\nnames = ["value"]'
COLUMN = '[[input.columns]]\nname = "{}"\ntitle = "{}"\ntype = "{}"\n'


def table(
    output: str, names: str = "abcd", kinds: dict[str, str] | None = None, matrix: bool = True
) -> str:
    columns = ""
    for name in names:
        kind = (kinds or {}).get(name, "number")
        columns += COLUMN.format(name, name, kind)
        columns += 'categories = ["red", "grün"]\n' if kind == "category" else ""
    return f'[input]\nkind = "table"\nmatrix = {str(matrix).lower()}\n{columns}\n{output}'


def fitted(estimator: Any, classes: int = 3) -> Any:
    generator = np.random.default_rng(5)
    rows = generator.normal(size=(120, 4)).astype(np.float32)
    values = rows @ np.array([1, -2, 0.5, 0])
    truth = np.digitize(values, [-1, 1]) if classes else values * 100
    return estimator.fit(rows, truth)


def of(tmp_path: Path, estimator: Any, body: str) -> Recipe:
    """A recipe whose source.py returns the estimator."""
    path = tmp_path / "estimator.joblib"
    joblib.dump(estimator, path)
    return write(tmp_path, ENTRY, body, CODE.format(path=str(path)))


RIGHT: dict[str, tuple[Callable[[], Any], str]] = {
    "scaled-logistic": (
        lambda: fitted(make_pipeline(StandardScaler(), LogisticRegression())), SCORES,
    ),
    "forest": (lambda: fitted(RandomForestClassifier(8, random_state=0)), SCORES),
    "neighbours": (lambda: fitted(KNeighborsClassifier()), SCORES),
    "linear": (lambda: fitted(LinearRegression(), 0), VALUE),
    "boosted": (lambda: fitted(GradientBoostingRegressor(n_estimators=9), 0), VALUE),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_an_estimator_answers_as_in_python(tmp_path: Path, name: str) -> None:
    make, output = RIGHT[name]
    recipe = of(tmp_path, make(), table(output))
    source = loaded(recipe)
    assert source.judge.startswith("scikit-learn 1.")
    path = exported(source, tmp_path)
    for batch in (1, 3):
        assert max(differences(source, path, feeds(recipe, batch)).values()) < 1e-4


def test_a_classifier_gives_a_matrix_of_probabilities_and_no_map(tmp_path: Path) -> None:
    case = CASES / "sk-classifier-map-output"
    recipe = write(tmp_path, 'kind = "sklearn"\nfile = "model.pkl"', table(SCORES))
    (recipe.folder / "model.pkl").write_bytes((case / "model.pkl").read_bytes())
    source = loaded(recipe, trusting(recipe))
    path = exported(source, tmp_path)
    expected, session = np.load(case / "expected.npz"), Session(path)
    assert [(p.name, p.type) for p in session.outputs.values()] == [("scores", "tensor(float)")]
    answer = session.run_batch({"features": expected["x"]})["scores"]
    np.testing.assert_allclose(answer, expected["prob"], 1e-4, 1e-5)
    labels = expected["classes"][answer.argmax(1)]
    assert labels.tolist() == expected["label"].tolist()


def test_rare_and_unknown_categories_get_the_codes_of_scikit_learn(tmp_path: Path) -> None:
    case = CASES / "sk-ordinal-infrequent-and-unknown"
    estimator = pickle.loads((case / "model.pkl").read_bytes())  # noqa: S301  the case's own
    recipe = of(tmp_path, estimator, table(VALUE, "a"))
    source = loaded(recipe)
    path = exported(source, tmp_path)
    expected = np.load(case / "expected.npz")
    answer = Session(path).run_batch({"features": expected["x"]})["value"]
    right = json.loads((case / "case.json").read_text())["right_value"]
    assert answer.ravel().tolist() == json.loads(right) == expected["y"].ravel().tolist()
    assert np.array_equal(source.infer({"features": expected["x"]})["value"], answer)


def test_thresholds_in_double_precision_are_refused_before_they_answer_otherwise(
    tmp_path: Path,
) -> None:
    case = CASES / "sk-tree-threshold-float64"
    estimator = pickle.loads((case / "model.pkl").read_bytes())  # noqa: S301  the case's own
    source = loaded(of(tmp_path, estimator, table(VALUE, "abc")))
    expected = np.load(case / "expected.npz")
    answer = source.infer({"features": expected["x"]})["value"]
    np.testing.assert_allclose(answer.ravel(), expected["y"], 1e-4, 1e-3)
    with pytest.raises(SourceError, match="cannot convert HistGradientBoostingRegressor"):
        source.export(tmp_path / "core.onnx")


def test_trees_behind_a_scaler_are_refused_where_a_split_falls_to_the_other_side(
    tmp_path: Path,
) -> None:
    # Large numbers close to each other: float32 has few steps between two of them.
    generator = np.random.default_rng(7)
    rows = (1e5 + generator.integers(0, 40, size=(200, 4)) / 16).astype(np.float32)
    truth = (rows.sum(1) > np.median(rows.sum(1))).astype(int)
    forest = RandomForestClassifier(9, random_state=0)
    scaled = make_pipeline(StandardScaler(), forest).fit(rows, truth)
    source = loaded(of(tmp_path, scaled, table(SCORES)))
    with pytest.raises(SourceError, match=r"rows at the trees' split points .* without a scaler"):
        source.export(tmp_path / "core.onnx")
    recipe = of(tmp_path, forest.fit(rows, truth), table(SCORES))
    exported(loaded(recipe), tmp_path)


@pytest.mark.parametrize("matrix", [True, False])
def test_columns_of_several_types_reach_an_estimator_fitted_on_a_table(
    tmp_path: Path, matrix: bool
) -> None:
    generator = np.random.default_rng(3)
    frame = pandas.DataFrame({
        "a": generator.normal(size=90), "b": generator.integers(0, 9, 90),
        "c": generator.choice(["red", "grün"], 90), "d": generator.integers(0, 2, 90),
    })  # fmt: skip
    if matrix:
        frame["c"] = (frame["c"] == "red").astype(float)
    columns: list[tuple[str, Any, list[str]]] = [("numbers", StandardScaler(), ["a", "b"])]
    if not matrix:
        columns.append(("colours", OneHotEncoder(handle_unknown="ignore"), ["c"]))
    chosen = ColumnTransformer(columns, remainder="passthrough" if matrix else "drop")
    if matrix:  # skl2onnx finds columns of one matrix by their place only
        chosen = StandardScaler()
    estimator = make_pipeline(chosen, LogisticRegression())
    truth = np.digitize(frame["a"] + (frame["c"] == (1 if matrix else "red")), [0.2, 0.9])
    estimator.fit(frame, truth)
    kinds = {} if matrix else {"b": "integer", "c": "category", "d": "boolean"}
    recipe = of(tmp_path, estimator, table(SCORES, kinds=kinds, matrix=matrix))
    source = loaded(recipe)
    path = exported(source, tmp_path)
    if matrix:
        given = {"features": frame.to_numpy(np.float32)}
    else:
        given = {
            name: np.array(frame[name], kind)[:, None]
            for name, kind in zip("abcd", (np.float32, np.int64, object, np.int64), strict=True)
        }
    assert differences(source, path, given)["scores"] < 1e-5
    theirs = estimator.predict_proba(frame)
    np.testing.assert_allclose(source.infer(given)["scores"], theirs, atol=1e-5)


def test_columns_in_another_order_than_fitted_are_refused(tmp_path: Path) -> None:
    frame = pandas.DataFrame(np.random.default_rng(1).normal(size=(30, 2)), columns=["b", "a"])
    estimator = LinearRegression().fit(frame, frame["a"])
    with pytest.raises(RecipeError, match="another order; it was fitted on b, a"):
        loaded(of(tmp_path, estimator, table(VALUE, "ab")))
    with pytest.raises(RecipeError, match=r"has the columns a, b, c; .* fitted on b, a"):
        loaded(of(tmp_path, estimator, table(VALUE, "abc")))


def test_skops_files_of_scikit_learn_are_read(tmp_path: Path) -> None:
    recipe = write(tmp_path, 'kind = "sklearn"\nfile = "model.skops"', table(SCORES))
    estimator = fitted(RandomForestClassifier(4, random_state=0))
    skops.dump(estimator, recipe.folder / "model.skops")
    given = feeds(recipe, 3)
    answer = loaded(recipe).infer(given)["scores"]
    np.testing.assert_allclose(answer, estimator.predict_proba(given["features"]), atol=1e-7)


def shouting(rows: Any) -> Any:
    raise AssertionError("this must never run")


HOSTILE = {
    # A function that is no class of scikit-learn's, though it lies in a trusted-looking place.
    "function": lambda: FunctionTransformer(shouting),
    "numpy": lambda: FunctionTransformer(np.testing.assert_equal),
    "sklearn": lambda: FunctionTransformer(skl_function()),
}


def skl_function() -> Any:
    from sklearn.datasets import load_files

    return load_files


@pytest.mark.parametrize("name", HOSTILE)
def test_skops_files_with_foreign_functions_are_refused_by_name(tmp_path: Path, name: str) -> None:
    recipe = write(tmp_path, 'kind = "sklearn"\nfile = "model.skops"', table(VALUE))
    transformer = HOSTILE[name]()
    skops.dump(transformer, recipe.folder / "model.skops")
    named = transformer.func.__name__
    with pytest.raises(SourceError, match=f"not scikit-learn's: .*{named}.* nothing of it is"):
        loaded(recipe)


class Exploding:
    """A pickle that leaves a file behind when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["model.joblib", "model.pkl", "model.pickle"])
def test_a_pickle_is_not_even_opened_without_trust(tmp_path: Path, name: str) -> None:
    recipe = write(tmp_path, f'kind = "sklearn"\nfile = "{name}"', table(VALUE))
    left = tmp_path / "left"
    (recipe.folder / name).write_bytes(pickle.dumps(Exploding(left)))
    with pytest.raises(SourceError, match=r"is a pickle: .* \.skops, or say --trust"):
        loaded(recipe)
    assert not left.exists()
    with pytest.raises(SourceError, match="NoneType is no estimator"):
        loaded(recipe, trusting(recipe))
    assert left.exists()


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "converter": (
        lambda: fitted(HistGradientBoostingClassifier(max_iter=3)),
        r"cannot convert HistGradientBoostingClassifier: .*GradientBoosting does",
    ),
    "probabilities": (lambda: fitted(LinearSVC()), "wrap it in CalibratedClassifierCV"),
    "estimator": (lambda: [1, 2], "list is no estimator"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_is_refused_with_a_way_out(tmp_path: Path, name: str) -> None:
    make, told = REFUSED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recipe = of(tmp_path, make(), table(SCORES))
    with pytest.raises(SourceError, match=told):
        source = loaded(recipe)
        source.infer(feeds(recipe, 2))
        source.export(tmp_path / "core.onnx")


@pytest.mark.parametrize("name", ["model.skops", "model.txt"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    recipe = write(tmp_path, f'kind = "sklearn"\nfile = "{name}"', table(VALUE))
    (recipe.folder / name).write_text("not a model")
    with pytest.raises(SourceError, match=rf"{name}: (skops cannot read it|\.skops, \.joblib)"):
        loaded(recipe)
