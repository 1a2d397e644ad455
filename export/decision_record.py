"""decision.md of a version: what was measured, what held and by how much, who decided, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from export.contract import Backend, Contract, Event, Provenance, VariantName
from export.evidence import Evidence, What
from export.evidence_words import (
    STATUS,
    WHAT,
    WHERE,
    code,
    limits,
    place,
    plain,
    room,
    told,
    told_held,
    told_sure,
    told_worst,
)
from export.stages.gate import AT_LEAST, BACKENDS
from export.stages.results import FILE_NAMES, Verified

SHOWN: tuple[What, ...] = (
    "size_mb", "accuracy", "label_agreement", "cosine", "max_difference", "time_vs_fp32"
)  # fmt: skip
COMPARED: tuple[What, ...] = ("size_mb", "accuracy", "label_agreement", "max_difference")
TIMED: Backend = "wasm"  # what the page runs on everywhere
RULES = {
    "smallest": "the smallest", "fastest": "the fastest", "most-accurate": "the most accurate",
}  # fmt: skip
MOST_KEPT = 6


@dataclass(frozen=True)
class Before:
    """The version that was current until now."""

    contract: Contract
    evidence: Evidence


def decision_record(
    verified: Verified, provenance: Provenance, event: Event, before: Before | None = None
) -> str:
    """Markdown of under 120 lines; the same from the same evidence."""
    evidence = verified.measured.evidence
    name = f"{evidence.name}/{event.version}"
    lines = [
        f"# Decision: {name} is published",
        "",
        f"{event.at}, by {plain(event.by) or 'nobody who gave a name'}. "
        f"Why: {plain(event.why) or 'not said'}.",
        "",
        *_decision(verified),
        "",
        "## What was measured",
        *_measured(verified, provenance),
        "",
        "## Limits held",
        *_limits(evidence),
        "",
        "## What is not offered, and why",
        *_not_offered(verified),
        "",
        "## Compared with the version before",
        *(_compared(verified, before) if before else ["This is the first version."]),
    ]
    return "\n".join(lines) + "\n"


def _decision(verified: Verified) -> Iterator[str]:
    evidence = verified.measured.evidence
    prefer = verified.measured.quantised.recipe.file.variants.prefer
    best = ", ".join(f"{variant} on {backend}" for backend, variant in verified.best.items())
    yield f"{told_held(evidence)}: it is published."
    yield f"Of the variants that passed, {RULES[prefer]} runs: {best}."


def _measured(verified: Verified, provenance: Provenance) -> Iterator[str]:
    evidence = verified.measured.evidence
    yield f"Against {plain(evidence.judge)}, on:"
    yield from _amounts(evidence)
    yield ""
    yield f"The data: {plain(provenance.data)}"
    yield ""
    whats = [what for what in SHOWN if any(m.what == what for m in evidence.measurements)]
    yield _row("variant", *(WHAT[what] for what in whats))
    yield _row("---", *("---:" for _ in whats))
    for variant in verified.backends:
        yield _row(variant, *(_value(evidence, what, variant) for what in whats))
    yield ""
    yield f"Each value is the worst of all places; times are those of {TIMED}."
    yield from (f"- {plain(note)}" for note in evidence.notes)
    found = {**evidence.environment, **provenance.tools}
    yield "- Made and measured with " + ", ".join(
        f"{plain(tool)} {plain(number)}" for tool, number in found.items()
    ) + "."  # fmt: skip


def _amounts(evidence: Evidence) -> Iterator[str]:
    """ "4 golden examples (Browser, WebGPU)": how much was compared where."""
    places: dict[tuple[int, str], list[str]] = {}
    for where in WHERE:
        for data in ("labelled data", "golden examples"):
            counts = [
                item.count for item in evidence.measurements
                if (item.what, item.where, item.data) == ("max_difference", where, data)
            ]  # fmt: skip
            if counts:
                places.setdefault((max(counts), data), []).append(WHERE[where])
    for (count, data), wheres in places.items():
        yield f"- {count:,} {data}: {'; '.join(wheres)}"


def _value(evidence: Evidence, what: What, variant: VariantName) -> str:
    if what == "time_vs_fp32":
        return told_worst(evidence, what, variant, TIMED)
    return told_sure(evidence, what, variant)


def _limits(evidence: Evidence) -> Iterator[str]:
    found = limits(evidence)
    if not found:
        yield "The recipe sets none."
        return
    yield _row("what", "variant", "limit", "worst value", "where", "room")
    yield _row("---", "---", "---:", "---:", "---", "---:")
    for item in found:
        limit = f"{item.rule} {told(item.what, item.limit or 0)}"
        value = told(item.what, item.value)
        yield _row(WHAT[item.what], item.variant or "all", limit, value, place(item), room(item))


def _not_offered(verified: Verified) -> Iterator[str]:
    quantised = verified.measured.quantised
    for variant, results in verified.backends.items():
        for backend in BACKENDS:
            result = results[backend]
            if result.status != "passed":
                why = plain(result.why or "no reason is recorded").rstrip(".")
                yield f"- {variant} on {backend}: {STATUS[result.status]}: {why}."
    missing = [name for name in FILE_NAMES if name not in verified.backends]
    if missing:
        yield f"- {', '.join(missing)}: the recipe does not ask for it."
    for variant, kept in quantised.kept.items():
        if kept:
            yield f"- {variant} keeps in float32: {_some(kept)}."


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(code(name) for name in names[:MOST_KEPT])
    more = len(names) - MOST_KEPT
    return f"{shown} and {more} more" if more > 0 else shown


def _compared(verified: Verified, before: Before) -> Iterator[str]:
    evidence = verified.measured.evidence
    label = f"{before.contract.name}/{before.contract.version}"
    yield f"Before: {label}, built {before.contract.provenance.built}."
    yield ""
    yield _row("variant", "what", "before", "now")
    yield _row("---", "---", "---:", "---:")
    old, new = {v.name for v in before.contract.variants}, set(verified.backends)
    for variant in get_args(VariantName):
        if variant in old and variant in new:
            yield from _changes(variant, before.evidence, evidence)
        elif variant in old | new:
            states = ("offered", "gone") if variant in old else ("not there", "new")
            yield _row(variant, "Variant", *states)
    yield ""
    yield from _other_limits(before.evidence, evidence)
    if before.evidence.judge != evidence.judge:
        yield f"- The judge was {plain(before.evidence.judge)}."
    for backend in BACKENDS:
        was, now = before.contract.best.get(backend), verified.best.get(backend)
        if was != now:
            yield f"- Best on {backend}: {was or 'none'} before, {now or 'none'} now."


def _changes(variant: VariantName, old: Evidence, new: Evidence) -> Iterator[str]:
    for what in COMPARED:
        values = [told_worst(evidence, what, variant) for evidence in (old, new)]
        if any(values):
            yield _row(variant, WHAT[what], *(value or "not measured" for value in values))


def _other_limits(old: Evidence, new: Evidence) -> Iterator[str]:
    """A limit that was loosened is to be seen."""
    before, now = _strictest(old), _strictest(new)
    for what, variant in sorted({*before, *now}, key=str):
        was, is_ = before.get((what, variant)), now.get((what, variant))
        if was != is_:
            ends = ["none" if limit is None else told(what, limit) for limit in (was, is_)]
            subject = f"{WHAT[what]}, {variant or 'all'}"
            yield f"- Limit of {subject}: {ends[0]} before, {ends[1]} now."


def _strictest(evidence: Evidence) -> dict[tuple[What, VariantName | None], float]:
    limits: dict[tuple[What, VariantName | None], list[float]] = {}
    for item in evidence.measurements:
        if item.limit is not None:
            limits.setdefault((item.what, item.variant), []).append(item.limit)
    return {key: (max if key[0] in AT_LEAST else min)(found) for key, found in limits.items()}


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
