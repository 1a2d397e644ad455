"""PyTorch modules, trained or with a file of weights, and saved programs of torch.export (.pt2)."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
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
from export.sources.weights import read_weights
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
    """The module of the recipe's entry, with the weights of its file if it names one too."""
    section = recipe.file.source
    if section.entry is None:
        return TorchSource(recipe, _program(source_path(recipe, context, section.file or "")))
    if file is None:
        raise RecipeError(f"{recipe.folder}: source.py is missing; it holds {section.entry}")
    module: Any = file.call(section.entry)
    if not isinstance(module, torch.nn.Module):
        raise SourceError(
            f"{section.entry} returned {type(module).__name__}; it must return a torch.nn.Module"
        )
    if section.file is not None:
        _fill(module, source_path(recipe, context, section.file))
    return TorchSource(recipe, module)


class TorchSource:
    """A torch.nn.Module, asked in evaluation mode; its own mode stays as it is."""

    def __init__(self, recipe: Recipe, module: torch.nn.Module) -> None:
        self.recipe = recipe
        self.judge = f"PyTorch {torch.__version__.split('+')[0]}"
        self._module = module

    def export(self, path: Path) -> int:
        """Write the bare network; every dimension with a name stays free."""
        inputs = network_inputs(self.recipe)
        examples = self.examples()
        with quiet(), evaluating(self._module):
            try:
                torch.onnx.export(
                    self._module, examples, path, dynamo=True, opset_version=OPSET,
                    external_data=False, input_names=[tensor.name for tensor in inputs],
                    output_names=network_outputs(self.recipe),
                    dynamic_shapes=self._dynamic(inputs), verbose=False,
                )  # fmt: skip
            except Exception as error:  # torch's exporter raises many kinds
                raise SourceError(
                    f"{self.recipe.name}: torch.onnx.export cannot export the module with free "
                    f"{_free(inputs)}: {reason(error)}; make forward independent of these sizes"
                ) from error
        return sum(parameter.numel() for parameter in self._module.parameters())

    def infer(self, inputs: Tensors) -> Answers:
        """The module's own answers."""
        given = [torch.from_numpy(np.ascontiguousarray(v)) for v in inputs.values()]
        with torch.inference_mode(), evaluating(self._module):
            outputs: Any = self._module(*given)
        values = list(outputs.values()) if isinstance(outputs, dict) else outputs
        values = values if isinstance(values, tuple | list) else (values,)
        names = network_outputs(self.recipe)
        if len(values) != len(names):
            raise SourceError(
                f"{self.recipe.name}: the module returns {len(values)} tensors, the recipe names "
                f"{len(names)}: {', '.join(names)}"
            )
        return {name: value.numpy() for name, value in zip(names, values, strict=True)}

    def examples(self, batch: int = EXAMPLE_BATCH, size: int = EXAMPLE_SIZE) -> tuple[Any, ...]:
        """Zeros for every input, `size` long where a dimension other than the batch is free."""
        return tuple(self._example(tensor, batch, size) for tensor in network_inputs(self.recipe))

    def _example(self, tensor: Tensor, batch: int, size: int) -> torch.Tensor:
        shape = tensor.shape or self._state_shape(tensor.name)
        section = self.recipe.file.input
        if section.kind == "sound":
            size *= section.rate * EXAMPLE_SECONDS // EXAMPLE_SIZE
        sizes = [s if isinstance(s, int) else batch if s == "batch" else size for s in shape]
        return torch.zeros(sizes, dtype=DTYPES[tensor.dtype])

    def _dynamic(self, inputs: list[Tensor]) -> tuple[Any, ...]:
        """Of each input, what the exporter calls its free axes."""
        dims: dict[str, Any] = {}
        return tuple(
            {
                axis: dims.setdefault(name, torch.export.Dim(name))
                for axis, name in enumerate(tensor.shape or self._state_shape(tensor.name))
                if isinstance(name, str)
            }
            for tensor in inputs
        )

    def _state_shape(self, name: str) -> list[int | str | None]:
        """A module with state tells the shapes: state_shapes = {"state": [2, "batch", 128]}."""
        shapes: Any = getattr(self._module, "state_shapes", None)
        if not isinstance(shapes, dict) or name not in shapes:
            raise RecipeError(
                f"{self.recipe.name}: the module must have state_shapes, a dict with the shape of "
                f'the state "{name}", as [2, "batch", 128]'
            )
        return list(shapes[name])


@contextlib.contextmanager
def evaluating(module: torch.nn.Module) -> Iterator[None]:
    """Evaluation mode for a while: no dropout, no batch statistics; then each part as it was."""
    modes = {p: p.training for p in module.modules() if hasattr(p, "training")}
    # The modules of a saved program have one mode only, and refuse eval().
    for part in modes:
        part.training = False
    try:
        yield
    finally:
        for part, mode in modes.items():
            part.training = mode


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """The exporter talks to stdout and warns about its own dependencies."""
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def reason(error: Exception) -> str:
    """What PyTorch complains of, in one line."""
    cause = error.__cause__ or error
    lines = str(cause).strip().splitlines() or [type(cause).__name__]
    return lines[0]


def _program(path: Path) -> torch.nn.Module:
    if path.suffix != ".pt2":
        raise RecipeError(
            f'{path.name}: kind = "torch" reads .pt2 programs; for a file of weights give also '
            'entry = "source:function" that returns the bare module; TorchScript has the kind '
            '"torchscript"'
        )
    try:
        return torch.export.load(path).module()
    except Exception as error:
        raise SourceError(f"{path}: PyTorch cannot load it: {reason(error)}") from error


def _fill(module: torch.nn.Module, path: Path) -> None:
    try:
        module.load_state_dict(read_weights(path))
    except RuntimeError as error:
        wrong = " ".join(str(error).split())[:400]
        raise SourceError(f"{path.name} does not fit the module of the entry: {wrong}") from error


def _free(inputs: list[Tensor]) -> str:
    names = {size for tensor in inputs for size in tensor.shape or [] if isinstance(size, str)}
    return ", ".join(sorted(names))
