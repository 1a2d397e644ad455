"""Everything that can be said against an ONNX file without running it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from export.inspection.external import external_reasons, external_tensors
from export.inspection.form import form_reasons, parse_reason
from export.inspection.metadata import metadata_reasons
from export.inspection.names import name_reasons, text_reasons
from export.inspection.operators import (
    amount_reasons,
    function_reasons,
    operator_reasons,
    publishing_reasons,
)
from export.inspection.reason import Before, Reason
from export.inspection.sizes import size_reasons, zero_size_reasons
from export.inspection.walk import shown
from export.repair import with_output_shapes

Check = Callable[[onnx.ModelProto, str], Iterable[Reason]]

# What one of these refuses, the next need not stand.
FIRST: tuple[Check, ...] = (amount_reasons, text_reasons)
CHECKS: tuple[Check, ...] = (operator_reasons, function_reasons, size_reasons, name_reasons)
MOST_OF_A_CODE = 3


def file_reasons(path: Path) -> list[Reason]:
    """Why the file may not be run, or not be published: none, and it may be both.

    Only for files made here: of anyone else's, `examine` of sandbox.py says the same from a
    process that may take no more than its share.
    """
    if reasons := form_reasons(path):
        return reasons
    read = read_model(path)
    if isinstance(read, Reason):
        return [read]
    return model_reasons(read, path)


def read_model(path: Path) -> onnx.ModelProto | Reason:
    """The parsed file, without what lies in other files, or why it is none."""
    data = path.read_bytes()
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as error:
        return parse_reason(path.name, data, error)
    if not model.HasField("graph") or not model.ir_version:
        return Reason("not-onnx", f"{path.name}: holds no graph, so it is no ONNX model")
    return model


def model_reasons(model: onnx.ModelProto, path: Path) -> list[Reason]:
    """What is wrong with a parsed model; `path`: where it lies, with its external data."""
    for check in FIRST:
        if early := list(check(model, path.name)):
            return _few(early)
    reasons = [reason for check in CHECKS for reason in check(model, path.name)]
    reasons += external_reasons(model, path.name, path.parent)
    if not any(r.before == "running" for r in reasons):
        reasons += _checker(model, path)
    publishing = (publishing_reasons, metadata_reasons, zero_size_reasons, _shapeless)
    reasons += [reason for check in publishing for reason in check(model, path.name)]
    if outside := external_tensors(model):
        told = f"{path.name}: weights in other files, {len(outside)} in all, first {outside[0][0]}"
        why = f"{told}; a browser takes one file, so put them into the model"
        reasons.append(Reason("external-data", why, "publishing"))
    return _few(reasons)


def _checker(model: onnx.ModelProto, path: Path) -> list[Reason]:
    """onnx's own checker; last, because it costs most and may itself be the target."""
    try:
        if external_tensors(model):
            onnx.checker.check_model(str(path), full_check=True)
        else:
            onnx.checker.check_model(_with_shapes(model), full_check=True)
    except MemoryError:
        raise
    except Exception as error:  # the checker raises several unrelated types
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return [Reason("invalid", f"{path.name}: not valid ONNX: {lines[0]}; export it again")]
    return []


def _shapeless(model: onnx.ModelProto, name: str) -> Iterator[Reason]:
    """Every runtime runs a model whose outputs tell no shape; a contract has to tell it."""
    for value in model.graph.output:
        if value.type.HasField("tensor_type") and not value.type.tensor_type.HasField("shape"):
            yield Reason("no-shape", f"{name}: the output {shown(value.name)} tells no shape; "
                         "infer the shapes, or export it again", "publishing")  # fmt: skip


def _with_shapes(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, or a copy whose outputs have the shapes that the checker asks for."""
    if not any(_shapeless(model, "")):
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    with_output_shapes(copy)
    return copy


def _few(reasons: Iterable[Reason]) -> list[Reason]:
    """The first of each kind, and how many more there are."""
    groups: dict[tuple[str, Before], list[Reason]] = {}
    for reason in reasons:
        groups.setdefault((reason.code, reason.before), []).append(reason)
    few = []
    for (code, before), group in groups.items():
        few += group[:MOST_OF_A_CODE]
        more = len(group) - MOST_OF_A_CODE
        if more > 0:
            few.append(Reason(code, f"and {more:,} more of this kind", before))
    return few
