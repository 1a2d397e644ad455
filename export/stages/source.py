"""source: load the trained model's data and ask the framework for its answers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from export.contract import FileRef, Input, file_ref
from export.data import read_set
from export.decode import decoder
from export.errors import DecodeError, SourceError
from export.judge import Judge
from export.labels import read_labels
from export.recipe import Recipe
from export.recipe.inputs import TextSection
from export.sample import Sample, SourceContext
from export.samples import JudgedSamples, check_samples, read_samples, write_samples
from export.source_file import SourceFile
from export.sources import Source, load_source
from export.sources.origin import source_path
from export.spec import TOKENIZER, decision, decoded_inputs, input_spec
from export.stages.results import Sourced
from export.tensors import Answers

SETS = ("examples", "labelled", "calibration")
Say = Callable[[str], None]


class Origin:
    """What the recipe names, loaded when it is first asked for."""

    def __init__(self, recipe: Recipe, context: SourceContext) -> None:
        self.recipe, self.context = recipe, context

    @cached_property
    def file(self) -> SourceFile | None:
        """source.py, where there is one."""
        there = (self.recipe.folder / "source.py").exists()
        return SourceFile(self.recipe, self.context) if there else None

    @cached_property
    def source(self) -> Source:
        """The trained model."""
        return load_source(self.recipe, self.context, self.file)

    @cached_property
    def labels(self) -> list[str]:
        """Names of the labels; none where the answer is no choice."""
        return read_labels(self.recipe, self.file)


def make_sourced(origin: Origin, folder: Path, say: Say) -> None:
    """Write labels, what the decoder needs, and the judged sets into `folder`."""
    recipe, labels = origin.recipe, origin.labels
    if isinstance(recipe.file.input, TextSection):
        tokenizer = source_path(recipe, origin.context, recipe.file.input.tokenizer)
        shutil.copyfile(tokenizer, folder / TOKENIZER)
    spec = spec_of(recipe, folder)
    judge = Judge(
        recipe, origin.source, origin.file, labels,
        decoder(spec, decoded_inputs(recipe.file.input), folder),
    )  # fmt: skip
    for which in SETS:
        named: str | None = getattr(recipe.file.data, which)
        if named is None:
            continue
        say(f"{which}: reading")
        samples = read_set(recipe, origin.file, named, labels)
        _check(recipe, which, samples, len(labels))
        say(f"{which}: {len(samples):,} answers of {judge.name}")
        write_samples(folder / f"{which}.npz", samples, _answers(judge, which, samples))
    about = {"labels": labels, "judge": judge.name}
    (folder / "source.json").write_text(json.dumps(about))


def read_sourced(recipe: Recipe, folder: Path) -> Sourced:
    """Read what make_sourced wrote."""
    about = json.loads((folder / "source.json").read_text())
    labels = tuple(about["labels"])
    return Sourced(
        recipe, folder, spec_of(recipe, folder), decision(recipe.file.output, labels),
        about["judge"], labels,
        read_samples(folder / "examples.npz"),
        _if_there(folder / "labelled.npz"), _if_there(folder / "calibration.npz"),
    )  # fmt: skip


def spec_of(recipe: Recipe, folder: Path) -> Input:
    """The contract's decoder; `folder` holds the tokenizer of a text."""
    tokenizer: FileRef | None = None
    if isinstance(recipe.file.input, TextSection):
        tokenizer = file_ref(folder, folder / TOKENIZER)
    return input_spec(recipe.file.input, tokenizer)


def _check(recipe: Recipe, which: str, samples: list[Sample], labels: int) -> None:
    check_samples(f"[data] {which}", samples, labels)
    if which != "labelled" or recipe.file.data.score is not None:
        return
    if not labels:
        raise SourceError('[data] labelled needs score = "source:..." where there are no labels')
    if any(sample.label is None for sample in samples):
        raise SourceError("[data] labelled: every sample needs a label")


def _answers(judge: Judge, which: str, samples: list[Sample]) -> list[Answers]:
    try:
        return judge.answer(samples)
    except DecodeError as error:
        raise SourceError(f"[data] {which}: {error}") from error


def _if_there(path: Path) -> JudgedSamples | None:
    return read_samples(path) if path.exists() else None
