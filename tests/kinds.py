"""Small models of every kind of input but pictures: networks that give back what they get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from onnx import helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from export.contract import (
    BytesInput,
    Column,
    Contract,
    Decision,
    FileRef,
    FramesDecision,
    Index,
    Input,
    SoundInput,
    TableInput,
    Tensor,
    TensorInput,
    TextInput,
    ValuesDecision,
    sha256,
    to_json,
)
from export.version import index_entry

COLUMNS = [
    Column(name="size", title="Size", unit="mm", type="number", missing="nan", lowest=0,
           highest=10, categories=[]),
    Column(name="rooms", title="Rooms", unit="", type="integer", missing="refuse", categories=[]),
    Column(name="new", title="New", unit="", type="boolean", missing="refuse", categories=[]),
    Column(name="colour", title="Colour", unit="", type="category", missing="nan",
           categories=["rot", "größe", "a, b"]),
]  # fmt: skip
GIVEN: dict[str, tuple[Any, list[str]]] = {
    "f": ("float32", ["FP32", "1.5", "-1e-60"]), "k": ("int64", ["INT64", str(2**53 - 1), "-1"]),
    "i": ("int32", ["INT32", "1", str(-(2**31))]), "u": ("uint8", ["UINT8", "0", "255"]),
    "b": ("bool", ["BOOL", "true", "0"]), "s": ("string", ["BYTES", '""', '"ö"']),
}  # fmt: skip
SOUND: dict[str, Any] = {
    "kind": "sound", "tensor": "sound", "rate": 16_000, "mono": "mean",
    "resample": "kaiser-polyphase", "stream": None,
}  # fmt: skip
MAX_TOKENS = 24
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
TOKENS = ("ids", "mask", "types")
TOKENIZER = "tokenizer.json"
BYTES = BytesInput(kind="bytes", tensor="bytes", first=16, last=8, block=20, strip=True,
                   padding=256)  # fmt: skip


def tensors(*told: tuple[str, Any, int | str]) -> list[Tensor]:
    return [Tensor(name=n, dtype=dtype, shape=["batch", size]) for n, dtype, size in told]


def told_of(data: bytes) -> FileRef:
    return FileRef(file=TOKENIZER, size_bytes=len(data), sha256=sha256(data))


def wordpiece() -> bytes:
    """As BERT has it, of a few words."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIAL[1]))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=400, special_tokens=SPECIAL)
    tokenizer.train_from_iterator(WORDS * 3, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(length=64)  # settings that do not count
    tokenizer.enable_truncation(8, direction="left")
    return tokenizer.to_str().encode()


def byte_pairs() -> bytes:
    """As GPT-2 has it: bytes, so that no text is unknown, and no special token around them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=alphabet, special_tokens=["<|end|>"]
    )
    tokenizer.train_from_iterator(WORDS * 3, trainer)
    tokenizer.post_processor = processors.ByteLevel()
    return tokenizer.to_str().encode()


WORDS = ["the", "running", "Unbelievable", "naïve", "Straße", "ÅNGSTRÖM", "co-operate", "don't",
         "3.14%", "e\u0301\u0323", "東京", "日本語の", "한국어", "привет", "Σίσυφος", "שלום",
         "مرحبا", "नमस्ते", "ﬁne", "½", "😀", "👩\u200d👧", "a_b", "[CLS]", "[SEP]", "<|end|>",
         "x" * 120, "https://example.org/?q=1"]  # fmt: skip
GAPS = [" ", "  ", "\t", "\n", "\r\n", "\xa0", "\u3000", "", "\xad", "\x01", ", ", ". "]
TOKENIZERS = {"wordpiece": wordpiece(), "byte-pairs": byte_pairs()}


SPECS: dict[str, tuple[Input, list[Tensor]]] = {
    "matrix": (
        TableInput(kind="table", columns=COLUMNS, matrix="features"),
        tensors(("features", "float32", 4)),
    ),
    "columns": (
        TableInput(kind="table", columns=COLUMNS, matrix=None),
        tensors(("size", "float32", 1), ("rooms", "int64", 1), ("new", "int64", 1),
                ("colour", "string", 1)),
    ),
    "bytes": (BYTES, tensors(("bytes", "int32", 24))),
    "sound": (
        SoundInput(**SOUND, window_samples=None), tensors(("sound", "float32", "samples")),
    ),
    "window": (
        SoundInput(**SOUND, window_samples=500), tensors(("sound", "float32", 500)),
    ),
    **{
        name: (
            TextInput(kind="text", tokenizer=told_of(data), max_tokens=MAX_TOKENS, ids="ids",
                      mask="mask", types="types"),
            tensors(*((port, "int64", "tokens") for port in TOKENS)),
        )
        for name, data in TOKENIZERS.items()
    },
    "tensors": (
        TensorInput(kind="tensor"),
        tensors(*((name, dtype, 2) for name, (dtype, _) in GIVEN.items())),
    ),
}  # fmt: skip


def publish_all(folder: Path, like: Contract) -> None:
    """A version of each of SPECS in `folder`; what is not of its kind is as in `like`."""
    entries = {}
    for name, (spec, inputs) in SPECS.items():
        outputs = [t.model_copy(update={"name": f"of_{t.name}"}) for t in inputs]
        home = folder / name / "1"
        home.mkdir(parents=True)
        onnx.save(_identity(inputs, outputs), home / "model.onnx")
        (home / TOKENIZER).write_bytes(TOKENIZERS.get(name, b"{}"))
        data = (home / "model.onnx").read_bytes()
        variant = like.variants[0].model_copy(
            update={"file": "model.onnx", "size_bytes": len(data), "sha256": sha256(data)}
        )
        contract = like.model_copy(update={
            "name": name, "title": f"Kind {name}", "version": 1, "labels": [], "input": spec,
            "inputs": inputs, "outputs": outputs, "variants": [variant],
            "best": {"wasm": variant.name}, "decision": _decision(name, outputs), "examples": [],
            "documents": [],
        })  # fmt: skip
        (home / "contract.json").write_bytes(to_json(contract))
        entries[name] = index_entry(folder, home, contract)
    (folder / "index.json").write_bytes(to_json(Index(schema_version=2, models=entries)))


def _decision(name: str, outputs: list[Tensor]) -> Decision:
    names = [tensor.name for tensor in outputs]
    if name == "sound":  # what is loud is active
        return FramesDecision(
            kind="frames", probabilities=names[0], frame_seconds=1 / SOUND["rate"], threshold=0.5
        )
    return ValuesDecision(kind="values", values=names)


def _identity(inputs: list[Tensor], outputs: list[Tensor]) -> onnx.ModelProto:
    types = {"float32": 1, "uint8": 2, "int32": 6, "int64": 7, "string": 8, "bool": 9}

    def values(told: list[Tensor]) -> list[onnx.ValueInfoProto]:
        return [helper.make_tensor_value_info(t.name, types[t.dtype], t.shape) for t in told]

    nodes = [
        helper.make_node("Identity", [one.name], [other.name])
        for one, other in zip(inputs, outputs, strict=True)
    ]
    graph = helper.make_graph(nodes, "identity", values(inputs), values(outputs))
    opset = [helper.make_opsetid("", 20)]
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=opset, ir_version=10)
    return model
