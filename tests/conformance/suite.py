"""The public ONNX operator suite, case by case: its model, what goes in, what must come out."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

Value = Any
"""An array, a list of arrays (a sequence), or None (an optional that is empty)."""


@dataclass(frozen=True)
class Case:
    """One case: `data` holds pairs of inputs by name and the outputs in order."""

    name: str
    model: onnx.ModelProto
    data: tuple[tuple[dict[str, Value], tuple[Value, ...]], ...]
    rtol: float
    atol: float

    @property
    def outputs(self) -> list[str]:
        """Names in order."""
        return [value.name for value in self.model.graph.output]


def all_cases() -> list[Case]:
    """Every node case that the installed onnx makes, in about twenty seconds."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases overflow and divide by zero on purpose
        return [_case(one) for one in load_model_tests(kind="node")]


def cases_of(modules: Iterable[str]) -> list[Case]:
    """The cases of some modules of onnx.backend.test.case.node, which are made when imported."""
    return [case for module in modules for case in _cases_of(module)]


@functools.cache
def _cases_of(module: str) -> tuple[Case, ...]:
    from onnx.backend.test.case import node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = len(node._NodeTestCases)
        importlib.import_module(f"onnx.backend.test.case.node.{module}")
        return tuple(_case(one) for one in node._NodeTestCases[before:])


def mismatch(expected: Sequence[Value], got: Sequence[Value], rtol: float, atol: float) -> str:
    """How the outputs differ, by the suite's own rule; empty: they do not."""
    if len(expected) != len(got):
        return f"{len(got)} outputs, expected {len(expected)}"
    for position, (wanted, given) in enumerate(zip(expected, got, strict=True)):
        if why := _mismatch(wanted, given, rtol, atol):
            return f"output {position}: {why}"
    return ""


def _mismatch(wanted: Value, given: Value, rtol: float, atol: float) -> str:
    if isinstance(wanted, list | tuple):
        if not isinstance(given, list | tuple):
            return f"{type(given).__name__}, expected a sequence"
        return mismatch(wanted, given, rtol, atol)
    if wanted is None or given is None:
        return "" if wanted is given else "one of the two is nothing"
    wanted, given = np.asarray(wanted), np.asarray(given)
    if wanted.shape != given.shape:
        return f"shape {list(given.shape)}, expected {list(wanted.shape)}"
    if wanted.dtype.kind in "OUS":
        return "" if np.array_equal(wanted.astype(str), given.astype(str)) else "other strings"
    if wanted.dtype != given.dtype:
        return f"{given.dtype}, expected {wanted.dtype}"
    if wanted.dtype.name == "bfloat16":
        rtol = max(rtol, 2**-6)
    if wanted.dtype.kind == "V" or wanted.dtype.name.startswith(("bfloat", "float8", "float4")):
        wanted, given = wanted.astype(np.float32), given.astype(np.float32)
    if np.allclose(given, wanted, rtol=rtol, atol=atol, equal_nan=True):
        return ""
    with np.errstate(invalid="ignore"):
        gap = np.abs(given.astype(np.float64) - wanted.astype(np.float64))
    return f"differs by {gap.max():.3g}"


def _value(made: Any) -> Value:
    """The suite mixes arrays, numpy's scalars, protobuf tensors and lists of them."""
    if made is None:
        return None
    if isinstance(made, list | tuple):
        return [_value(one) for one in made]
    if isinstance(made, onnx.TensorProto):
        return onnx.numpy_helper.to_array(made)
    return np.asarray(made)


def _case(made: Any) -> Case:
    weights = {t.name for t in made.model.graph.initializer}
    names = [value.name for value in made.model.graph.input if value.name not in weights]
    data = tuple(
        (dict(zip(names, map(_value, inputs), strict=False)), tuple(map(_value, outputs)))
        for inputs, outputs in made.data_sets
    )
    return Case(made.name, made.model, data, made.rtol, made.atol)
