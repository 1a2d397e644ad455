"""Recipes of one source, written by tests, and what comes of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx

from export.decode import decoder
from export.inspection.file_check import file_reasons
from export.network import network_inputs
from export.recipe import Recipe, read_recipe
from export.runtime import Session
from export.sample import SourceContext
from export.source_file import SourceFile
from export.sources import Source, load_source
from export.spec import decoded_inputs
from export.stages.check import check, tensors_of
from export.stages.export import make_exported, strip
from export.stages.results import Exported
from export.stages.source import Origin, make_sourced, read_sourced
from export.tensors import Answers, Tensors

HEAD = """
title = "A test"
description = "Of a source."
task = "other"
licence = "CC0-1.0"

[source]
{source}

{body}

[data]
about = "Random numbers."
examples = "source:examples"

[limits.fp32]
max_difference = 1e-5
"""
VALUES = """
[input]
kind = "tensor"
{inputs}

[output]
kind = "values"
names = {outputs}
"""
INPUT = "[[input.tensors]]\nname = '{}'\ndtype = '{}'\nshape = {}\n"


def write(folder: Path, source: str, body: str, code: str = "") -> Recipe:
    """models/a-model in `folder`, with source.py where there is code."""
    model = folder / "a-model"
    model.mkdir(exist_ok=True)
    (model / "recipe.toml").write_text(HEAD.format(source=source, body=body))
    (model / "labels.txt").write_text("one\ntwo\nthree\n")
    if code:
        (model / "source.py").write_text(code)
    return read_recipe(folder, "a-model")


def tensors(inputs: dict[str, tuple[str, list[int | str]]], outputs: list[str]) -> str:
    """[input] and [output] of tensors as they are: name, (dtype, shape)."""
    told = "".join(INPUT.format(n, dtype, shape) for n, (dtype, shape) in inputs.items())
    return VALUES.format(inputs=told, outputs=outputs)


def loaded(recipe: Recipe, context: SourceContext | None = None) -> Source:
    """The recipe's source, as a build loads it."""
    context = context or SourceContext({}, recipe.folder / "cache")
    file = None
    if (recipe.folder / "source.py").exists():
        file = SourceFile(recipe, context)
    return load_source(recipe, context, file)


def checked(recipe: Recipe, work: Path, context: SourceContext | None = None) -> Exported:
    """The stages source, export and check, as a build makes them."""
    origin = Origin(recipe, context or SourceContext({}, work))
    said: list[str] = []
    make_sourced(origin, work, said.append)
    sourced = read_sourced(recipe, work)
    make_exported(recipe, origin.source, len(sourced.labels), work)
    inputs, outputs = tensors_of(work / "model.onnx")
    parameters = int((work / "parameters.txt").read_text())
    exported = Exported(
        sourced, work / "model.onnx", work / "core.onnx", parameters, inputs, outputs
    )
    decode = decoder(sourced.input, decoded_inputs(recipe.file.input), work)
    check(exported, [decode(sample.data) for sample in sourced.examples.samples])
    return exported


def trusting(recipe: Recipe) -> SourceContext:
    return replace(SourceContext({}, recipe.folder / "cache"), trust=True)


def exported(source: Source, folder: Path) -> Path:
    """The bare network, which passes the check of files by themselves."""
    path = folder / "core.onnx"
    assert source.export(path) >= 0
    model = onnx.load(path)
    strip(model)
    onnx.save(model, path)
    wrong = file_reasons(path)
    assert not wrong, wrong
    return path


def feeds(recipe: Recipe, batch: int, size: int = 9) -> Tensors:
    """Random numbers for the bare network; `size`: of every free dimension but the batch."""
    generator = np.random.default_rng(batch)
    made = {}
    for tensor in network_inputs(recipe):
        shape = [size if isinstance(s, str) else s for s in (tensor.shape or [])]
        values = generator.random([batch, *(s or 1 for s in shape[1:])])
        made[tensor.name] = (values * (1 if tensor.dtype == "float32" else 3)).astype(tensor.dtype)
    return made


def differences(source: Source, path: Path, given: Tensors) -> Answers:
    """By output, the largest difference between the framework and ONNX; shapes must be equal."""
    theirs, ours = source.infer(given), Session(path).run_batch(given)
    assert set(theirs) == set(ours)
    for name, values in theirs.items():
        assert values.shape == ours[name].shape, name
        assert values.dtype == ours[name].dtype, name
        assert len(values) == len(next(iter(given.values()))), name
    return {name: np.abs(values - ours[name]).max() for name, values in theirs.items()}
