"""Logistic regression on scikit-learn's breast cancer data: a table in, two probabilities out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from export.sample import Sample, SourceContext

HELD_OUT = 0.3
SHOWN = 10


def data() -> Any:
    """Rows, labels and column names; 398 rows to train on, then 171 held out."""
    bunch = load_breast_cancer()
    names = [name.replace(" ", "-") for name in bunch.feature_names]
    split = train_test_split(
        bunch.data, bunch.target, test_size=HELD_OUT, random_state=0, stratify=bunch.target
    )
    return names, *split


def model(context: SourceContext) -> Pipeline:
    _, rows, _, labels, _ = data()
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(rows, labels)


def reference(context: SourceContext, encoded: Sequence[bytes]) -> npt.NDArray[np.float32]:
    names = data()[0]
    rows = [[float(cells[name]) for name in names] for cells in map(json.loads, encoded)]
    answers: npt.NDArray[np.float32] = model(context).predict_proba(rows).astype(np.float32)
    return answers


def labelled(context: SourceContext) -> list[Sample]:
    names, _, rows, _, labels = data()
    return [
        Sample(f"sample-{i + 1}", encode(names, row), int(label), title=f"Sample {i + 1}")
        for i, (row, label) in enumerate(zip(rows, labels, strict=True))
    ]


def examples(context: SourceContext) -> list[Sample]:
    return labelled(context)[:SHOWN]


def encode(names: Sequence[str], row: npt.NDArray[np.float64]) -> bytes:
    return json.dumps({n: float(v) for n, v in zip(names, row, strict=True)}, indent=1).encode()
