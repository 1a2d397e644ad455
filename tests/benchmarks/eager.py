"""PyTorch as it is served today (eager) against the exported network in ONNX Runtime.

One thread each, one run, rounds that alternate, the same random tensor. `python -m
tests.benchmarks.eager [NAME...]`; without names every recipe whose source is a PyTorch module.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from export.network import network_inputs
from export.packages import fetch
from export.recipe import Recipe, read_recipe
from export.runtime import Session
from export.sample import SourceContext
from export.stages.source import Origin
from export.tensors import Tensors
from export.workspace import Workspace

ROUNDS, RUNS = 7, 10
FREE = 32  # the size of a dimension that is free: tokens of a text


def main(names: list[str]) -> None:
    """Print a row a model."""
    torch.set_num_threads(1)
    models = Workspace().models
    recipes = [read_recipe(models, name) for name in names or torch_recipes(models)]
    table = Table("model", "PyTorch eager ms", "ONNX Runtime ms", "times as fast", "difference",
                  title="The bare network, float32, one thread")  # fmt: skip
    for recipe in recipes:
        table.add_row(recipe.name, *compared(recipe))
    Console().print(table)


def torch_recipes(models: Path) -> list[str]:
    """Recipes of plain PyTorch modules; a stream's state is not made here."""
    found = [read_recipe(models, path.parent.name) for path in sorted(models.glob("*/recipe.toml"))]
    return [
        recipe.name for recipe in found
        if recipe.file.source.kind == "torch" and recipe.file.input.kind != "sound"
    ]  # fmt: skip


def compared(recipe: Recipe) -> list[str]:
    """Both times, how many percent less the second is, and how far the answers are apart."""
    work = Workspace().work
    cache = work / "training" / "benchmarks" / recipe.name
    cache.mkdir(parents=True, exist_ok=True)
    packages = fetch(recipe.file.source.requires, work / "packages")
    source = Origin(recipe, SourceContext(packages, cache)).source
    given = random_input(recipe)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "core.onnx"
        source.export(path)
        session = Session(path)
    eager: list[float] = []
    exported: list[float] = []
    for _ in range(ROUNDS):
        eager.append(timed(lambda: source.infer(given)))
        exported.append(timed(lambda: session.run_batch(given)))
    theirs, ours = source.infer(given), session.run_batch(given)
    difference = max(float(np.abs(theirs[name] - ours[name]).max()) for name in theirs)
    one, other = median(eager), median(exported)
    return [f"{one:.2f}", f"{other:.2f}", f"{one / other:.2f}", f"{difference:.1e}"]


def random_input(recipe: Recipe) -> Tensors:
    """One input of the bare network."""
    generator = np.random.default_rng(0)
    made: Tensors = {}
    for tensor in network_inputs(recipe):
        shape = [1, *(s if isinstance(s, int) else FREE for s in (tensor.shape or [])[1:])]
        if tensor.dtype == "float32":
            made[tensor.name] = generator.normal(size=shape).astype(np.float32)
        else:
            made[tensor.name] = np.ones(shape, tensor.dtype)
    return made


def timed(run: Callable[[], object]) -> float:
    """The median of RUNS, in milliseconds, after a warm-up."""
    run()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1000)
    return median(times)


if __name__ == "__main__":
    main(sys.argv[1:])
