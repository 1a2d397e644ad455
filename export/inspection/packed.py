"""Tensors as JSON, as the raw page and the limited subprocess hand them over."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from export.errors import LikewiseError
from export.tensors import Array, Tensors

Packed = dict[str, Any]


def pack(tensors: Tensors) -> list[Packed]:
    """Each as name, type, shape and base64 of its little-endian values, or a list of strings."""
    return [_pack(name, values) for name, values in tensors.items()]


def unpack(packed: Sequence[Packed]) -> Tensors:
    """The reverse of `pack`."""
    return {one["name"]: _unpack(one) for one in packed}


def _pack(name: str, values: Any) -> Packed:
    if not isinstance(values, np.ndarray):
        kind = type(values).__name__
        raise LikewiseError(
            f"{name}: is a {kind}, not a tensor, which a page cannot read; export it without"
            " (for scikit-learn: zipmap=False)",
            code="no-tensor",
        )
    shape = list(values.shape)
    if values.dtype == np.object_ or values.dtype.kind in "US":
        texts = [str(text) for text in values.ravel()]
        return {"name": name, "type": "string", "shape": shape, "data": texts}
    data = base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()
    return {"name": name, "type": values.dtype.name, "shape": shape, "data": data}


def _unpack(one: Packed) -> Array:
    if one["type"] == "string":
        return np.array(one["data"], dtype=np.object_).reshape(one["shape"])
    values: Array = np.frombuffer(base64.b64decode(one["data"]), _dtype(one["type"]))
    return values.reshape(one["shape"])


def _dtype(name: str) -> np.dtype[Any]:
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # the types that numpy itself does not have

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return found
