"""Sizes that a model claims, compared with what is there before anything is allocated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from export.inspection.reason import Reason
from export.inspection.walk import Scope, node_name, scopes, shown, sparse_tensors, tensors

MOST_BYTES = 2**31 - 1  # of one tensor: the whole memory of a page is little more
COUNTABLE = 2**63 - 1
SMALL = 4096  # values of a constant that says a shape

BITS: Mapping[int, int] = {
    TensorProto.FLOAT: 32, TensorProto.UINT8: 8, TensorProto.INT8: 8, TensorProto.UINT16: 16,
    TensorProto.INT16: 16, TensorProto.INT32: 32, TensorProto.INT64: 64, TensorProto.STRING: 0,
    TensorProto.BOOL: 8, TensorProto.FLOAT16: 16, TensorProto.DOUBLE: 64, TensorProto.UINT32: 32,
    TensorProto.UINT64: 64, TensorProto.COMPLEX64: 64, TensorProto.COMPLEX128: 128,
    TensorProto.BFLOAT16: 16, TensorProto.FLOAT8E4M3FN: 8, TensorProto.FLOAT8E4M3FNUZ: 8,
    TensorProto.FLOAT8E5M2: 8, TensorProto.FLOAT8E5M2FNUZ: 8, TensorProto.FLOAT8E8M0: 8,
    TensorProto.UINT4: 4, TensorProto.INT4: 4, TensorProto.FLOAT4E2M1: 4, TensorProto.UINT2: 2,
    TensorProto.INT2: 2,
}  # fmt: skip
COMPLEX = {TensorProto.COMPLEX64, TensorProto.COMPLEX128}


def size_reasons(model: onnx.ModelProto, name: str) -> Iterator[Reason]:
    """Impossible or enormous sizes, and tensors that do not hold what they claim."""
    for where, tensor in tensors(model):
        yield from _tensor(f"{name}: {where}", tensor)
    for where, sparse in sparse_tensors(model):
        yield from _sparse(f"{name}: {where}", sparse)
    for value in (*model.graph.input, *model.graph.output):
        yield from _declared(f"{name}: {shown(value.name)}", value)
    for scope in scopes(model):
        yield from _claims(name, scope)


def zero_size_reasons(model: onnx.ModelProto, name: str) -> Iterator[Reason]:
    """Inputs that nothing can be given to."""
    for value in model.graph.input:
        dims = [d.dim_value for d in value.type.tensor_type.shape.dim if d.HasField("dim_value")]
        if 0 in dims:
            yield Reason("zero-size-input", f"{name}: {shown(value.name)} is declared with a size "
                         f"of 0 in {dims}; export it with a free size", "publishing")  # fmt: skip


def _tensor(where: str, tensor: TensorProto) -> Iterator[Reason]:
    if tensor.data_type not in BITS:
        yield Reason("bad-type", f"{where}: holds values of type {tensor.data_type}, which ONNX "
                     "does not have")  # fmt: skip
        return
    if reason := _dims(where, list(tensor.dims), BITS[tensor.data_type]):
        yield reason
        return
    if tensor.data_location == TensorProto.EXTERNAL:
        return  # measured on the file, by external.py
    wanted, there, unit = _held(tensor)
    if wanted == there:
        return
    if wanted > MOST_BYTES:
        yield Reason("huge-claim", f"{where}: claims {wanted:,} {unit} by its shape "
                     f"{list(tensor.dims)} and holds {there:,}, limit {MOST_BYTES:,}")  # fmt: skip
    else:
        yield Reason("wrong-length", f"{where}: holds {there:,} {unit}, its shape "
                     f"{list(tensor.dims)} takes {wanted:,}; export it again")  # fmt: skip


def _held(tensor: TensorProto) -> tuple[int, int, str]:
    """What the shape takes and what is there, in bytes or in values."""
    count, bits = math.prod(tensor.dims), BITS[tensor.data_type]
    if tensor.HasField("raw_data"):
        return (count * bits + 7) // 8, len(tensor.raw_data), "bytes"
    if tensor.data_type == TensorProto.STRING:
        return count, len(tensor.string_data), "strings"
    field = onnx.helper.tensor_dtype_to_field(tensor.data_type)
    there = len(getattr(tensor, field))
    if bits < 8:
        return (count * bits + 7) // 8, there, "packed values"
    return count * (2 if tensor.data_type in COMPLEX else 1), there, "values"


def _dims(where: str, dims: Sequence[int], bits: int) -> Reason | None:
    if any(d < 0 for d in dims):
        return Reason("negative-dims", f"{where}: has the shape {list(dims)}; no size is negative")
    if math.prod(dims) * max(bits, 8) // 8 > COUNTABLE:
        return Reason("overflowing-dims", f"{where}: the shape {list(dims)} has more values than "
                      "can be counted in 63 bits")  # fmt: skip
    return None


def _sparse(where: str, sparse: onnx.SparseTensorProto) -> Iterator[Reason]:
    dims = list(sparse.dims)
    bits = BITS.get(sparse.values.data_type, 8)
    if reason := _dims(where, dims, bits):
        yield reason
        return
    if math.prod(dims) * bits // 8 > MOST_BYTES:
        yield Reason("allocation-bomb", f"{where}: a sparse tensor of the shape {dims} takes "
                     f"{math.prod(dims) * bits // 8:,} bytes, limit {MOST_BYTES:,}")  # fmt: skip
        return
    parts = [*_tensor(f"{where} (values)", sparse.values),
             *_tensor(f"{where} (indices)", sparse.indices)]  # fmt: skip
    yield from parts
    if not parts and (wrong := _bad_indices(sparse, dims)):
        yield Reason("bad-sparse", f"{where}: {wrong}; export it dense")


def _bad_indices(sparse: onnx.SparseTensorProto, dims: list[int]) -> str | None:
    if sparse.indices.data_type != TensorProto.INT64:
        return "the indices of a sparse tensor are no int64"
    indices, count = numpy_helper.to_array(sparse.indices), math.prod(sparse.values.dims)
    if indices.ndim == 2 and indices.shape == (count, len(dims)):
        inside = ((indices >= 0) & (indices < np.array(dims))).all()
    elif indices.ndim == 1 and len(indices) == count:
        inside = ((indices >= 0) & (indices < math.prod(dims))).all()
    else:
        return f"indices of the shape {list(indices.shape)} for {count} values"
    return None if inside else f"an index of a sparse tensor lies outside its shape {dims}"


def _declared(where: str, value: onnx.ValueInfoProto) -> Iterator[Reason]:
    kind = value.type.tensor_type
    dims = [d.dim_value for d in kind.shape.dim if d.HasField("dim_value")]
    bits = BITS.get(kind.elem_type, 8) or 64
    if reason := _dims(where, dims, bits):
        yield reason
    elif math.prod(dims) * bits // 8 > MOST_BYTES:
        yield Reason("huge-claim", f"{where}: is declared with {math.prod(dims) * bits // 8:,} "
                     f"bytes, limit {MOST_BYTES:,}")  # fmt: skip


def _claims(name: str, scope: Scope) -> Iterator[Reason]:
    """Operators that make much out of little, where constants say how much."""
    known = _constants(scope)
    for node in scope.nodes:
        given = [known.get(i) for i in node.input]
        made = _made(node, given)
        if made is not None and made * 4 > MOST_BYTES:
            yield Reason("allocation-bomb", f"{name}: {node_name(node)} makes {made:,} values out "
                         f"of constants, limit {MOST_BYTES // 4:,}")  # fmt: skip


def _constants(scope: Scope) -> dict[str, list[float]]:
    """Small constant numbers by name."""
    found = {t.name: t for t in scope.graph.initializer} if scope.graph is not None else {}
    for node in scope.nodes:
        if node.op_type == "Constant" and node.output:
            for attribute in node.attribute:
                if attribute.name == "value":
                    found[node.output[0]] = attribute.t
    return {name: values for name, t in found.items() if (values := _numbers(t)) is not None}


def _numbers(tensor: TensorProto) -> list[float] | None:
    external = tensor.data_location == TensorProto.EXTERNAL
    numeric = tensor.data_type in (TensorProto.INT64, TensorProto.INT32, TensorProto.FLOAT)
    fits = all(d >= 0 for d in tensor.dims) and math.prod(tensor.dims) <= SMALL
    if external or not numeric or not fits or _held(tensor)[0] != _held(tensor)[1]:
        return None
    numbers: list[float] = numpy_helper.to_array(tensor).ravel().tolist()
    return numbers


def _made(node: onnx.NodeProto, given: Sequence[list[float] | None]) -> int | None:
    """How many values the node makes at least; None where its inputs are not constant."""
    match node.op_type, given:
        case "ConstantOfShape", [[*shape]]:
            return _product(shape)
        case (("Expand" | "Tile"), [_, [*shape]]):
            return _product(shape)
        case "Range", [[start], [limit], [delta]] if delta and all(
            map(math.isfinite, (start, limit, delta))
        ):
            return max(0, math.ceil((limit - start) / delta))
        case "OneHot", [_, [depth], *_]:
            return int(depth) if math.isfinite(depth) else None
        case "Pad", [_, [*pads], *_]:
            return int(max((p for p in pads if math.isfinite(p)), default=0))
        case (("RandomNormal" | "RandomUniform"), _):
            return _product([d for a in node.attribute if a.name == "shape" for d in a.ints])
        case "Resize", [_, _, _, [*sizes]]:
            return _product(sizes)
        case (("Resize" | "Upsample"), [_, *_, [*scales]]) if len(given) in (2, 3):
            return _product(scales)
    return None


def _product(sizes: Sequence[float]) -> int:
    return math.prod(int(s) for s in sizes if math.isfinite(s) and s > 0) if 0 not in sizes else 0
