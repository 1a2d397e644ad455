"""Text to token ids: the version's tokenizer.json alone decides, and what is no text is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from export.contract import FileRef, TextInput
from export.decode import decoder
from export.errors import ContractError, DecodeError
from export.tensors import Tensors

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "morning", "##s", "é", ","]
CLS, SEP, GOOD, MORNING, S, E_ACUTE, COMMA = 2, 3, 4, 5, 6, 7, 8


def tokenizer() -> Tokenizer:
    made = Tokenizer(
        models.WordPiece({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")  # noqa: S106
    )
    made.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    return made


def text(**change: object) -> TextInput:
    spec = {
        "kind": "text",
        "tokenizer": FileRef(file="tokenizer.json", size_bytes=1, sha256="0" * 64),
        "max_tokens": 6,
        "ids": "input_ids",
        "mask": "attention_mask",
        "types": "token_type_ids",
    }
    return TextInput.model_validate(spec | change)


def decoded(folder: Path, data: bytes, made: Tokenizer | None = None, **change: object) -> Tensors:
    (made or tokenizer()).save(str(folder / "tokenizer.json"))
    return decoder(text(**change), [], folder)(data)


READ: dict[str, tuple[bytes, list[int]]] = {
    "words": (b"good morning", [CLS, GOOD, MORNING, SEP]),
    "pieces": (b"Good mornings", [CLS, GOOD, MORNING, S, SEP]),
    "an unknown word": (b"good evening", [CLS, GOOD, 1, SEP]),
    "a byte order mark": (b"\xef\xbb\xbfgood", [CLS, GOOD, SEP]),
    "line ends": (b"good\r\nmorning\n", [CLS, GOOD, MORNING, SEP]),
    "a letter composed": ("\u00e9".encode(), [CLS, E_ACUTE, SEP]),
    "a letter decomposed": ("e\u0301".encode(), [CLS, E_ACUTE, SEP]),
    "an emoji": ("\U0001f600 good".encode(), [CLS, 1, GOOD, SEP]),
    "exactly as many tokens as fit": (b"good, good good", [CLS, GOOD, COMMA, GOOD, GOOD, SEP]),
    "more tokens than fit": (b"good, good morning morning", [CLS, GOOD, COMMA, GOOD, MORNING, SEP]),
    "far more": (b"good " * 5000, [CLS, GOOD, GOOD, GOOD, GOOD, SEP]),
}


@pytest.mark.parametrize("name", READ)
def test_text_becomes_the_tokenizers_ids(tmp_path: Path, name: str) -> None:
    data, ids = READ[name]
    got = decoded(tmp_path, data)
    assert list(got) == ["input_ids", "attention_mask", "token_type_ids"]
    assert {values.dtype.name for values in got.values()} == {"int64"}
    assert got["input_ids"].tolist() == [ids]
    assert got["attention_mask"].tolist() == [[1] * len(ids)]
    assert got["token_type_ids"].tolist() == [[0] * len(ids)]


REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "the text is empty"),
    "a byte order mark alone": (b"\xef\xbb\xbf", "the text is empty"),
    "white space alone": (b" \t\r\n\v\f", "the text is empty"),
    "latin-1": (b"caf\xe9", "not UTF-8: byte 3 is 0xe9"),
    "latin-1 behind a mark": (b"\xef\xbb\xbfcaf\xe9", "not UTF-8: byte 6 is 0xe9"),
    "a lone surrogate": (b"a\xed\xa0\x80", "not UTF-8: byte 1 is 0xed"),
    "a pair of encoded surrogates": (b"\xed\xa0\xbd\xed\xb8\x80", "not UTF-8: byte 0"),
    "an overlong slash": (b"\xc0\xaf", "not UTF-8: byte 0"),
    "beyond Unicode": (b"\xf4\x90\x80\x80", "not UTF-8: byte 0"),
    "cut within a letter": ("\u00e9".encode()[:1], "not UTF-8: byte 0"),
    "utf-16": ("good".encode("utf-16-le"), "character 1 is NUL"),
    "too long": (b"a" * 1_000_001, "1,000,001 bytes of text, limit 1,000,000"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_text_is_refused(tmp_path: Path, name: str) -> None:
    data, message = REFUSED[name]
    with pytest.raises(DecodeError, match=message) as caught:
        decoded(tmp_path, data)
    assert caught.value.code == "bad-input"


def test_a_text_at_the_limit_is_read(tmp_path: Path) -> None:
    assert decoded(tmp_path, b"good".ljust(1_000_000))["input_ids"].tolist() == [[CLS, GOOD, SEP]]


def test_the_files_own_padding_and_truncation_do_not_count(tmp_path: Path) -> None:
    made = tokenizer()
    made.enable_padding(length=50, pad_id=0)
    made.enable_truncation(3, stride=1, direction="left")
    got = decoded(tmp_path, b"good, morning", made)
    assert got["input_ids"].tolist() == [[CLS, GOOD, COMMA, MORNING, SEP]]
    got = decoded(tmp_path, b"good, good morning", made, max_tokens=4)
    assert got["input_ids"].tolist() == [[CLS, GOOD, COMMA, SEP]]


def test_a_network_without_mask_and_types_gets_ids_alone(tmp_path: Path) -> None:
    got = decoded(tmp_path, b"good", ids="tokens", mask=None, types=None)
    assert list(got) == ["tokens"]


def test_a_text_of_no_token_is_refused(tmp_path: Path) -> None:
    made = tokenizer()
    made.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    made.normalizer = normalizers.Replace("good", "")
    with pytest.raises(DecodeError, match="no token"):
        decoded(tmp_path, b"good", made)


def test_a_limit_that_leaves_no_room_for_text_is_the_contracts_fault(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"adds 2 special tokens, max_tokens = 2.*give 3"):
        decoded(tmp_path, b"good", max_tokens=2)
    assert decoded(tmp_path, b"good morning", max_tokens=3)["input_ids"].shape == (1, 3)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", json.dumps({"model": {}}).encode()])
def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(ContractError, match=r"tokenizer\.json: no tokenizer"):
        decoder(text(), [], tmp_path)


def test_a_tokenizer_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"tokenizer\.json: cannot be read: No such file"):
        decoder(text(), [], tmp_path)


def test_decoding_changes_nothing_for_the_next_text(tmp_path: Path) -> None:
    tokenizer().save(str(tmp_path / "tokenizer.json"))
    before = hashlib.sha256((tmp_path / "tokenizer.json").read_bytes()).digest()
    decode = decoder(text(), [], tmp_path)
    first = decode(b"good")["input_ids"]
    decode(b"good, " * 100)
    assert np.array_equal(decode(b"good")["input_ids"], first)
    assert hashlib.sha256((tmp_path / "tokenizer.json").read_bytes()).digest() == before
