"""source: load the trained model's data and ask the framework for its answers."""

from __future__ import annotations

import json
from pathlib import Path

from export.errors import SourceError
from export.recipe import Recipe
from export.samples import check_samples, read_samples, write_samples
from export.sources import Source
from export.stages.results import Sourced

SETS = ("examples", "labelled", "calibration")
BATCH = 256


def make_sourced(recipe: Recipe, source: Source, folder: Path) -> None:
    """Write labels and the three judged sets into `folder`."""
    labels = source.labels()
    for which in SETS:
        samples = source.samples(which)
        check_samples(f"[data] {which}", samples, len(labels))
        if which == "labelled" and any(sample.label is None for sample in samples):
            raise SourceError("[data] labelled: every sample needs a label")
        probabilities = source.reference([sample.data for sample in samples])
        if probabilities.shape[1] != len(labels):
            raise SourceError(
                f"{recipe.name}: the reference gives {probabilities.shape[1]} probabilities "
                f"for {len(labels)} labels"
            )
        write_samples(folder / f"{which}.npz", samples, probabilities)
    (folder / "source.json").write_text(json.dumps({"labels": labels, "judge": source.judge}))


def read_sourced(recipe: Recipe, folder: Path) -> Sourced:
    """Read what make_sourced wrote."""
    about = json.loads((folder / "source.json").read_text())
    sets = {which: read_samples(folder / f"{which}.npz") for which in SETS}
    return Sourced(recipe, about["judge"], tuple(about["labels"]), **sets)
