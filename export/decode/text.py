"""Text to token ids, by the version's own tokenizer.json. The rules are in docs/decoders.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from export.contract import Tensor, TextInput
from export.errors import ContractError, DecodeError
from export.tensors import Tensors

MAX_BYTES = 1_000_000


def make(spec: TextInput, inputs: Sequence[Tensor], folder: Path) -> Callable[[bytes], Tensors]:  # noqa: ARG001
    """The decoder of one tokenizer; its own padding and truncation do not count."""
    path = folder / spec.tokenizer.file
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise ContractError(f"{path.name}: not a tokenizer: {error}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(spec.max_tokens)

    def decode(data: bytes) -> Tensors:
        encoding = tokenizer.encode(text_of(data))
        columns = {spec.ids: encoding.ids, spec.mask: encoding.attention_mask}
        columns[spec.types] = encoding.type_ids
        if not encoding.ids:
            raise DecodeError("the text has no tokens")
        return {name: np.array([values], np.int64) for name, values in columns.items() if name}

    return decode


def text_of(data: bytes) -> str:
    """The text; DecodeError when it is empty, too long or not UTF-8."""
    if len(data) > MAX_BYTES:
        raise DecodeError(f"the text has {len(data):,} bytes, limit {MAX_BYTES:,}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(f"the text is not UTF-8: byte {error.start} is wrong") from error
    if not text.strip():
        raise DecodeError("the text is empty")
    return text
