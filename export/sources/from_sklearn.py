"""scikit-learn estimators and pipelines, by skl2onnx."""

from __future__ import annotations

import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import sklearn

from export.contract import Tensor
from export.errors import RecipeError, SourceError
from export.network import network_inputs, network_outputs
from export.recipe import Recipe
from export.repair import renamed, with_free_batch
from export.runtime import Session
from export.sample import SourceContext
from export.source_file import SourceFile
from export.sources.origin import source_path
from export.tensors import Answers, Array, Tensors

OPSETS = {"": 20, "ai.onnx.ml": 3}
PICKLES = {".joblib", ".pkl", ".pickle"}
MOST_SPLITS = 4000  # rows at split points that are compared
SAME = 1e-4
UNTRUSTED = ("sklearn.externals", "sklearn.utils._testing", "sklearn.tests")


def load(recipe: Recipe, context: SourceContext, file: SourceFile | None) -> SklearnSource:
    """The estimator that the recipe's entry returns, or its file holds."""
    section = recipe.file.source
    if section.file is not None:
        return SklearnSource(
            recipe, load_file(source_path(recipe, context, section.file), trust=context.trust)
        )
    if file is None:
        raise RecipeError(f"{recipe.folder}: source.py is missing; it holds {section.entry}")
    return SklearnSource(recipe, file.call(section.entry or ""))


def refuse_other(name: str, estimator: Any) -> None:
    """SourceError for what is no estimator."""
    if not hasattr(estimator, "predict") and not hasattr(estimator, "transform"):
        raise SourceError(
            f"{name}: {type(estimator).__name__} is no estimator: it has neither predict nor "
            "transform"
        )


class SklearnSource:
    """An estimator; its answers are taken in float64, as scikit-learn computes."""

    def __init__(self, recipe: Recipe, estimator: Any) -> None:
        self.recipe, self.estimator = recipe, estimator
        self.judge = f"scikit-learn {sklearn.__version__}"
        self._named = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
        refuse_other(recipe.name, estimator)
        self._check_names()

    def export(self, path: Path) -> int:
        """Convert; a classifier gives probabilities as "scores"."""
        from skl2onnx import convert_sklearn

        inputs = network_inputs(self.recipe)
        options = {id(self.estimator): {"zipmap": False}} if self._classifies() else None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = convert_sklearn(
                    self.estimator, initial_types=[(t.name, _type(t)) for t in inputs],
                    options=options, target_opset=OPSETS,
                )  # fmt: skip
        except Exception as error:  # skl2onnx raises many kinds
            raise SourceError(
                f"{self.recipe.name}: skl2onnx cannot convert {type(self.estimator).__name__}: "
                f"{str(error).strip().splitlines()[0]}; other estimators of the kind may convert "
                "(of boosted trees, GradientBoosting does)"
            ) from error
        given = [value.name for value in model.graph.output]
        names = network_outputs(self.recipe)
        chosen = given[-1:] if self._classifies() else given
        if len(chosen) != len(names):
            raise SourceError(f"the estimator gives {chosen}, the recipe names {names}")
        kept = [value for value in model.graph.output if value.name in chosen]
        del model.graph.output[:]
        model.graph.output.extend(kept)
        renamed(model, dict(zip(chosen, names, strict=True)))
        with_free_batch(model)
        onnx.save(model, path)
        self._compare_at_splits(path)
        # Trees and linear models hold their numbers in attributes.
        told = (a for node in model.graph.node for a in node.attribute)
        return sum(int(np.prod(t.dims)) for t in model.graph.initializer) + sum(
            len(attribute.floats) for attribute in told
        )

    def infer(self, inputs: Tensors) -> Answers:
        """The estimator's own answers."""
        rows = self._rows(inputs)
        if self._classifies():
            if not hasattr(self.estimator, "predict_proba"):
                raise SourceError(
                    f"{type(self.estimator).__name__} gives no probabilities; wrap it in "
                    "CalibratedClassifierCV"
                )
            answer = self.estimator.predict_proba(rows)
        elif hasattr(self.estimator, "predict"):
            answer = np.asarray(self.estimator.predict(rows)).reshape(len(rows), -1)
        else:
            answer = self.estimator.transform(rows)
            answer = answer.toarray() if hasattr(answer, "toarray") else answer
        return {network_outputs(self.recipe)[0]: np.asarray(answer, np.float32)}

    def _classifies(self) -> bool:
        from sklearn.base import is_classifier

        return bool(is_classifier(self.estimator))

    def _rows(self, inputs: Tensors) -> Any:
        """What the estimator was fitted on: an array, or a table with named columns."""
        if list(inputs) == ["features"]:
            rows = inputs["features"].astype(np.float64)
            return self._frame(dict(zip(self._named, rows.T, strict=True))) if self._named else rows
        columns = {name: _as_fitted(values[:, 0]) for name, values in inputs.items()}
        if self._named:
            return self._frame({name: columns[name] for name in self._named})
        kinds = {column.dtype for column in columns.values()}
        kind = np.object_ if np.dtype(np.object_) in kinds else np.float64
        return np.stack([column.astype(kind) for column in columns.values()], axis=1)

    def _frame(self, columns: dict[str, Array]) -> Any:
        import pandas

        return pandas.DataFrame(columns)

    def _check_names(self) -> None:
        """An estimator that was fitted on named columns gets them by those names."""
        section = self.recipe.file.input
        if section.kind != "table" or not self._named:
            return
        ours = [column.name for column in section.columns]
        if len(ours) != len(self._named) or (not section.matrix and set(ours) != set(self._named)):
            raise RecipeError(
                f"{self.recipe.name}: the recipe has the columns {', '.join(ours)}; the estimator "
                f"was fitted on {', '.join(self._named)}"
            )
        if set(ours) == set(self._named) and section.matrix and ours != self._named:
            raise RecipeError(
                f"{self.recipe.name}: the recipe's columns are those of the estimator in another "
                f"order; it was fitted on {', '.join(self._named)}"
            )

    def _compare_at_splits(self, path: Path) -> None:
        """At a tree's thresholds float32 and float64 may fall to other sides.

        Rows are put at every threshold and one float32 step beside it; where a scaler stands before
        the trees, the thresholds are taken back through it.
        """
        if self.recipe.file.input.kind != "table" or len(network_inputs(self.recipe)) != 1:
            return
        rows = rows_at_splits(self.estimator, len(self.recipe.file.input.columns))
        if not len(rows):
            return
        name = network_outputs(self.recipe)[0]
        theirs = self.infer({"features": rows})[name]
        ours = Session(path).run_batch({"features": rows})[name]
        gap = np.abs(theirs.astype(np.float64) - ours.astype(np.float64))
        wrong = gap.max(axis=1) > SAME
        if wrong.any():
            raise SourceError(
                f"{self.recipe.name}: {int(wrong.sum())} of {len(rows)} rows at the trees' split "
                "points get another answer in ONNX: float32 falls to the other side. Train the "
                "trees on float32 values without a scaler before them (trees need none)"
            )


def rows_at_splits(estimator: Any, columns: int) -> np.ndarray:
    """Rows float32 [rows, columns] at every split of the trees in an estimator or pipeline."""
    steps = [step for _, step in getattr(estimator, "steps", [("", estimator)])]
    trees = list(_trees(steps[-1]))
    if not trees:
        return np.zeros((0, columns), np.float32)
    splits = sorted({
        (int(feature), float(threshold))
        for tree in trees
        for feature, threshold in zip(tree.feature, tree.threshold, strict=True)
        if feature >= 0
    })  # fmt: skip
    splits = splits[:: max(1, len(splits) // (MOST_SPLITS // 3))]
    base = np.zeros((1, columns))
    rows = []
    for feature, threshold in splits:
        row = base.copy()
        row[0, feature] = threshold
        for step in reversed(steps[:-1]):
            if not hasattr(step, "inverse_transform"):
                return np.zeros((0, columns), np.float32)
            row = step.inverse_transform(row)
        at = row.astype(np.float32)
        for beside in (-np.inf, None, np.inf):
            moved = at.copy()
            if beside is not None:
                moved[0, feature] = np.nextafter(at[0, feature], np.float32(beside))
            rows.append(moved)
    return np.concatenate(rows)


def _trees(model: Any) -> Any:
    if hasattr(model, "tree_"):
        yield model.tree_
    for inner in np.ravel(getattr(model, "estimators_", [])):
        yield from _trees(inner)


def load_file(path: Path, *, trust: bool) -> Any:
    """The estimator in a .skops file, or in a pickle of somebody trusted."""
    if path.suffix == ".skops":
        return _from_skops(path)
    if path.suffix not in PICKLES:
        raise SourceError(f"{path.name}: .skops, .joblib and .pkl are read")
    if not trust:
        raise SourceError(
            f"{path.name} is a pickle: loading it can run any code. Store the estimator with "
            "skops.io.dump as .skops, or say --trust if you know who made it"
        )
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:  # a pickle raises whatever it likes
        raise SourceError(f"{path.name}: cannot be loaded: {error}") from error


def _from_skops(path: Path) -> Any:
    from skops import io

    try:
        asked = io.get_untrusted_types(file=path)
    except Exception as error:  # a file that is no skops file at all
        raise SourceError(f"{path.name}: skops cannot read it: {error}") from error
    if unknown := [name for name in asked if not _trusted(name)]:
        raise SourceError(
            f"{path.name} holds types that are not scikit-learn's: {', '.join(unknown)}; nothing "
            "of it is loaded. Let a function of source.py return the estimator instead"
        )
    return io.load(path, trusted=asked)


def _trusted(name: str) -> bool:
    """A class that scikit-learn defines itself, beside those that skops trusts already.

    Never a function: with functions a file could have anything called.
    """
    module, _, attribute = name.rpartition(".")
    if not module.startswith("sklearn.") or module.startswith(UNTRUSTED):
        return False
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__.startswith("sklearn.")


def _as_fitted(column: Array) -> Array:
    """As estimators are fitted: texts as objects, numbers in double precision."""
    if column.dtype.kind in "OU":
        return column.astype(np.object_)
    return column.astype(np.int64 if column.dtype.kind in "iub" else np.float64)


def _type(tensor: Tensor) -> Any:
    from skl2onnx.common import data_types

    kinds = {
        "float32": data_types.FloatTensorType,
        "int64": data_types.Int64TensorType,
        "string": data_types.StringTensorType,
    }
    return kinds[tensor.dtype]([None, *(tensor.shape or [])[1:]])
