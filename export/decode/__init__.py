"""Decoders: from what is given to named tensors. The rules are in docs/decoders.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import cast

from export.contract import Input, InputKind, Tensor
from export.tensors import Tensors

Decode = Callable[[bytes], Tensors]

# One line a kind; the module is imported when it is needed (text brings a tokenizer).
DECODERS: dict[InputKind, str] = {
    "image": "export.decode.pixels",
    "drawing": "export.decode.pixels",
    "text": "export.decode.text",
    "sound": "export.decode.sound",
    "table": "export.decode.table",
    "bytes": "export.decode.raw_bytes",
    "tensor": "export.decode.raw_tensors",
}


def decoder(spec: Input, inputs: Sequence[Tensor], folder: Path) -> Decode:
    """A function from one encoded input to its tensors, each with a batch axis of 1.

    `inputs` are the contract's (a stream's states do not count), `folder` is where its files lie
    (a text's tokenizer). The function raises DecodeError on what it refuses.
    """
    make = import_module(DECODERS[spec.kind]).make
    return cast("Callable[[Input, Sequence[Tensor], Path], Decode]", make)(spec, inputs, folder)
