"""Rows of the page's tables: each variant place by place, where it is offered, limits."""

from __future__ import annotations

from dataclasses import dataclass

from export.contract import Backend, VariantName
from export.evidence import Measurement, What, Where
from export.evidence_words import STATUS, WHAT, WHERE, limits, place, room, told, worst
from export.report.version import Reported
from export.stages.gate import AT_LEAST, BACKENDS

PLACES: tuple[Where, ...] = (
    "python-cpu", "chromium-wasm-1-thread", "chromium-wasm-2-threads", "chromium-webgpu",
)  # fmt: skip
COLUMNS: tuple[What, ...] = (
    "accuracy", "label_agreement", "cosine", "max_difference", "median_ms", "time_vs_fp32",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A variant's values in one place."""

    variant: VariantName
    cells: list[str]


@dataclass(frozen=True)
class Place:
    """All variants in one place."""

    title: str
    note: str
    rows: list[Row]


@dataclass(frozen=True)
class Places:
    """The same columns for every place."""

    columns: list[str]
    places: list[Place]


@dataclass(frozen=True)
class Offers:
    """What became of each variant on each backend, and why it is not offered."""

    backends: list[Backend]
    rows: list[Row]
    reasons: list[str]


@dataclass(frozen=True)
class Limit:
    """A limit beside the worst value. `used`: how much of what it allows, where it allows any."""

    what: str
    variant: str
    limit: str
    value: str
    where: str
    room: str
    used: float | None
    passed: bool


def places(reported: Reported) -> Places:
    """Values on labelled data where there are any; times of golden examples."""
    found = reported.evidence.measurements
    whats = [what for what in COLUMNS if any(m.what == what for m in found)]
    told_places = []
    for where in PLACES:
        rows = [
            Row(variant.name, [_value(found, what, variant.name, where) for what in whats])
            for variant in reported.contract.variants
        ]
        rows = [row for row in rows if any(row.cells)]
        if rows:
            compared = [m for m in found if (m.what, m.where) == ("max_difference", where)]
            amounts = {f"{m.count:,} {m.data}" for m in compared}
            told_places.append(Place(WHERE[where], " and ".join(sorted(amounts)), rows))
    return Places([WHAT[what] for what in whats], told_places)


def _value(found: list[Measurement], what: What, variant: VariantName, where: Where) -> str:
    mine = [m for m in found if (m.what, m.variant, m.where) == (what, variant, where)]
    labelled = [m for m in mine if m.data == "labelled data"]
    item = worst(labelled or mine)
    return told(what, item.value) if item else ""


def offers(reported: Reported) -> Offers:
    """Every variant on every backend, with the reason where it is not offered."""
    rows, reasons = [], []
    for variant in reported.contract.variants:
        cells = []
        for backend in BACKENDS:
            result = variant.backends.get(backend)
            status = STATUS[result.status] if result else ""
            best = reported.contract.best.get(backend) == variant.name
            cells.append(f"{status}, best" if best else status)
            if result and result.status != "passed":
                reasons.append(f"{variant.name} on {backend}: {result.why or 'no reason is told'}")
        rows.append(Row(variant.name, cells))
    return Offers([*BACKENDS], rows, reasons)


def limit_rows(reported: Reported) -> list[Limit]:
    """A row for each limit; those that were missed first."""
    return sorted(map(_limit, limits(reported.evidence)), key=lambda row: row.passed)


def _limit(item: Measurement) -> Limit:
    return Limit(
        WHAT[item.what], item.variant or "all", f"{item.rule} {told(item.what, item.limit or 0)}",
        told(item.what, item.value), place(item), room(item), _used(item),
        item.passed is not False,
    )  # fmt: skip


def _used(item: Measurement) -> float | None:
    """Of an upper limit the share that is used; of a lower one, of what may be missing."""
    limit = item.limit or 0.0
    allowed, taken = (1 - limit, 1 - item.value) if item.what in AT_LEAST else (limit, item.value)
    return min(1.0, max(0.0, taken / allowed)) if allowed > 0 else None
