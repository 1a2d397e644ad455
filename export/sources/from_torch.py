"""PyTorch modules: source.py returns the trained module, torch.export writes it as ONNX."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from export.errors import SourceError
from export.recipe import Recipe
from export.sample import Sample, SourceContext
from export.samples import Probabilities
from export.sources.source_file import SourceFile

OPSET = 20
EXAMPLE_BATCH = 2  # 1 would let a fixed batch pass for a free one


def load(recipe: Recipe, context: SourceContext) -> TorchSource:
    """The module that the recipe's entry returns."""
    return TorchSource(recipe, SourceFile(recipe, context))


class TorchSource:
    """A torch.nn.Module with its data."""

    def __init__(self, recipe: Recipe, file: SourceFile) -> None:
        self.recipe = recipe
        self.file = file
        self.judge = (
            f"PyTorch {torch.__version__.split('+')[0]} with the recipe's own pre-processing"
        )

    def labels(self) -> list[str]:
        """Label names in the order of the module's output."""
        return self.file.labels()

    def samples(self, which: str) -> Sequence[Sample]:
        """A set of the recipe's [data]."""
        return list(self.file.call(getattr(self.recipe.file.data, which)))

    def reference(self, pictures: Sequence[bytes]) -> Probabilities:
        """What source.py's reference says."""
        entry = self.recipe.file.source.reference
        answer = np.asarray(self.file.call(entry, list(pictures)), np.float32)
        if answer.ndim != 2 or len(answer) != len(pictures):
            raise SourceError(
                f"{entry} returned shape {list(answer.shape)} for {len(pictures)} pictures; "
                "it must return probabilities [pictures, labels]"
            )
        if not np.isfinite(answer).all():
            raise SourceError(
                f"{entry} returned values that are not numbers; there is nothing to match"
            )
        return answer

    def export(self, path: Path) -> int:
        """Write the bare network: "input" float [batch, ...] to "scores" [batch, labels]."""
        module = self._module()
        example = torch.zeros(EXAMPLE_BATCH, *self._input_shape())
        # The exporter talks to stdout and warns about its own dependencies.
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            torch.onnx.export(
                module, (example,), path, dynamo=True, opset_version=OPSET, external_data=False,
                input_names=["input"], output_names=["scores"],
                dynamic_shapes=({0: torch.export.Dim("batch")},), verbose=False,
            )  # fmt: skip
        return sum(parameter.numel() for parameter in module.parameters())

    def _module(self) -> torch.nn.Module:
        entry = self.recipe.file.source.entry
        module: Any = self.file.call(entry)
        if not isinstance(module, torch.nn.Module):
            raise SourceError(
                f"{entry} returned {type(module).__name__}; it must return a torch.nn.Module"
            )
        return module.eval()

    def _input_shape(self) -> tuple[int, int, int]:
        height, width = self.recipe.file.input.size()
        tensor = self.recipe.file.input.tensor
        channels = 1 if tensor.channels == "grey" else 3
        return (channels, height, width) if tensor.layout == "NCHW" else (height, width, channels)
