"""Bodies of the Open Inference Protocol v2 with its binary tensor extension: read and write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from export.contract import Contract, Tensor
from server import strict_json, tensors
from server.errors import BadRequest
from server.sizes import Declared, limits
from server.tensors import Array, quoted

M = TypeVar("M", bound=BaseModel)

HEADER_LENGTH = "Inference-Header-Content-Length"

Size = Annotated[int, Field(ge=0)]


class _Sent(BaseModel):
    """Outside data. Keys that the protocol does not know are ignored, as it wants."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class InputParameters(_Sent):
    """`binary_data_size`: the tensor's bytes lie behind the JSON."""

    binary_data_size: Size | None = None


class SentInput(_Sent):
    """One input tensor: its declaration, and its data unless that is binary."""

    name: str
    shape: list[Size] = Field(max_length=16)
    datatype: str
    parameters: InputParameters = InputParameters()
    data: list[Any] | None = None


class OutputParameters(_Sent):
    """`binary_data`: whether this output comes as bytes behind the JSON."""

    binary_data: bool | None = None


class WantedOutput(_Sent):
    """One output that the client asks for."""

    name: str
    parameters: OutputParameters = OutputParameters()


class RequestParameters(_Sent):
    """`variant` is ours; `binary_data_output` is the default of all outputs."""

    binary_data_output: bool = False
    variant: str | None = None


class SentRequest(_Sent):
    """The JSON of an inference request."""

    id: str | None = None
    parameters: RequestParameters = RequestParameters()
    inputs: list[SentInput]
    outputs: list[WantedOutput] | None = None


@dataclass(frozen=True)
class Wanted:
    """An output to answer with, and how."""

    tensor: Tensor
    binary: bool


@dataclass(frozen=True)
class InferRequest:
    """A request that fits the contract: arrays by input name, and what to answer with."""

    id: str | None
    variant: str | None
    inputs: Mapping[str, Array]
    outputs: tuple[Wanted, ...]


@dataclass(frozen=True)
class Body:
    """A response's body; `json_bytes` is the length of its JSON when tensors follow."""

    data: bytes
    json_bytes: int | None


def read_request(
    contract: Contract,
    body: bytes,
    header_length: str | None,
    *,
    max_batch: int,
    max_values: int,
) -> InferRequest:
    """Read an inference request against the contract. Raises BadRequest for any misfit."""
    declared = Declared(limits(contract, max_batch=max_batch, max_values=max_values))
    head, tail = _split(body, header_length)
    sent = parse(SentRequest, head)
    return InferRequest(
        id=sent.id,
        variant=sent.parameters.variant,
        inputs=_inputs(contract.inputs, sent.inputs, tail, declared),
        outputs=_outputs(contract.outputs, sent),
    )


def write_response(head: Mapping[str, object], outputs: Sequence[tuple[Wanted, Array]]) -> Body:
    """The response: `head` and the outputs, JSON first, binary tensors behind it."""
    described: list[dict[str, object]] = []
    raw: list[bytes] = []
    for wanted, array in outputs:
        tensor = wanted.tensor
        entry: dict[str, object] = {
            "name": tensor.name,
            "datatype": tensors.datatype(tensor),
            "shape": list(array.shape),
        }
        if wanted.binary:
            raw.append(tensors.to_bytes(tensor, array))
            entry["parameters"] = {"binary_data_size": len(raw[-1])}
        else:
            entry["data"] = tensors.to_json(tensor, array)
        described.append(entry)
    text = strict_json.dumps({**head, "outputs": described})
    return Body(data=b"".join([text, *raw]), json_bytes=len(text) if raw else None)


def parse(model: type[M], data: bytes) -> M:
    """Strict JSON into `model`. Raises BadRequest naming each wrong field."""
    value = strict_json.loads(data)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        wrong = [f"{_where(e['loc'])}: {e['msg']}" for e in error.errors()[:8]]
        raise BadRequest("; ".join(wrong)) from error


def _split(body: bytes, header_length: str | None) -> tuple[bytes, memoryview]:
    if header_length is None:
        return body, memoryview(b"")
    if not re.fullmatch(r"[0-9]{1,12}", header_length) or int(header_length) > len(body):
        raise BadRequest(
            f"{HEADER_LENGTH} is {quoted(header_length)}, expected at most {len(body)},"
            " the body's length in bytes"
        )
    length = int(header_length)
    return body[:length], memoryview(body)[length:]


def _inputs(
    expected: Sequence[Tensor], sent: Sequence[SentInput], tail: memoryview, declared: Declared
) -> dict[str, Array]:
    known = {tensor.name: tensor for tensor in expected}
    arrays: dict[str, Array] = {}
    for item in sent:
        if item.name not in known or item.name in arrays:
            again = "given twice" if item.name in arrays else "unknown"
            raise BadRequest(f"input {quoted(item.name)} is {again}; expected: {_names(expected)}")
        tensor = known[item.name]
        declared.check(tensor, item.datatype, item.shape)
        arrays[item.name], tail = _array(tensor, item, tail)
    if missing := [tensor for tensor in expected if tensor.name not in arrays]:
        raise BadRequest(f"input missing: {_names(missing)}")
    if len(tail):
        raise BadRequest(f"{len(tail)} bytes follow the last binary tensor")
    return arrays


def _array(tensor: Tensor, item: SentInput, tail: memoryview) -> tuple[Array, memoryview]:
    size = item.parameters.binary_data_size
    if (size is None) == (item.data is None):
        raise BadRequest(
            f"input {quoted(tensor.name)}: give data or parameters.binary_data_size, one of them"
        )
    if item.data is not None:
        return tensors.from_json(tensor, item.shape, item.data), tail
    raw = tail[:size]
    if len(raw) != size:
        raise BadRequest(
            f"input {quoted(tensor.name)}: binary_data_size is {size},"
            f" but only {len(raw)} bytes follow the JSON ({HEADER_LENGTH} tells where it ends)"
        )
    return tensors.from_bytes(tensor, item.shape, raw), tail[size:]


def _outputs(offered: Sequence[Tensor], sent: SentRequest) -> tuple[Wanted, ...]:
    default = sent.parameters.binary_data_output
    if not sent.outputs:
        return tuple(Wanted(tensor, default) for tensor in offered)
    known = {tensor.name: tensor for tensor in offered}
    wanted: dict[str, Wanted] = {}
    for item in sent.outputs:
        if item.name not in known or item.name in wanted:
            again = "asked for twice" if item.name in wanted else "unknown"
            raise BadRequest(f"output {quoted(item.name)} is {again}; offered: {_names(offered)}")
        binary = item.parameters.binary_data
        wanted[item.name] = Wanted(known[item.name], default if binary is None else binary)
    return tuple(wanted.values())


def _names(expected: Sequence[Tensor]) -> str:
    return ", ".join(tensor.name for tensor in expected)


def _where(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc) or "the body"
