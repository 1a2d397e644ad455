"""Makes small SavedModels and TFLite files: run by the interpreter that has TensorFlow."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf


def pictures(batch: int | None = None) -> Any:
    given = keras.Input((8, 8, 1), batch_size=batch, name="picture")
    inner = keras.layers.Conv2D(4, 3, activation="relu")(given)
    inner = keras.layers.Flatten()(keras.layers.MaxPool2D()(inner))
    return keras.Model(given, keras.layers.Dense(3, activation="softmax")(inner))


class Two(tf.Module):  # type: ignore[misc]
    """Two inputs, two outputs, in an order that is not that of their names."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(np.arange(8, dtype=np.float32).reshape(4, 2))

    @tf.function(  # type: ignore[untyped-decorator]
        input_signature=[
            tf.TensorSpec([None, 4], tf.float32, name="right"),
            tf.TensorSpec([None, 4], tf.float32, name="left"),
        ]
    )
    def run(self, right: Any, left: Any) -> Any:
        return {
            "total": tf.matmul(left, self.weights) - tf.matmul(right, 2 * self.weights),
            "product": left * right,
        }


def lite(saved: Path, path: Path, **settings: Any) -> None:
    converter = tf.lite.TFLiteConverter.from_saved_model(str(saved))
    for name, value in settings.items():
        setattr(converter, name, value)
    if "representative_dataset" in settings:
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    path.write_bytes(converter.convert())


def clips() -> Iterator[list[Any]]:
    generator = np.random.default_rng(0)
    for _ in range(50):
        yield [generator.random((1, 8, 8, 1)).astype(np.float32)]


def by_version_1(folder: Path) -> None:
    """As people saved models before 2019: a session's graph with variables."""
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        given = v1.placeholder(tf.float32, [None, 4], name="x")
        weights = v1.get_variable("w", initializer=np.ones((4, 3), np.float32))
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(
            session, str(folder), {"x": given}, {"y": tf.tanh(tf.matmul(given, weights))}
        )


def main(folder: Path) -> None:
    keras.utils.set_random_seed(3)
    model = pictures()
    model.export(str(folder / "pictures"), verbose=False)
    two = Two()
    tf.saved_model.save(two, str(folder / "two"), signatures=two.run)
    by_version_1(folder / "version-1")
    one_row = pictures(batch=1)
    one_row.set_weights(model.get_weights())
    one_row.export(str(folder / "one-row"), verbose=False)
    saved, quick = folder / "pictures", [tf.lite.Optimize.DEFAULT]
    lite(saved, folder / "float.tflite")
    lite(folder / "one-row", folder / "one-row.tflite")
    lite(saved, folder / "weights.tflite", optimizations=quick)
    whole = {"optimizations": quick, "representative_dataset": clips}
    lite(saved, folder / "inside.tflite", **whole)
    for kind in (tf.int8, tf.uint8):
        ends = {"inference_input_type": kind, "inference_output_type": kind}
        lite(saved, folder / f"{kind.name}.tflite", **whole, **ends)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
