"""Text to token ids, with the tokenizers library. The rules are in docs/decoders.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from export.contract import Tensor, TextInput
from export.decode.reading import WHITE_SPACE, read_utf8
from export.errors import ContractError, DecodeError
from export.tensors import Tensors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_BYTES = 1_000_000


def make(spec: TextInput, _inputs: Sequence[Tensor], folder: Path) -> Callable[[bytes], Tensors]:
    """The decoder of text with `folder`'s tokenizer; ContractError when that cannot be used."""
    tokenizer = load_tokenizer(folder / spec.tokenizer.file, spec.max_tokens)
    return lambda data: decode(data, spec, tokenizer)


def load_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    """tokenizer.json, set to cut at `max_tokens` and to pad nothing, whatever the file says."""
    # Only a text needs the library, which half the models here never load.
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_str(path.read_bytes().decode())
    except OSError as error:
        raise ContractError(f"{path.name}: cannot be read: {error.strerror}") from error
    except Exception as error:  # tokenizers raises plain Exception
        raise ContractError(f"{path.name}: no tokenizer of this library: {error}") from error
    special = tokenizer.num_special_tokens_to_add(is_pair=False)
    if max_tokens <= special:
        raise ContractError(
            f"{path.name}: it adds {special} special tokens, max_tokens = {max_tokens} leaves no "
            f"room for text; give {special + 1} at least"
        )
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def decode(data: bytes, spec: TextInput, tokenizer: Tokenizer) -> Tensors:
    """Token ids, mask and segment ids as the spec names them, int64 [1, tokens]."""
    encoded = tokenizer.encode(read_text(data))
    if not encoded.ids:
        raise DecodeError("the tokenizer finds no token in this text; give one with words in it")
    named = (
        (spec.ids, encoded.ids),
        (spec.mask, encoded.attention_mask),
        (spec.types, encoded.type_ids),
    )
    return {name: np.array([values], np.int64) for name, values in named if name is not None}


def read_text(data: bytes) -> str:
    """The text; DecodeError when it is too long, no UTF-8 or empty."""
    if len(data) > MAX_BYTES:
        raise DecodeError(f"{len(data):,} bytes of text, limit {MAX_BYTES:,}; give a part of it")
    text = read_utf8(data)
    if "\0" in text:
        raise DecodeError(
            f"character {text.index(chr(0)):,} is NUL: this is no text, or one in UTF-16; "
            "save it as UTF-8"
        )
    if not text.strip(WHITE_SPACE):
        raise DecodeError("the text is empty; give at least one word")
    return text
