"""Files of PyTorch weights, read without running what a file may hold."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import torch

from export.errors import SourceError

# Training scripts store the weights beside the optimiser's state, under one of these names.
NESTED = ("state_dict", "model_state_dict", "model")
SAFETENSORS = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
    "U8": torch.uint8, "BOOL": torch.bool,
}  # fmt: skip
MAX_HEADER_BYTES = 100_000_000


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The state dict in a .pth, .pt, .bin or .safetensors file. SourceError for anything else."""
    if path.suffix == ".safetensors":
        return _safetensors(path)
    try:
        stored: Any = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        raise SourceError(
            f"{path.name}: not a plain file of weights; store module.state_dict(), since a whole "
            "module is a pickle that can run any code"
        ) from error
    for name in NESTED:
        if isinstance(stored, dict) and isinstance(stored.get(name), dict):
            stored = stored[name]
    if not isinstance(stored, dict) or not stored or not _tensors(stored):
        raise SourceError(f"{path.name}: holds no state dict of tensors by name")
    return stored


def _tensors(stored: dict[Any, Any]) -> bool:
    return all(isinstance(value, torch.Tensor) for value in stored.values())


def _safetensors(path: Path) -> dict[str, torch.Tensor]:
    """The format of https://github.com/huggingface/safetensors: a JSON header, then the bytes."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    try:
        if size > min(len(data) - 8, MAX_HEADER_BYTES):
            raise ValueError(f"a header of {size:,} bytes in a file of {len(data):,}")
        header: dict[str, Any] = json.loads(data[8 : 8 + size])
        header.pop("__metadata__", None)
        return {name: _tensor(about, data[8 + size :]) for name, about in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise SourceError(f"{path.name}: not a safetensors file: {error}") from error


def _tensor(about: dict[str, Any], data: bytes) -> torch.Tensor:
    begin, end = about["data_offsets"]
    if not 0 <= begin <= end <= len(data):
        raise ValueError(f"a tensor at {begin} to {end} of {len(data):,} bytes")
    flat = torch.from_numpy(np.frombuffer(data[begin:end], np.uint8).copy())
    return flat.view(SAFETENSORS[about["dtype"]]).reshape(about["shape"])
