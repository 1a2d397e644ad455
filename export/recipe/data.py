"""[data]: real data, from source.py or from files beside the recipe."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from export.contract import Strict
from export.recipe.source import Entry


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank, and the model card has to say it")
    return text


Said = Annotated[str, AfterValidator(_not_blank)]
"""What people read."""

DataSet = Annotated[
    str,
    Field(
        pattern=r"^(source:[A-Za-z_][A-Za-z0-9_]*|[^/:][^:]*)$",
        description="A function of source.py that returns a list of Sample, or files beside the"
        ' recipe: a glob of encoded inputs ("examples/*.jpg"), or one table or text file with an'
        ' input a row ("rows.csv", "sentences.txt"); a CSV column named "label" holds the label.',
    ),
]


class DataSection(Strict):
    """Real data. What is missing is not measured, and the evidence says so."""

    about: Said = Field(description="What data this is, and its licence; goes into the model card.")
    examples: DataSet = Field(description="Golden examples: published with the version.")
    labelled: DataSet | None = Field(default=None, description="To measure accuracy with.")
    calibration: DataSet | None = Field(default=None, description="To measure ranges with, for q8.")
    score: Entry | None = Field(
        default=None,
        description="(context, answers, samples) -> one number of 0..1 a sample: how right it is."
        " Without it, of scores: 1 where the label is right.",
    )
