"""Sample sets on disk: one .npz a set, so that a cached stage is one file to read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from export.errors import SourceError
from export.sample import Sample
from export.tensors import Answers

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")


@dataclass(frozen=True)
class JudgedSamples:
    """Samples with the framework's answer to each."""

    samples: tuple[Sample, ...]
    answers: tuple[Answers, ...]

    def __len__(self) -> int:
        return len(self.samples)

    def labels(self) -> npt.NDArray[np.int64] | None:
        """The right labels, or None unless every sample has one."""
        known = [sample.label for sample in self.samples if sample.label is not None]
        return np.array(known, np.int64) if len(known) == len(self.samples) else None

    def pick(self, positions: Sequence[int]) -> JudgedSamples:
        """Those at the positions."""
        return JudgedSamples(
            tuple(self.samples[i] for i in positions), tuple(self.answers[i] for i in positions)
        )


def write_samples(path: Path, samples: Sequence[Sample], answers: Sequence[Answers]) -> None:
    """Write one set."""
    lengths = np.array([len(sample.data) for sample in samples], np.int64)
    stored: dict[str, Any] = {
        "ids": np.array([sample.id for sample in samples]),
        "titles": np.array([sample.title for sample in samples]),
        "labels": np.array([-1 if s.label is None else s.label for s in samples], np.int64),
        "shown": np.array([sample.shown for sample in samples]),
        "ends": lengths.cumsum(),
        "data": np.frombuffer(b"".join(sample.data for sample in samples), np.uint8),
        "outputs": np.array(list(answers[0])),
    }
    for name in answers[0]:
        stored[f"values {name}"] = np.concatenate([one[name].ravel() for one in answers])
        stored[f"shapes {name}"] = np.array([one[name].shape for one in answers], np.int64)
    np.savez(path, **stored)


def read_samples(path: Path) -> JudgedSamples:
    """Read what write_samples wrote."""
    with np.load(path, allow_pickle=False) as stored:
        data = stored["data"].tobytes()
        starts = [0, *stored["ends"][:-1].tolist()]
        columns = (stored[name] for name in ("ids", "ends", "labels", "titles", "shown"))
        samples = tuple(
            Sample(
                str(name),
                data[start:end],
                None if label < 0 else int(label),
                str(title),
                bool(shown),
            )
            for start, name, end, label, title, shown in zip(starts, *columns, strict=True)
        )
        answers: list[Answers] = [{} for _ in samples]
        for name in stored["outputs"].tolist():
            shapes = stored[f"shapes {name}"]
            parts = np.split(stored[f"values {name}"], shapes.prod(axis=1).cumsum()[:-1])
            for answer, shape, part in zip(answers, shapes, parts, strict=True):
                answer[name] = part.reshape(shape)
        return JudgedSamples(samples, tuple(answers))


def check_samples(where: str, samples: Sequence[Sample], labels: int) -> None:
    """Refuse an empty set, double ids and labels out of range (`labels` 0: there are none)."""
    if not samples:
        raise SourceError(f"{where} returned no sample; a comparison of nothing proves nothing")
    ids = [sample.id for sample in samples]
    if len(set(ids)) != len(ids):
        double = next(
            i for i, before in zip(sorted(ids), sorted(ids)[1:], strict=False) if i == before
        )
        raise SourceError(f"{where}: the id {double!r} occurs twice; ids must be unique")
    for sample in samples:
        if not ID.fullmatch(sample.id):
            raise SourceError(
                f"{where}: the id {sample.id!r} is to be a file name: letters, digits and hyphens"
            )
        if labels and sample.label is not None and not 0 <= sample.label < labels:
            raise SourceError(
                f"{where}: {sample.id} has label {sample.label}, labels are 0..{labels - 1}"
            )
