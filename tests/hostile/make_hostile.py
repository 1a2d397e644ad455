"""Makes files that would harm whoever opens them carelessly: `python make_hostile.py FOLDER`.

`HOSTILE` says of each by which code it must be refused, and how it is made. Each maker gets an
empty folder of its own and gives the path to be checked.
"""

from __future__ import annotations

import gzip
import io
import os
import pickle
import random
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, STRING, BOOL = (
    TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING, TensorProto.BOOL
)  # fmt: skip
Maker = Callable[[Path], Path]
INT64_MAX = 2**63 - 1


def make_all(folder: Path) -> dict[str, Path]:
    """Every hostile file, each in a folder of its own, by name."""
    made = {}
    for name, (_, maker) in HOSTILE.items():
        own = folder / name
        own.mkdir(parents=True)
        made[name] = maker(own)
    return made


def model(
    nodes: Sequence[onnx.NodeProto], *, inputs: Sequence[Any] | None = None,
    outputs: Sequence[Any] | None = None, weights: Sequence[TensorProto] = (), opset: int = 20,
    domains: Sequence[tuple[str, int]] = (), functions: Sequence[onnx.FunctionProto] = (),
) -> onnx.ModelProto:  # fmt: skip
    """A model of x [N, 4] to y of two dimensions, unless said otherwise."""
    x = helper.make_tensor_value_info("x", FLOAT, ["N", 4])
    y = value("y")
    graph = helper.make_graph(
        list(nodes), "g", [x] if inputs is None else list(inputs),
        [y] if outputs is None else list(outputs), list(weights),
    )  # fmt: skip
    imports = [helper.make_opsetid(d, v) for d, v in (("", opset), *domains)]
    made = helper.make_model(graph, opset_imports=imports, functions=list(functions))
    made.ir_version = 10
    return made


def good() -> onnx.ModelProto:
    """A harmless one."""
    weight = numpy_helper.from_array(np.ones((4, 2), np.float32), "w")
    return model([helper.make_node("MatMul", ["x", "w"], ["y"], "m")], weights=[weight])


def value(name: str, kind: int = FLOAT, rank: int = 2) -> Any:
    return helper.make_tensor_value_info(name, kind, [None] * rank)


def saved(made: onnx.ModelProto, folder: Path) -> Path:
    return written(made.SerializeToString(), folder)


def written(data: bytes, folder: Path) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(data)
    return path


def weights(**arrays: Any) -> list[TensorProto]:
    return [numpy_helper.from_array(np.asarray(value), name) for name, value in arrays.items()]


node = helper.make_node


# Bytes that are no model.


def empty(folder: Path) -> Path:
    return written(b"", folder)


def random_bytes(folder: Path) -> Path:
    return written(random.Random(7).randbytes(5000), folder)


def web_page(folder: Path) -> Path:
    return written(b"<!DOCTYPE html><html><body>404 not found</body></html>", folder)


def zip_bomb(folder: Path) -> Path:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.onnx", bytes(50_000_000))
    return written(buffer.getvalue(), folder)


def gzipped(folder: Path) -> Path:
    return written(gzip.compress(bytes(10_000_000)), folder)


class _Harm:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, ("touch harmed",)


def pickled(folder: Path) -> Path:
    return written(pickle.dumps(_Harm()), folder)


def lfs_pointer(folder: Path) -> Path:
    text = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 90000000\n"
    return written(text, folder)


def a_folder(folder: Path) -> Path:
    (folder / "model.onnx").mkdir()
    return folder / "model.onnx"


def a_pipe(folder: Path) -> Path:
    os.mkfifo(folder / "model.onnx")
    return folder / "model.onnx"


def a_device(folder: Path) -> Path:
    (folder / "model.onnx").symlink_to("/dev/zero")
    return folder / "model.onnx"


def truncated(folder: Path) -> Path:
    data = good().SerializeToString()
    return written(data[: len(data) // 2], folder)


def field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def varint(value: int) -> bytes:
    data = b""
    while value > 0x7F:
        data, value = data + bytes([value & 0x7F | 0x80]), value >> 7
    return data + bytes([value])


def claims_3_gib(folder: Path) -> Path:
    return written(b"\x08\x0a" + varint(7 << 3 | 2) + varint(3 * 2**30) + b"\x0a\x00", folder)


def nested_messages(folder: Path) -> Path:
    """A graph in an attribute of a node of a graph, and so on, 5000 deep."""
    inner = field(2, b"deep")
    for _ in range(5000):
        inner = field(1, field(5, field(6, inner)))
    return written(b"\x08\x0a" + field(7, inner), folder)


def no_graph(folder: Path) -> Path:
    return written(b"\x08\x0a\x12\x03abc", folder)


# Weights in other files.


def _external(folder: Path, location: str, **about: str) -> Path:
    weight = TensorProto(name="w", data_type=FLOAT, dims=[4, 2])
    weight.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": "0", "length": "32", **about}.items():
        weight.external_data.add(key=key, value=value)
    made = good()
    made.graph.initializer[0].CopyFrom(weight)
    return saved(made, folder)


def _secret(path: Path) -> None:
    path.write_bytes(b"a person's secret, 32 bytes long")


def external_traversal(folder: Path) -> Path:
    inner = folder / "inner"
    inner.mkdir()
    _secret(folder / "secret.bin")
    return _external(inner, "../secret.bin")


def external_hidden_traversal(folder: Path) -> Path:
    (folder / "inner" / "sub").mkdir(parents=True)
    _secret(folder / "secret.bin")
    return _external(folder / "inner", "sub/../../secret.bin")


def external_absolute(folder: Path) -> Path:
    return _external(folder, "/etc/hostname")


def external_windows(folder: Path) -> Path:
    return _external(folder, "C:\\Windows\\win.ini")


def external_symlink(folder: Path) -> Path:
    inner = folder / "inner"
    inner.mkdir()
    _secret(folder / "secret.bin")
    (inner / "w.bin").symlink_to("../secret.bin")
    return _external(inner, "w.bin")


def external_linked_folder(folder: Path) -> Path:
    inner, outer = folder / "inner", folder / "outer"
    inner.mkdir()
    outer.mkdir()
    _secret(outer / "w.bin")
    (inner / "sub").symlink_to("../outer")
    return _external(inner, "sub/w.bin")


def external_in_working_folder(folder: Path) -> Path:
    """README.md lies where the command is called, not beside the model."""
    return _external(folder, "README.md")


def external_short(folder: Path) -> Path:
    (folder / "w.bin").write_bytes(bytes(16))
    return _external(folder, "w.bin")


def external_far_offset(folder: Path) -> Path:
    _secret(folder / "w.bin")
    return _external(folder, "w.bin", offset=str(2**62))


def external_negative(folder: Path) -> Path:
    _secret(folder / "w.bin")
    return _external(folder, "w.bin", offset="-32")


def external_pipe(folder: Path) -> Path:
    os.mkfifo(folder / "w.bin")
    return _external(folder, "w.bin")


# Sizes.


def _weight(folder: Path, dims: Sequence[int], data: bytes) -> Path:
    made = good()
    made.graph.initializer[0].CopyFrom(
        TensorProto(name="w", data_type=FLOAT, dims=dims, raw_data=data)
    )
    return saved(made, folder)


def overflowing_dims(folder: Path) -> Path:
    return _weight(folder, [2**32, 2**32], bytes(32))


def negative_dims(folder: Path) -> Path:
    return _weight(folder, [-4, -2], bytes(32))


def huge_initialiser(folder: Path) -> Path:
    return _weight(folder, [2**20, 2**20], bytes(32))


def wrong_length(folder: Path) -> Path:
    return _weight(folder, [4, 2], bytes(28))


def wrong_length_of_constant(folder: Path) -> Path:
    value = TensorProto(name="c", data_type=INT64, dims=[1000], raw_data=bytes(8))
    constant = node("Constant", [], ["c"])
    constant.attribute.add(name="value", type=onnx.AttributeProto.TENSOR).t.CopyFrom(value)
    return saved(model([constant, node("Cast", ["c"], ["y"], to=FLOAT)], inputs=[]), folder)


def bad_type(folder: Path) -> Path:
    made = good()
    made.graph.initializer[0].data_type = 99
    return saved(made, folder)


def huge_input(folder: Path) -> Path:
    x = helper.make_tensor_value_info("x", FLOAT, [2**20, 2**20])
    return saved(model([node("Identity", ["x"], ["y"])], inputs=[x]), folder)


def _sparse(folder: Path, dims: Sequence[int], index: int) -> Path:
    values = numpy_helper.from_array(np.ones(1, np.float32), "w")
    indices = numpy_helper.from_array(np.array([index], np.int64), "w_indices")
    made = good()
    del made.graph.initializer[:]
    made.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, list(dims)))
    return saved(made, folder)


def sparse_outside(folder: Path) -> Path:
    return _sparse(folder, [4, 2], 8)


def sparse_bomb(folder: Path) -> Path:
    return _sparse(folder, [2**20, 2**20], 5)


# Much out of little.


def constant_of_shape(folder: Path) -> Path:
    nodes = [node("ConstantOfShape", ["s"], ["y"])]
    return saved(model(nodes, weights=weights(s=np.array([10**6, 10**6]))), folder)


def range_of_constants(folder: Path) -> Path:
    limits = weights(a=np.array(0), b=np.array(10**12), c=np.array(1))
    y = value("y", INT64, 1)
    return saved(
        model([node("Range", ["a", "b", "c"], ["y"])], outputs=[y], weights=limits), folder
    )


# The next ones hide the size from whoever looks only at constants: it comes from the input's shape.
_HIDDEN = (node("Shape", ["x"], ["shape"]), node("ReduceMax", ["shape"], ["four"], keepdims=1))


def hidden_constant_of_shape(folder: Path) -> Path:
    nodes = [*_HIDDEN, node("Mul", ["four", "k"], ["s"]), node("ConstantOfShape", ["s"], ["y"])]
    return saved(model(nodes, weights=weights(k=np.array([10**6, 10**5]))), folder)


def hidden_expand(folder: Path) -> Path:
    nodes = [*_HIDDEN, node("Mul", ["four", "k"], ["s"]), node("Expand", ["one", "s"], ["y"])]
    given = weights(k=np.array([10**6, 10**5]), one=np.ones(1, np.float32))
    return saved(model(nodes, weights=given), folder)


def hidden_tile(folder: Path) -> Path:
    nodes = [*_HIDDEN, node("Mul", ["four", "k"], ["s"]), node("Tile", ["x", "s"], ["y"])]
    return saved(model(nodes, weights=weights(k=np.array([10**5, 10**5]))), folder)


def hidden_range(folder: Path) -> Path:
    nodes = [
        *_HIDDEN, node("Mul", ["four", "k"], ["b"]), node("Squeeze", ["b"], ["end"]),
        node("Range", ["a", "end", "c"], ["r"]), node("Cast", ["r"], ["y"], to=FLOAT),
    ]  # fmt: skip
    given = weights(a=np.array(0), c=np.array(1), k=np.array([10**11]))
    return saved(model(nodes, weights=given, outputs=[value("y", rank=1)]), folder)


def tile_doubling(folder: Path) -> Path:
    """Each step only doubles; forty of them make a trillion."""
    nodes = [node("Tile", [f"t{i}", "two"], [f"t{i + 1}"]) for i in range(40)]
    nodes = [node("Identity", ["x"], ["t0"]), *nodes, node("Identity", ["t40"], ["y"])]
    return saved(model(nodes, weights=weights(two=np.array([2, 1]))), folder)


def string_doubling(folder: Path) -> Path:
    nodes = [node("StringConcat", [f"t{i}", f"t{i}"], [f"t{i + 1}"]) for i in range(40)]
    nodes = [node("Identity", ["x"], ["t0"]), *nodes, node("Identity", ["t40"], ["y"])]
    x = helper.make_tensor_value_info("x", STRING, [8])
    y = value("y", STRING, 1)
    return saved(model(nodes, inputs=[x], outputs=[y]), folder)


def slow_products(folder: Path) -> Path:
    """Ten thousand products of large matrices, and no loop."""
    nodes = [node("MatMul", [f"t{i}", "w"], [f"t{i + 1}"]) for i in range(10_000)]
    make = [*_HIDDEN, node("Mul", ["four", "k"], ["s"]), node("ConstantOfShape", ["s"], ["t0"]),
            node("ConstantOfShape", ["s"], ["w"])]  # fmt: skip
    nodes = [*make, *nodes, node("ReduceMax", ["t10000"], ["y"])]
    return saved(model(nodes, weights=weights(k=np.array([256, 256]))), folder)


# Loops, graphs in graphs, functions.


def _loop(folder: Path, turns: str) -> Path:
    body = helper.make_graph(
        [node("Identity", ["go"], ["still"]), node("Add", ["v", "one"], ["w"])], "body",
        [value("i", INT64, 0), value("go", BOOL, 0), value("v")],
        [value("still", BOOL, 0), value("w")],
    )  # fmt: skip
    given = weights(yes=np.array(True), one=np.ones(1, np.float32), many=np.array(INT64_MAX))
    return saved(
        model([node("Loop", [turns, "yes", "x"], ["y"], body=body)], weights=given), folder
    )


def endless_loop(folder: Path) -> Path:
    return _loop(folder, "")


def very_long_loop(folder: Path) -> Path:
    return _loop(folder, "many")


def _ifs(depth: int) -> onnx.GraphProto:
    y = value(f"y{depth}")
    if not depth:
        return helper.make_graph([node("Identity", ["x"], ["y0"])], "leaf", [], [y])
    deeper = _ifs(depth - 1)
    other = helper.make_graph([node("Identity", ["x"], [f"z{depth}"])], "other", [],
                              [value(f"z{depth}")])  # fmt: skip
    nodes = [node("If", ["yes"], [f"y{depth}"], then_branch=deeper, else_branch=other)]
    return helper.make_graph(nodes, f"if{depth}", [], [y])


def deep_ifs(folder: Path) -> Path:
    graph = _ifs(28)
    made = model(list(graph.node), weights=weights(yes=np.array(True)))
    made.graph.output[0].name = "y28"
    return saved(made, folder)


def _functions(calls: Mapping[str, Sequence[str]], folder: Path) -> Path:
    functions = []
    for name, inner in calls.items():
        names = ["a", *(f"v{i}" for i in range(len(inner) - 1)), "b"]
        nodes = [node(f, [names[i]], [names[i + 1]], domain="" if f == "Neg" else "own")
                 for i, f in enumerate(inner)]  # fmt: skip
        imports = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
        functions.append(helper.make_function("own", name, ["a"], ["b"], nodes, imports))
    call = node(next(iter(calls)), ["x"], ["y"], domain="own")
    return saved(model([call], domains=[("own", 1)], functions=functions), folder)


def function_bomb(folder: Path) -> Path:
    """A thousand bytes that unfold to 2^20 nodes."""
    return _functions({f"f{i}": [f"f{i + 1}"] * 2 for i in range(20)} | {"f20": ["Neg"]}, folder)


def recursive_function(folder: Path) -> Path:
    return _functions({"f": ["g"], "g": ["Neg", "f"]}, folder)


def long_chain(folder: Path) -> Path:
    """200,000 nodes, written by hand: making that many objects takes longer than the test."""
    names = ["x", *(f"t{i}" for i in range(1, 200_000)), "y"]
    nodes = b"".join(
        field(1, field(1, one.encode()) + field(2, other.encode()) + field(4, b"Identity"))
        for one, other in pairwise(names)
    )
    graph = nodes + model([]).graph.SerializeToString()
    return written(b"\x08\x0a" + field(7, graph) + field(8, b"\x10\x14"), folder)


# Names and operators.


def cycle(folder: Path) -> Path:
    nodes = [node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"]), node("Neg", ["a"], ["y"])]
    return saved(model(nodes), folder)


def undefined_input(folder: Path) -> Path:
    return saved(model([node("Add", ["x", "nowhere"], ["y"])]), folder)


def undefined_in_branch(folder: Path) -> Path:
    def branch(taken: str) -> onnx.GraphProto:
        out = value(f"out_{taken}")
        return helper.make_graph([node("Neg", [taken], [f"out_{taken}"])], taken, [], [out])

    made = node("If", ["yes"], ["y"], then_branch=branch("x"), else_branch=branch("nowhere"))
    return saved(model([made], weights=weights(yes=np.array(True))), folder)


def undefined_output(folder: Path) -> Path:
    return saved(model([node("Neg", ["x"], ["z"])]), folder)


def two_weights_of_a_name(folder: Path) -> Path:
    made = good()
    made.graph.initializer.append(numpy_helper.from_array(np.zeros((4, 2), np.float32), "w"))
    return saved(made, folder)


def two_nodes_give_one_name(folder: Path) -> Path:
    return saved(model([node("Neg", ["x"], ["y"]), node("Abs", ["x"], ["y"])]), folder)


def custom_domain(folder: Path) -> Path:
    made = model([node("Evil", ["x"], ["y"], domain="com.example")], domains=[("com.example", 1)])
    return saved(made, folder)


def python_operator(folder: Path) -> Path:
    call = node("PyOp", ["x"], ["y"], domain="ai.onnx.contrib", id=1)
    return saved(model([call], domains=[("ai.onnx.contrib", 1)]), folder)


def python_domain(folder: Path) -> Path:
    call = node("PythonOp", ["x"], ["y"], domain="com.microsoft", func_name="os.system")
    return saved(model([call], domains=[("com.microsoft", 1)]), folder)


def unknown_operator(folder: Path) -> Path:
    return saved(model([node("Exec", ["x"], ["y"])]), folder)


def huge_opset(folder: Path) -> Path:
    return saved(model([node("Neg", ["x"], ["y"])], opset=2**31), folder)


def huge_ir(folder: Path) -> Path:
    made = good()
    made.ir_version = 2**40
    return saved(made, folder)


def two_opsets(folder: Path) -> Path:
    return saved(model([node("Neg", ["x"], ["y"])], domains=[("ai.onnx", 7)]), folder)


def terminal_codes(folder: Path) -> Path:
    made = good()
    made.graph.node[0].name = "\x1b[2J\x1b]0;owned\x07"
    return saved(made, folder)


def turned_text(folder: Path) -> Path:
    made = good()
    made.graph.node[0].output[0] = made.graph.output[0].name = "y\u202egnp.\u2066"
    return saved(made, folder)


def no_text(folder: Path) -> Path:
    data = good().SerializeToString()
    return written(data.replace(b"MatMul", b"Mat\xff\xfe\xfd"), folder)


SECRET = "hf_" + "abcdefghij" * 4


def private_notes(folder: Path) -> Path:
    made = good()
    path = "/".join(["", "home", "somebody", "train.py"])
    made.graph.node[0].metadata_props.add(key="source", value=f'File "{path}", line 7')
    return saved(made, folder)


def secrets(folder: Path) -> Path:
    made = good()
    made.metadata_props.add(key="uploaded-with", value=SECRET)
    return saved(made, folder)


HOSTILE: dict[str, tuple[str, Maker]] = {
    "empty": ("empty-file", empty),
    "random-bytes": ("not-onnx", random_bytes),
    "web-page": ("not-onnx", web_page),
    "zip-bomb": ("not-onnx", zip_bomb),
    "gzipped": ("not-onnx", gzipped),
    "pickled": ("not-onnx", pickled),
    "lfs-pointer": ("not-onnx", lfs_pointer),
    "no-graph": ("not-onnx", no_graph),
    "a-folder": ("not-a-file", a_folder),
    "a-pipe": ("not-a-file", a_pipe),
    "a-device": ("not-a-file", a_device),
    "truncated": ("truncated", truncated),
    "claims-3-gib": ("huge-claim", claims_3_gib),
    "nested-messages": ("nesting-bomb", nested_messages),
    "external-traversal": ("external-data-escape", external_traversal),
    "external-hidden-traversal": ("external-data-escape", external_hidden_traversal),
    "external-absolute": ("external-data-escape", external_absolute),
    "external-windows": ("external-data-escape", external_windows),
    "external-symlink": ("external-data-escape", external_symlink),
    "external-linked-folder": ("external-data-escape", external_linked_folder),
    "external-in-working-folder": ("external-data-missing", external_in_working_folder),
    "external-short": ("external-data-short", external_short),
    "external-far-offset": ("external-data-bad", external_far_offset),
    "external-negative": ("external-data-bad", external_negative),
    "external-pipe": ("external-data-bad", external_pipe),
    "overflowing-dims": ("overflowing-dims", overflowing_dims),
    "negative-dims": ("negative-dims", negative_dims),
    "huge-initialiser": ("huge-claim", huge_initialiser),
    "huge-input": ("huge-claim", huge_input),
    "wrong-length": ("wrong-length", wrong_length),
    "wrong-length-of-constant": ("wrong-length", wrong_length_of_constant),
    "bad-type": ("bad-type", bad_type),
    "sparse-outside": ("bad-sparse", sparse_outside),
    "sparse-bomb": ("allocation-bomb", sparse_bomb),
    "constant-of-shape": ("allocation-bomb", constant_of_shape),
    "range-of-constants": ("allocation-bomb", range_of_constants),
    "hidden-constant-of-shape": ("allocation-bomb", hidden_constant_of_shape),
    "hidden-expand": ("allocation-bomb", hidden_expand),
    "hidden-tile": ("allocation-bomb", hidden_tile),
    "hidden-range": ("allocation-bomb", hidden_range),
    "tile-doubling": ("allocation-bomb", tile_doubling),
    "string-doubling": ("allocation-bomb", string_doubling),
    "slow-products": ("too-slow", slow_products),
    "endless-loop": ("runaway-loop", endless_loop),
    "very-long-loop": ("runaway-loop", very_long_loop),
    "deep-ifs": ("deep-nesting", deep_ifs),
    "function-bomb": ("function-bomb", function_bomb),
    "recursive-function": ("recursive-function", recursive_function),
    "long-chain": ("too-many-nodes", long_chain),
    "cycle": ("cycle", cycle),
    "undefined-input": ("undefined-input", undefined_input),
    "undefined-in-branch": ("undefined-input", undefined_in_branch),
    "undefined-output": ("undefined-output", undefined_output),
    "two-weights-of-a-name": ("duplicate-name", two_weights_of_a_name),
    "two-nodes-give-one-name": ("duplicate-name", two_nodes_give_one_name),
    "custom-domain": ("foreign-domain", custom_domain),
    "python-operator": ("python-operator", python_operator),
    "python-domain": ("python-operator", python_domain),
    "unknown-operator": ("unknown-operator", unknown_operator),
    "huge-opset": ("too-new", huge_opset),
    "huge-ir": ("too-new", huge_ir),
    "two-opsets": ("duplicate-opset", two_opsets),
    "terminal-codes": ("bad-name", terminal_codes),
    "turned-text": ("bad-name", turned_text),
    "no-text": ("bad-name", no_text),
    "private-notes": ("private-metadata", private_notes),
    "secrets": ("private-metadata", secrets),
}


if __name__ == "__main__":
    for hostile_name, hostile_path in make_all(Path(sys.argv[1])).items():
        print(f"{HOSTILE[hostile_name][0]:24} {hostile_path}")  # noqa: T201
