"""Numbers for the drawings: bars, intervals and histograms, all in shares of their width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from export.contract import VariantName
from export.evidence import Detail, Measurement, What
from export.evidence_words import WHERE, difference, interval, measured, power, told, worst
from export.report.version import PAGE, Reported

LEAST_SPAN = 0.02  # of an axis of shares: two points, so that noise does not look like a gulf


@dataclass(frozen=True)
class Bar:
    """One variant's bar or dot. `low` and `high`: of an interval, in shares of the width."""

    variant: VariantName
    share: float
    value: str
    note: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Chart:
    """Variants under each other. `mark`: where a line stands, such as fp32's time."""

    title: str
    note: str
    bars: list[Bar]
    kind: str
    mark: float | None = None
    ends: tuple[str, str] | None = None


@dataclass(frozen=True)
class Column:
    """One bar of a histogram: how many inputs, and from which to which difference."""

    height: float
    words: str


@dataclass(frozen=True)
class Histogram:
    """Inputs by their largest difference. `limit`: where it stands, in columns."""

    variant: VariantName
    title: str
    note: str
    columns: list[Column]
    limit: float | None


@dataclass(frozen=True)
class Charts:
    """All drawings but those of labels."""

    variants: list[Chart]
    ticks: list[str]
    histograms: list[Histogram]


def charts(reported: Reported) -> Charts:
    """Size, right answers and time side by side, and how far answers are from the judge's."""
    found = [_sizes(reported), _right(reported), _times(reported)]
    variants = reported.contract.variants
    chosen = [one for variant in variants if (one := _chosen(reported, variant.name))]
    first, last = _used_bins(chosen)
    edges = chosen[0].difference_edges if chosen else []
    return Charts(
        [chart for chart in found if chart is not None],
        [_edge(edge) for edge in edges[first : last + 1]],
        [_histogram(reported, one, first, last) for one in chosen],
    )


def _sizes(reported: Reported) -> Chart:
    variants = reported.contract.variants
    most = max(variant.size_bytes for variant in variants)
    bars = [Bar(v.name, v.size_bytes / most, told("size_mb", v.size_bytes / 1e6)) for v in variants]
    return Chart("Size", "of the file that a visitor loads", bars, "bars")


def _right(reported: Reported) -> Chart | None:
    """Right answers with their intervals, else agreement or likeness, on an axis of their own."""
    whats: tuple[tuple[What, str, str], ...] = (
        ("accuracy", "Right answers", "on labelled data, with 95 % interval"),
        ("label_agreement", "As the judge", "answers that are the same"),
        ("cosine", "As the judge", "cosine of the vectors, the smallest"),
    )
    for what, title, note in whats:
        found = {
            variant.name: item
            for variant in reported.contract.variants
            if (item := worst(measured(reported.evidence, what, variant.name)))
        }
        if found:
            axis = _axis(list(found.values()))
            bars = [_dot(variant, item, axis) for variant, item in found.items()]
            ends = (told(what, axis[0]), told(what, axis[1]))
            return Chart(title, note, bars, "dots", ends=ends)
    return None


def _axis(items: Sequence[Measurement]) -> tuple[float, float]:
    low = min(item.value if item.low is None else item.low for item in items)
    high = max(item.value if item.high is None else item.high for item in items)
    step = 0.01 if high - low < 0.2 else 0.1
    bottom, top = math.floor(low / step) * step, math.ceil(high / step) * step
    if top - bottom < LEAST_SPAN:
        bottom = top - LEAST_SPAN
    return bottom, min(1.0, top)


def _dot(variant: VariantName, item: Measurement, axis: tuple[float, float]) -> Bar:
    def place(value: float) -> float:
        return (value - axis[0]) / (axis[1] - axis[0])

    low = None if item.low is None else place(item.low)
    high = None if item.high is None else place(item.high)
    return Bar(variant, place(item.value), told(item.what, item.value), interval(item), low, high)


def _times(reported: Reported) -> Chart | None:
    """At the place where the page is measured with one thread: others tell more of the machine."""
    found = {
        m.variant: m
        for m in reported.evidence.measurements
        if (m.what, m.where) == ("time_vs_fp32", PAGE[0]) and m.variant
    }
    if not found:
        return None
    medians = {
        m.variant: told("median_ms", m.value)
        for m in reported.evidence.measurements
        if (m.what, m.where) == ("median_ms", PAGE[0])
    }
    most = max(item.value for item in found.values())
    bars = [
        Bar(variant, item.value / most, f"{item.value:.2f} ×", medians.get(variant, ""))
        for variant, item in found.items()
    ]
    return Chart("Time", "against fp32, browser, wasm, 1 thread", bars, "bars", mark=1 / most)


def _chosen(reported: Reported, variant: VariantName) -> Detail | None:
    return reported.detail(variant, "labelled data") or reported.detail(variant, "golden examples")


def _used_bins(details: Sequence[Detail]) -> tuple[int, int]:
    """From the first to behind the last bin that any histogram fills."""
    filled = [i for one in details for i, count in enumerate(one.difference_counts) if count]
    return (min(filled), max(filled) + 1) if filled else (0, 0)


def _histogram(reported: Reported, one: Detail, first: int, last: int) -> Histogram:
    counts, edges = one.difference_counts[first:last], one.difference_edges
    most = max(counts) or 1
    columns = [
        Column(count / most, f"{count:,} inputs from {_edge(low)} to {_edge(high)}")
        for count, low, high in zip(
            counts, edges[first:last], edges[first + 1 : last + 1], strict=True
        )
    ]
    furthest = max((worst_.difference for worst_ in one.worst), default=0.0)
    note = f"{one.count:,} {one.data}, {WHERE[one.where]}; furthest {difference(furthest)}"
    limit = _limit(reported, one)
    place = None if limit is None else _position(limit, edges) - first
    shown = place if place is not None and 0 <= place <= last - first else None
    if limit is not None:
        note += f"; limit {difference(limit)}"
    return Histogram(one.variant, one.variant, note, columns, shown)


def _limit(reported: Reported, one: Detail) -> float | None:
    key = ("max_difference", one.variant, one.where, one.data)
    for item in reported.evidence.measurements:
        if (item.what, item.variant, item.where, item.data) == key:
            return item.limit
    return None


def _position(value: float, edges: Sequence[float]) -> float:
    """Where a difference stands on the axis, in bins; within a bin by its logarithm."""
    for i, (low, high) in enumerate(pairwise(edges)):
        if value <= high:
            within = math.log(value / low) / math.log(high / low) if low > 0 else value / high
            return i + within
    return len(edges) - 1.0


def _edge(value: float) -> str:
    return "0" if value == 0 else "1" if value == 1 else power(round(math.log10(value)))
