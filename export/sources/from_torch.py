"""PyTorch modules: source.py returns the trained module, torch.export writes it as ONNX.

Also saved programs of torch.export (.pt2) and TorchScript files are read here.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from export.contract import Tensor
from export.errors import RecipeError, SourceError
from export.network import network_inputs, network_outputs
from export.recipe import Recipe
from export.sample import SourceContext
from export.source_file import SourceFile
from export.sources.origin import source_path
from export.tensors import Answers, Tensors

OPSET = 20
EXAMPLE_BATCH = 2  # 1 would let a fixed batch pass for a free one
EXAMPLE_SIZE = 7  # of any other free dimension
EXAMPLE_SECONDS = 1
DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32, "int64": torch.int64, "int32": torch.int32, "uint8": torch.uint8,
    "bool": torch.bool,
}  # fmt: skip


def load(recipe: Recipe, context: SourceContext, file: SourceFile | None) -> TorchSource:
    """The module that the recipe's entry returns, or its file holds."""
    return TorchSource(recipe, context, file)


class TorchSource:
    """A torch.nn.Module in evaluation mode; the user's own object stays as it is."""

    def __init__(self, recipe: Recipe, context: SourceContext, file: SourceFile | None) -> None:
        self.recipe = recipe
        self.judge = f"PyTorch {torch.__version__.split('+')[0]}"
        self._module = _module(recipe, context, file)

    def export(self, path: Path) -> int:
        """Write the bare network; every dimension with a name stays free."""
        inputs = network_inputs(self.recipe)
        examples = tuple(self._example(tensor) for tensor in inputs)
        names = [tensor.name for tensor in inputs]
        # The exporter talks to stdout and warns about its own dependencies.
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            try:
                torch.onnx.export(
                    self._module, examples, path, dynamo=True, opset_version=OPSET,
                    external_data=False, input_names=names,
                    output_names=network_outputs(self.recipe),
                    dynamic_shapes=_dynamic(inputs, examples), verbose=False,
                )  # fmt: skip
            except Exception as error:  # torch's exporter raises many kinds
                reason = str(error).strip().splitlines()[0]
                raise SourceError(
                    f"{self.recipe.name}: torch.onnx.export cannot export the module with free "
                    f"{_free(inputs)}: {reason}; make forward independent of these sizes"
                ) from error
        return sum(parameter.numel() for parameter in self._module.parameters())

    def infer(self, inputs: Tensors) -> Answers:
        """The module's own answers."""
        given = [torch.from_numpy(np.ascontiguousarray(v)) for v in inputs.values()]
        with torch.inference_mode():
            outputs: Any = self._module(*given)
        values = outputs if isinstance(outputs, tuple | list) else (outputs,)
        names = network_outputs(self.recipe)
        if len(values) != len(names):
            raise SourceError(
                f"{self.recipe.name}: the module returns {len(values)} tensors, the recipe names "
                f"{len(names)}: {', '.join(names)}"
            )
        return {name: value.numpy() for name, value in zip(names, values, strict=True)}

    def _example(self, tensor: Tensor) -> torch.Tensor:
        shape = tensor.shape or self._state_shape(tensor.name)
        sizes = [
            size if isinstance(size, int) else EXAMPLE_BATCH if axis == 0 else self._size(str(size))
            for axis, size in enumerate(shape)
        ]
        return torch.zeros(sizes, dtype=DTYPES[tensor.dtype])

    def _size(self, name: str) -> int:
        section = self.recipe.file.input
        if name == "samples" and section.kind == "sound":
            return section.rate * EXAMPLE_SECONDS
        return EXAMPLE_SIZE

    def _state_shape(self, name: str) -> list[int | str | None]:
        """A module with state tells the shapes: state_shapes = {"state": [2, "batch", 128]}."""
        shapes: Any = getattr(self._module, "state_shapes", None)
        if not isinstance(shapes, dict) or name not in shapes:
            raise RecipeError(
                f"{self.recipe.name}: the module must have state_shapes, a dict with the shape of "
                f'the state "{name}", as [2, "batch", 128]'
            )
        return list(shapes[name])


def _module(recipe: Recipe, context: SourceContext, file: SourceFile | None) -> torch.nn.Module:
    section = recipe.file.source
    if section.file is not None:
        return _program(source_path(recipe, context, section.file))
    if file is None:
        raise RecipeError(f"{recipe.folder}: source.py is missing; it holds {section.entry}")
    module: Any = file.call(section.entry or "")
    if not isinstance(module, torch.nn.Module):
        raise SourceError(
            f"{section.entry} returned {type(module).__name__}; it must return a torch.nn.Module"
        )
    return module.eval()


def _program(path: Path) -> torch.nn.Module:
    """A saved torch.export program, or TorchScript."""
    try:
        if path.suffix == ".pt2":
            return torch.export.load(path).module()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TorchScript is deprecated, and still what people have
            module: torch.nn.Module = torch.jit.load(path, map_location="cpu")  # type: ignore[no-untyped-call]
            return module.eval()
    except Exception as error:
        raise SourceError(
            f"{path}: PyTorch cannot load it: {str(error).strip().splitlines()[0]}"
        ) from error


def _dynamic(inputs: list[Tensor], examples: tuple[torch.Tensor, ...]) -> tuple[Any, ...]:
    dims: dict[str, Any] = {}
    shapes = []
    for tensor, example in zip(inputs, examples, strict=True):
        named = tensor.shape or [
            "batch" if size == EXAMPLE_BATCH else None for size in example.shape
        ]
        shapes.append({
            axis: dims.setdefault(name, torch.export.Dim(name))
            for axis, name in enumerate(named) if isinstance(name, str)
        })  # fmt: skip
    return tuple(shapes)


def _free(inputs: list[Tensor]) -> str:
    names = {size for tensor in inputs for size in tensor.shape or [] if isinstance(size, str)}
    return ", ".join(sorted(names))
