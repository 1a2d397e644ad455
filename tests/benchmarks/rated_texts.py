"""What each variant of minilm costs on every text that people rated, with a paired test.

`python -m tests.benchmarks.rated_texts [VARIANT...]`, after `likewise build minilm`; without names
q8. The recipe measures on 4,000 of the texts; this takes all with a clear rating (about 20,000).
Each is embedded alone, as a visitor's is. Right is an answer from which a linear probe tells
positive from negative; the probe is fitted on fp32's embeddings of one half of the texts and asked
about the other half, and the other way round.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track
from sklearn.linear_model import LogisticRegression

from export.contract import read_contract, read_index
from export.decode import decoder
from export.packages import fetch
from export.recipe import read_recipe
from export.runtime import Session
from export.sample import SourceContext
from export.source_file import SourceFile
from export.statistics import interval, paired_p_value
from export.workspace import Workspace

NAME, WHOLE = "minilm", "fp32"
Floats = npt.NDArray[np.float64]


def main(variants: list[str]) -> None:
    """Print accuracy, loss, p and the smallest cosine of each variant."""
    workspace = Workspace()
    recipe = read_recipe(workspace.models, NAME)
    entry = read_index(workspace.models / "index.json").models[NAME]
    folder = (workspace.models / entry.contract.file).parent
    contract = read_contract(folder / "contract.json")
    packages = fetch(recipe.file.source.requires, workspace.work / "packages")
    source = SourceFile(recipe, SourceContext(packages, workspace.work))
    texts = source.call("source:rated")
    positive = np.array([label for *_, label in texts])
    decode = decoder(contract.input, contract.inputs, folder)
    inputs = [decode(text.encode()) for _, text, _ in texts]
    files: dict[str, str] = {variant.name: variant.file for variant in contract.variants}
    embedded: dict[str, Floats] = {}
    console = Console()
    for variant in (WHOLE, *(variants or ["q8"])):
        session = Session(folder / files[variant])
        told = track(inputs, f"{variant}, {len(inputs):,} texts", console=console)
        embedded[variant] = np.array([session.run_batch(one)["embedding"][0] for one in told])
    right = {variant: probed(embedded[WHOLE], positive, v) for variant, v in embedded.items()}
    for variant, scores in right.items():
        low, high = interval(scores)
        lost = (right[WHOLE].mean() - scores.mean()) * 100
        cosine = float((embedded[WHOLE] * embedded[variant]).sum(1).min())
        console.print(
            f"{variant}: right {scores.mean():.4f} ({low:.4f}-{high:.4f}) of {len(scores):,}, "
            f"lost {lost:+.2f} points, p {paired_p_value(right[WHOLE], scores):.2g}, "
            f"smallest cosine {cosine:.4f}"
        )


def probed(fitted_on: Floats, positive: npt.NDArray[np.int64], vectors: Floats) -> Floats:
    """1 where the probe of the other half is right about a vector, else 0: float64 [texts]."""
    right = np.zeros(len(vectors))
    half = np.arange(len(vectors)) % 2 == 0
    for one in (half, ~half):
        probe = LogisticRegression(C=10.0, max_iter=2000).fit(fitted_on[~one], positive[~one])
        right[one] = probe.predict(vectors[one]) == positive[one]
    return right


if __name__ == "__main__":
    main(sys.argv[1:])
