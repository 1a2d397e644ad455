"""TorchScript files (.pt, .jit), by PyTorch's older exporter: the newer one reads none of them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, cast

import onnx
import torch

from export.errors import RecipeError, SourceError
from export.network import network_inputs, network_outputs
from export.recipe import Recipe
from export.repair import with_shipped_opset
from export.sample import SourceContext
from export.source_file import SourceFile
from export.sources.from_torch import (
    EXAMPLE_BATCH,
    EXAMPLE_SIZE,
    OPSET,
    TorchSource,
    evaluating,
    quiet,
    reason,
)
from export.sources.origin import source_path

OTHER_BATCH, OTHER_SIZE = EXAMPLE_BATCH + 1, EXAMPLE_SIZE + 4


def load(recipe: Recipe, context: SourceContext, file: SourceFile | None) -> TorchScriptSource:  # noqa: ARG001
    """The module in the file that the recipe names."""
    if recipe.file.source.file is None:
        raise RecipeError(f'{recipe.name}: kind = "torchscript" needs file = "model.pt"')
    path = source_path(recipe, context, recipe.file.source.file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TorchScript is deprecated, and still what people have
            module: Any = torch.jit.load(path, map_location="cpu")  # type: ignore[no-untyped-call]
    except Exception as error:
        raise SourceError(f"{path}: PyTorch cannot load it: {reason(error)}") from error
    return TorchScriptSource(recipe, _with_defaults(module))


def _with_defaults(module: Any) -> torch.nn.Module:
    """Arguments of forward that have a default keep it: the exporter wants every one given."""
    given = [one for one in module.forward.schema.arguments if one.name != "self"]
    asked = [one.name for one in given if not one.has_default_value()]
    if len(asked) == len(given):
        return cast("torch.nn.Module", module)
    whole: Any = torch.jit.script(_Holder(module))
    named, typed = ", ".join(asked), ", ".join(f"{name}: Tensor" for name in asked)
    whole.define(f"def forward(self, {typed}):\n    return self.module({named})\n")
    return cast("torch.nn.Module", whole)


class _Holder(torch.nn.Module):
    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module


class TorchScriptSource(TorchSource):
    """A module of which only TorchScript is left."""

    def export(self, path: Path) -> int:
        """Write the bare network; sizes that follow the inputs are found by trying two."""
        names = [tensor.name for tensor in network_inputs(self.recipe)]
        with quiet(), evaluating(self._module):
            try:
                torch.onnx.export(
                    self._module, self.examples(), path, dynamo=False, opset_version=OPSET,
                    input_names=names, output_names=network_outputs(self.recipe),
                    dynamic_axes=self._free_axes(),
                )  # fmt: skip
            except Exception as error:  # the exporter raises many kinds
                raise SourceError(
                    f"{self.recipe.name}: PyTorch cannot export this TorchScript: {reason(error)}; "
                    'build the module in source.py (kind = "torch") and load its weights there'
                ) from error
        onnx.save(with_shipped_opset(onnx.load(path)), path)
        return sum(parameter.numel() for parameter in self._module.parameters())

    def _free_axes(self) -> dict[str, dict[int, str]]:
        one, other = self.examples(), self.examples(OTHER_BATCH, OTHER_SIZE)
        axes: dict[str, dict[int, str]] = {}
        for tensor, first, second in zip(network_inputs(self.recipe), one, other, strict=True):
            axes[tensor.name] = _named(tensor.name, first, second, tensor.shape)
        answers = [
            self.infer({n: v.numpy() for n, v in zip(axes, given, strict=True)})
            for given in (one, other)
        ]
        for name in network_outputs(self.recipe):
            axes[name] = _named(name, answers[0][name], answers[1][name], None)
        return axes


def _named(name: str, first: Any, second: Any, shape: Any) -> dict[int, str]:
    """The axes whose size differs between two tries, with the recipe's names where it has some."""
    free = [axis for axis, (a, b) in enumerate(zip(first.shape, second.shape, strict=True))
            if a != b]  # fmt: skip
    told = {axis: side for axis, side in enumerate(shape or []) if isinstance(side, str)}
    batch = {
        axis: "batch" for axis in free
        if (first.shape[axis], second.shape[axis]) == (EXAMPLE_BATCH, OTHER_BATCH)
    }  # fmt: skip
    return {axis: told.get(axis) or batch.get(axis) or f"{name}_{axis}" for axis in free}
