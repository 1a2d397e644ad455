"""Whether the declared inputs fit the contract and each other, before anything is made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from export.contract import Contract, Tensor, TextInput
from server.errors import BadRequest
from server.tensors import datatype, listed, quoted, shape

BATCH = "batch"


@dataclass(frozen=True)
class Limits:
    """How large inputs may be: all values of one tensor, and the dimensions of a name."""

    values: int
    named: Mapping[str, int]


def limits(contract: Contract, *, max_batch: int, max_values: int) -> Limits:
    """The server's limits, and the contract's own: of a text its `max_tokens`."""
    named = {BATCH: max_batch}
    if isinstance(contract.input, TextInput):
        sizes = contract.tensor(contract.input.ids).shape or []
        # A longer text was never verified, and attention's memory grows with its square.
        named |= {s: contract.input.max_tokens for s in sizes[1:] if isinstance(s, str)}
    return Limits(max_values, named)


@dataclass
class Declared:
    """The inputs declared so far: a dimension's name stands for one size in all of them."""

    limits: Limits
    _sizes: dict[str, tuple[int, str]] = field(default_factory=dict)

    def check(self, tensor: Tensor, got_type: str, got: Sequence[int]) -> None:
        """Raises BadRequest, naming tensor, got and expected, unless type and shape fit."""
        name = quoted(tensor.name)
        if got_type != datatype(tensor):
            raise BadRequest(
                f"input {name}: datatype is {quoted(got_type)}, expected {datatype(tensor)}"
            )
        if not _fits(tensor, got):
            raise BadRequest(
                f"input {name}: shape is {listed(got)}, expected {shape(tensor)} (-1: 1 or more)"
            )
        for wanted, size in zip(
            tensor.shape or [], got, strict=False
        ):  # an unknown rank names none
            if isinstance(wanted, str):
                self._check_named(tensor.name, wanted, size)
        if math.prod(got) > self.limits.values:
            raise BadRequest(
                f"input {name}: shape is {listed(got)}, limit {self.limits.values:,} values"
            )

    def _check_named(self, name: str, dimension: str, size: int) -> None:
        limit = self.limits.named.get(dimension)
        if limit is not None and size > limit:
            raise BadRequest(f"input {quoted(name)}: {dimension} is {quoted(size)}, limit {limit}")
        known, where = self._sizes.setdefault(dimension, (size, name))
        if known != size:  # a graph may repeat the shorter one without a word
            raise BadRequest(
                f"input {quoted(name)}: {dimension} is {quoted(size)},"
                f" but {quoted(known)} in input {quoted(where)}"
            )


def _fits(tensor: Tensor, got: Sequence[int]) -> bool:
    if any(size < 1 for size in got):
        return False
    if tensor.shape is None:
        return True
    expected = shape(tensor)
    return len(got) == len(expected) and all(
        want in (-1, size) for size, want in zip(got, expected, strict=True)
    )
