"""Keras models with the torch backend: from a file or a function, as Keras at every batch."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export.errors import RecipeError, SourceError
from export.runtime import Session
from tests.export.sourced import differences, exported, feeds, loaded, tensors, write

os.environ["KERAS_BACKEND"] = "torch"

FILE = 'kind = "keras"\nfile = "net.keras"'
PICTURES = tensors({"picture": ("float32", ["batch", 8, 8, 1])}, ["scores"])
TWO = tensors({"a": ("float32", ["batch", 4]), "b": ("float32", ["batch", 6])}, ["sum", "joined"])
CODE = """
import keras
def model(context):
    a, b = keras.Input((4,), name="a"), keras.Input((6,), name="b")
    one = keras.layers.Dense(3)(a)
    return keras.Model([a, b], [keras.layers.Dense(3)(b) + one,
                                keras.layers.Concatenate()([a, b])])
def nothing(context):
    return "a model"
"""


def pictures() -> Any:
    import keras

    keras.utils.set_random_seed(4)
    return keras.Sequential([
        keras.Input((8, 8, 1)), keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.BatchNormalization(), keras.layers.MaxPool2D(), keras.layers.Flatten(),
        keras.layers.Dropout(0.5), keras.layers.Dense(3, activation="softmax"),
    ])  # fmt: skip


def test_a_keras_file_answers_as_keras_alone_and_in_batches(tmp_path: Path) -> None:
    recipe = write(tmp_path, FILE, PICTURES)
    model = pictures()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Keras' own, while it saves
        model.save(recipe.folder / "net.keras")
    source = loaded(recipe)
    assert source.judge.startswith("Keras 3.")
    path = exported(source, tmp_path)
    for batch in (1, 3):
        given = feeds(recipe, batch)
        assert differences(source, path, given)["scores"] < 1e-5
        theirs = model(given["picture"], training=False).detach().numpy()
        np.testing.assert_allclose(source.infer(given)["scores"], theirs, atol=1e-6)


def test_several_inputs_and_outputs_get_the_recipes_names_in_their_order(tmp_path: Path) -> None:
    recipe = write(tmp_path, 'kind = "keras"\nentry = "source:model"', TWO, CODE)
    source = loaded(recipe)
    path = exported(source, tmp_path)
    session = Session(path)
    assert ([*session.inputs], [*session.outputs]) == (["a", "b"], ["sum", "joined"])
    given = feeds(recipe, 3)
    assert max(differences(source, path, given).values()) < 1e-5
    joined = np.concatenate([given["a"], given["b"]], axis=1)
    assert np.array_equal(session.run_batch(given)["joined"], joined)


def test_inputs_are_found_by_the_models_own_names(tmp_path: Path) -> None:
    turned = {"b": ("float32", ["batch", 6]), "a": ("float32", ["batch", 4])}
    body = tensors(turned, ["sum", "joined"])  # type: ignore[arg-type]
    recipe = write(tmp_path, 'kind = "keras"\nentry = "source:model"', body, CODE)
    source = loaded(recipe)
    path = exported(source, tmp_path)
    assert max(differences(source, path, feeds(recipe, 3)).values()) < 1e-5


def test_a_lambda_layer_is_refused_since_it_can_run_any_code(tmp_path: Path) -> None:
    import keras

    recipe = write(tmp_path, FILE, PICTURES)
    model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Lambda(lambda x: x + 1)])
    model.save(recipe.folder / "net.keras")
    with pytest.raises(SourceError, match=r"net\.keras: holds a Lambda layer, .* source\.py"):
        loaded(recipe)


def test_what_is_no_keras_file_is_refused(tmp_path: Path) -> None:
    recipe = write(tmp_path, FILE, PICTURES)
    (recipe.folder / "net.keras").write_text("<html>")
    with pytest.raises(SourceError, match=r"net\.keras: Keras 3.* cannot load it"):
        loaded(recipe)


def test_a_model_with_another_number_of_inputs_is_told(tmp_path: Path) -> None:
    body = tensors({"a": ("float32", ["batch", 4])}, ["sum", "joined"])
    recipe = write(tmp_path, 'kind = "keras"\nentry = "source:model"', body, CODE)
    with pytest.raises(RecipeError, match=r"the model takes a, b; .* names a$"):
        loaded(recipe)


def test_an_entry_that_returns_no_model_is_told(tmp_path: Path) -> None:
    recipe = write(tmp_path, 'kind = "keras"\nentry = "source:nothing"', TWO, CODE)
    with pytest.raises(SourceError, match=r"returned str; it must return a keras.Model"):
        loaded(recipe)
