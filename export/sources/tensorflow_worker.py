"""Runs in TensorFlow's own environment, never imported: one model, asked by lines of JSON.

`python tensorflow_worker.py tensorflow|tflite MODEL`, then on stdin one of
`{"do": "about"}`, `{"do": "convert", "path": ...}`, `{"do": "infer", "given": ..., "answers": ...}`
a line; each gets one line of JSON, `{"error": ...}` when it failed. Arrays lie in .npz files, in
the order that "about" tells.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf2onnx  # noqa: E402

OPSET = 18  # the newest that tf2onnx writes
SIGNATURE = "serving_default"


class SavedModel:
    """Loaded as TensorFlow 1 does it, which every SavedModel allows, with its tensors' names."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.session = tf.compat.v1.Session(graph=tf.Graph())
        with self.session.graph.as_default():
            meta = tf.compat.v1.saved_model.load(self.session, ["serve"], path)
        signatures = {k: v for k, v in meta.signature_def.items() if v.inputs and v.outputs}
        if not signatures:
            raise ValueError("the SavedModel has no signature; save it with signatures=")
        self.key = SIGNATURE if SIGNATURE in signatures else min(signatures)
        signature = signatures[self.key]
        # A dictionary's order says nothing: by name, the same every time.
        self.inputs = dict(sorted(signature.inputs.items()))
        self.outputs = dict(sorted(signature.outputs.items()))

    def about(self) -> dict[str, Any]:
        """Inputs and outputs, in the order of all arrays."""
        return {
            "inputs": [self._port(*item) for item in self.inputs.items()],
            "outputs": [self._port(*item) for item in self.outputs.items()],
        }

    def convert(self, path: str) -> dict[str, Any]:
        """Write ONNX; tells the graph's names in the order of "about"."""
        try:
            frozen, inputs, outputs = self._frozen_by_2()
        except Exception:  # saved by TensorFlow 1, or with objects that this version lacks
            frozen, inputs, outputs = self._frozen_by_1()
        model, _ = tf2onnx.convert.from_graph_def(
            frozen, input_names=inputs, output_names=outputs, opset=OPSET, output_path=path
        )
        return told(model, inputs, outputs)

    def _frozen_by_2(self) -> tuple[Any, list[str], list[str]]:
        from tensorflow.python.framework import (
            convert_to_constants as constants,
        )

        loaded = tf.saved_model.load(self.path)
        function = loaded.signatures[self.key]
        frozen = constants.convert_variables_to_constants_v2(function)
        named = function.structured_input_signature[1]
        inputs = [f"{named[name].name}:0" for name in self.inputs]
        outputs = dict(zip(sorted(function.structured_outputs), frozen.outputs, strict=True))
        return (
            frozen.graph.as_graph_def(), inputs, [outputs[name].name for name in self.outputs]
        )  # fmt: skip

    def _frozen_by_1(self) -> tuple[Any, list[str], list[str]]:
        graph = self.session.graph
        outputs = [info.name for info in self.outputs.values()]
        with graph.as_default():
            frozen = tf.compat.v1.graph_util.convert_variables_to_constants(
                self.session, graph.as_graph_def(), [name.split(":")[0] for name in outputs]
            )
        return frozen, [info.name for info in self.inputs.values()], outputs

    def infer(self, given: list[Any]) -> list[Any]:
        """Answers to one batch."""
        feeds = {
            info.name: values for info, values in zip(self.inputs.values(), given, strict=True)
        }
        answers: list[Any] = self.session.run([o.name for o in self.outputs.values()], feeds)
        return answers

    @staticmethod
    def _port(name: str, info: Any) -> dict[str, Any]:
        shape = info.tensor_shape
        sizes = None if shape.unknown_rank else [d.size if d.size >= 0 else None for d in shape.dim]
        return {"name": name, "dtype": tf.dtypes.as_dtype(info.dtype).name, "shape": sizes}


class TFLite:
    """A .tflite file; rows one by one where its batch is fixed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.interpreter = tf.lite.Interpreter(path, num_threads=1)
        signatures = self.interpreter.get_signature_list()
        if signatures:
            key = SIGNATURE if SIGNATURE in signatures else next(iter(signatures))
            runner = self.interpreter.get_signature_runner(key)
            self.inputs = dict(runner.get_input_details())
            self.outputs = dict(runner.get_output_details())
        else:
            self.inputs = {d["name"]: d for d in self.interpreter.get_input_details()}
            self.outputs = {d["name"]: d for d in self.interpreter.get_output_details()}

    def about(self) -> dict[str, Any]:
        """Inputs and outputs, in the order of all arrays."""
        return {
            "inputs": [self._port(*item) for item in self.inputs.items()],
            "outputs": [self._port(*item) for item in self.outputs.items()],
        }

    def convert(self, path: str) -> dict[str, Any]:
        """Write ONNX; tells the graph's names in the order of "about"."""
        model, _ = tf2onnx.convert.from_tflite(self.path, opset=OPSET, output_path=path)
        names = {d["index"]: d["name"] for d in self.interpreter.get_tensor_details()}
        return told(
            model, [names[d["index"]] for d in self.inputs.values()],
            [names[d["index"]] for d in self.outputs.values()],
        )  # fmt: skip

    def infer(self, given: list[Any]) -> list[Any]:
        """Answers to one batch."""
        free = all(int(d["shape_signature"][0]) == -1 for d in self.inputs.values())
        rows = len(given[0])
        if free or rows == 1:
            return self._run(given)
        alone = [self._run([values[i : i + 1] for values in given]) for i in range(rows)]
        return [np.concatenate(values) for values in zip(*alone, strict=True)]

    def _run(self, given: list[Any]) -> list[Any]:
        for detail, values in zip(self.inputs.values(), given, strict=True):
            self.interpreter.resize_tensor_input(detail["index"], values.shape)
        self.interpreter.allocate_tensors()
        for detail, values in zip(self.inputs.values(), given, strict=True):
            self.interpreter.set_tensor(detail["index"], quantised(values, detail))
        self.interpreter.invoke()
        return [
            dequantised(self.interpreter.get_tensor(d["index"]), d) for d in self.outputs.values()
        ]

    @staticmethod
    def _port(name: str, detail: dict[str, Any]) -> dict[str, Any]:
        scale, zero = detail["quantization"]
        sizes = [int(size) if size >= 0 else None for size in detail["shape_signature"]]
        dtype = np.dtype(detail["dtype"]).name
        return {"name": name, "dtype": dtype, "shape": sizes, "scale": scale, "zero_point": zero}


def quantised(values: Any, detail: dict[str, Any]) -> Any:
    """float32 as the integers that the file takes, as ONNX's QuantizeLinear does it."""
    wanted = np.dtype(detail["dtype"])
    scale, zero = detail["quantization"]
    if values.dtype == wanted or not scale:
        return values.astype(wanted)
    bounds = np.iinfo(wanted)
    steps = np.rint(values / np.float32(scale)) + zero
    return np.clip(steps, bounds.min, bounds.max).astype(wanted)


def dequantised(values: Any, detail: dict[str, Any]) -> Any:
    """The file's integers as the numbers they stand for."""
    scale, zero = detail["quantization"]
    if not scale:
        return values
    return ((values.astype(np.int32) - zero) * np.float32(scale)).astype(np.float32)


def told(model: Any, inputs: list[str], outputs: list[str]) -> dict[str, Any]:
    """The graph's own names in the order of "about"; ValueError for what has no ONNX operator."""
    missing = sorted({
        node.op_type for node in model.graph.node
        if node.domain not in ("", "ai.onnx", "ai.onnx.ml") or node.op_type.startswith("TFL_")
    })  # fmt: skip
    import onnx

    missing += [
        node.op_type for node in model.graph.node
        if node.domain in ("", "ai.onnx") and not onnx.defs.has(node.op_type)
    ]  # fmt: skip
    if missing:
        raise ValueError(f"no ONNX operator for {', '.join(sorted(set(missing)))}")
    return {"inputs": inputs, "outputs": outputs}


def answer(model: Any, request: dict[str, Any]) -> dict[str, Any]:
    """What one line of the protocol asks for."""
    match request["do"]:
        case "about":
            about: dict[str, Any] = {**model.about(), "version": tf.__version__}
            return about
        case "convert":
            names: dict[str, Any] = model.convert(request["path"])
            return names
        case "infer":
            with np.load(request["given"]) as stored:
                given = [stored[f"input_{i}"] for i in range(len(stored.files))]
            answers = model.infer(given)
            np.savez(request["answers"], **{f"output_{i}": v for i, v in enumerate(answers)})
            return {}
    raise ValueError(f"{request['do']}: not known")


def main() -> None:
    """Serve requests until stdin ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # TensorFlow talks to stdout; only replies may go there
    model: Any = None
    for line in sys.stdin:
        try:
            if model is None:
                kind, path = sys.argv[1:]
                model = SavedModel(path) if kind == "tensorflow" else TFLite(path)
            reply = answer(model, json.loads(line))
        except Exception as error:  # told to the asker, whatever it is
            reply = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
