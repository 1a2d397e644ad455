"""Engines: what runs a verified model on the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from export.contract import Contract, Variant
from server.tensors import Array


@dataclass(frozen=True)
class Task:
    """One inference: which model, where its verified bytes come from, inputs, wanted outputs."""

    contract: Contract
    variant: Variant
    read: Callable[[], bytes]
    inputs: Mapping[str, Array]
    outputs: Sequence[str]


class Engine(Protocol):
    """Runs tasks, from many threads at once."""

    provider: str

    def infer(self, task: Task) -> list[Array]:
        """The outputs in the order asked for. Raises Busy, TimedOut or BadContract."""
