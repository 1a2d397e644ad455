"""The runtimes that Likewise ships, as the operator suite calls them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from export.errors import LikewiseError
from export.inspection.shipped import RawPage
from export.runtime import Session
from tests.conformance.judge import CannotLoadError, Opened
from tests.conformance.suite import Case, Value

OPEN_MS, RUN_MS = 30_000, 30_000


def native(case: Case) -> Opened:
    """onnxruntime on the CPU."""
    _refuse_types(case)
    try:
        session = Session(case.model.SerializeToString())
    except LikewiseError as error:
        raise CannotLoadError(str(error.__cause__ or error)) from error

    def run(inputs: dict[str, Value]) -> Sequence[Value]:
        outputs = session.run_batch(inputs)
        return [outputs[name] for name in case.outputs]

    return run


class Web:
    """onnxruntime-web's wasm in Chromium, through the raw page."""

    def __init__(self, page: RawPage) -> None:
        self._page = page

    def __call__(self, case: Case) -> Opened:
        """Make a session in the page's worker."""
        for value in (*case.model.graph.input, *case.model.graph.output):
            if not value.type.HasField("tensor_type"):
                kind = value.type.WhichOneof("value")
                raise CannotLoadError(f"{value.name} is a {kind}, no tensor", code="no-tensor")
        _refuse_types(case)
        try:
            self._page.open(case.model.SerializeToString(), "wasm", OPEN_MS)
        except LikewiseError as error:
            raise CannotLoadError(str(error)) from error

        def run(inputs: dict[str, Value]) -> Sequence[Value]:
            outputs = self._page.run(inputs, RUN_MS)
            return [outputs[name] for name in case.outputs]

        return run


def _refuse_types(case: Case) -> None:
    """Of inputs and outputs: what neither numpy nor a browser has a type for, as 4-bit numbers."""
    for value in (*case.model.graph.input, *case.model.graph.output):
        kind = value.type.tensor_type.elem_type
        if not value.type.HasField("tensor_type") or kind == onnx.TensorProto.STRING:
            continue
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
        if dtype.isbuiltin != 1 or np.issubdtype(dtype, np.complexfloating):
            raise CannotLoadError(f"{value.name} is {dtype.name}", code="no-such-type")
