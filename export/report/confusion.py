"""Which labels are taken for which, and whether it is as sure as it is right."""

from __future__ import annotations

import math
from dataclasses import dataclass

from export.evidence_words import WHERE, percent
from export.report.version import Reported

MOST_NUMBERED = 14  # labels; in a larger matrix numbers cannot be read
FEW = 5
MOST_MIXED = 5


@dataclass(frozen=True)
class Cell:
    """How many inputs of one label got another (or the same), and how dark that is."""

    count: int
    shade: float
    right: bool
    words: str


@dataclass(frozen=True)
class Confusion:
    """Rows are right labels, columns answered ones."""

    labels: list[str]
    rows: list[list[Cell]]
    looks: str
    mixed: list[str]
    note: str


@dataclass(frozen=True)
class Point:
    """Answers of about one confidence. `size`: of the dot, by how many they are."""

    confidence: float
    accuracy: float
    size: float
    words: str


@dataclass(frozen=True)
class Reliability:
    """How sure against how often right."""

    points: list[Point]
    sentence: str
    note: str


def confusion(reported: Reported) -> Confusion | None:
    """Of the variant that the page runs."""
    one = reported.detail(reported.used, "labelled data", labelled=True)
    labels = reported.contract.labels
    if one is None or one.confusion is None or len(one.confusion) != len(labels):
        return None
    rows = [
        [
            _cell(count, max(sum(row), 1), labels[right], labels[answered], right == answered)
            for answered, count in enumerate(row)
        ]
        for right, row in enumerate(one.confusion)
    ]
    wrong = sorted(
        (
            (count, right, answered)
            for right, row in enumerate(one.confusion)
            for answered, count in enumerate(row)
            if count and right != answered
        ),
        key=lambda mix: (-mix[0], mix[1:]),
    )
    mixed = [
        f"{labels[right]} taken for {labels[answered]}: {count:,} of {sum(one.confusion[right]):,}"
        for count, right, answered in wrong[:MOST_MIXED]
    ]
    note = f"{one.variant}, {one.count:,} {one.data}, {WHERE[one.where]}"
    return Confusion(labels, rows, _looks(len(labels)), mixed, note)


def _looks(labels: int) -> str:
    """Few labels have room for their names, many none for numbers."""
    if labels <= FEW:
        return "few"
    return "" if labels <= MOST_NUMBERED else "dense"


def _cell(count: int, total: int, right: str, answered: str, same: bool) -> Cell:
    """Shades grow by the square root, else a few mistakes among thousands are not seen."""
    words = f"{right}, answered {answered}: {count:,} of {total:,}"
    return Cell(count, math.sqrt(count / total), same, words)


def reliability(reported: Reported) -> Reliability | None:
    """Of the variant that the page runs."""
    one = reported.detail(reported.used, "labelled data", labelled=True)
    if one is None or not one.reliability:
        return None
    bins = one.reliability
    total, most = sum(b.count for b in bins), max(b.count for b in bins)
    points = [
        Point(
            b.confidence, b.accuracy, 3 + 6 * math.sqrt(b.count / most),
            f"{b.count:,} answers, {percent(b.confidence)} sure on average, "
            f"{percent(b.accuracy)} right",
        )
        for b in bins
    ]  # fmt: skip
    sure = sum(b.count * b.confidence for b in bins) / total
    right = sum(b.count * b.accuracy for b in bins) / total
    note = f"{one.variant}, {one.count:,} {one.data}, {WHERE[one.where]}"
    return Reliability(points, _calibrated(sure, right), note)


def _calibrated(sure: float, right: float) -> str:
    told = f"On average it is {percent(sure)} sure and {percent(right)} of its answers are right"
    gap = 100 * (sure - right)
    if abs(gap) < 1:
        return f"{told}: as sure as it should be."
    return f"{told}: {abs(gap):.1f} points too {'sure' if gap > 0 else 'unsure'}."
