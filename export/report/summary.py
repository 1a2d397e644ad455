"""What the page says first: one sentence, and four figures."""

from __future__ import annotations

from dataclasses import dataclass

from export.contract import VariantName
from export.evidence import Evidence, Measurement, What
from export.evidence_words import interval, measured, percent, told, told_held, worst
from export.report.version import PAGE, Reported
from export.stages.gate import BACKEND_OF


@dataclass(frozen=True)
class Verdict:
    """Whether every limit held where a variant is offered, the sentence, and what it stands on."""

    holds: bool
    sentence: str
    counted: str


@dataclass(frozen=True)
class Fact:
    """One large figure."""

    title: str
    value: str
    note: str


def verdict(reported: Reported) -> Verdict:
    """The one sentence that a reader takes away."""
    evidence = reported.evidence
    judged = [item for item in evidence.measurements if item.passed is not None]
    missed = sum(item.passed is False and _offered(reported, item) for item in judged)
    limits = told_held(evidence)
    equal = _equal_inputs(evidence)
    counted = f"{limits}; {equal}." if equal else f"{limits}."
    if missed:
        return Verdict(False, f"It misses {missed} of its {len(judged)} limits.", counted)
    return Verdict(True, f"{_likewise(reported)}.", counted)


def _offered(reported: Reported, item: Measurement) -> bool:
    backend = BACKEND_OF.get(item.where)
    for variant in reported.contract.variants:
        if variant.name == item.variant and backend in variant.backends:
            return variant.backends[backend].status == "passed"
    return True


def _likewise(reported: Reported) -> str:
    evidence, used = reported.evidence, reported.used
    judge = evidence.judge.split(" with ")[0]
    if agreed := in_page(evidence, "label_agreement", used):
        same = f"{told('label_agreement', agreed.value)} of {_inputs(agreed)} are the same"
        if agreed.value == 1:
            same = f"every one of {_inputs(agreed)} is the same"
        return f"In the browser it answers as {judge} does: {same}"
    if alike := in_page(evidence, "cosine", used):
        least = told("cosine", alike.value)
        return (
            f"In the browser its vectors are {judge}'s: cosine of at least {least} on "
            f"{_inputs(alike)}"
        )
    if apart := in_page(evidence, "max_difference", used):
        most = told("max_difference", apart.value)
        return f"In the browser it answers as {judge} does, within {most} on {_inputs(apart)}"
    return f"It was compared with {judge} outside the browser only"


def _inputs(item: Measurement) -> str:
    return f"{item.count:,} answers" if item.what == "label_agreement" else f"{item.count:,} inputs"


def _equal_inputs(evidence: Evidence) -> str:
    equal = [m for m in evidence.measurements if m.what == "differing_input_bytes"]
    if not equal:
        return ""
    most, differing = max(item.count for item in equal), max(item.value for item in equal)
    told_ = "equal byte for byte" if differing == 0 else f"with {differing:,.0f} differing bytes"
    return f"{most:,} input tensors of page and Python {told_}"


def facts(reported: Reported) -> list[Fact]:
    """Of the variant that the page runs; what was not measured is left out."""
    evidence, used = reported.evidence, reported.used
    found = []
    if agreed := in_page(evidence, "label_agreement", used):
        note = f"of {agreed.count:,} answers, {agreed.data}"
        found.append(Fact("As the judge", told("label_agreement", agreed.value), note))
    elif alike := in_page(evidence, "cosine", used):
        found.append(Fact("Cosine to the judge", told("cosine", alike.value), "the smallest"))
    elif apart := in_page(evidence, "max_difference", used):
        value = told("max_difference", apart.value)
        found.append(Fact("From the judge", value, f"at most, on {apart.count:,} inputs"))
    if right := worst(measured(evidence, "accuracy", used)):
        sure = interval(right)
        note = f"95 % interval {sure}" if sure else f"on {right.count:,} inputs"
        found.append(Fact("Right", told("accuracy", right.value), note))
    found.append(_size(reported))
    times = [m for m in evidence.measurements
             if (m.what, m.variant) == ("median_ms", used) and m.where in PAGE]  # fmt: skip
    if times:
        fastest = min(times, key=lambda item: item.value)
        threads = "1 thread" if fastest.where == PAGE[0] else "2 threads"
        found.append(Fact("Time", told("median_ms", fastest.value), f"median, wasm, {threads}"))
    return found


def _size(reported: Reported) -> Fact:
    variant = reported.contract.variant(reported.used)
    whole = next((v.size_bytes for v in reported.contract.variants if v.name == "fp32"), None)
    share = f", {percent(variant.size_bytes / whole, 0)} of fp32" if whole else ""
    note = variant.name + (share if variant.name != "fp32" else "")
    return Fact("Size", told("size_mb", variant.size_bytes / 1e6), note)


def in_page(evidence: Evidence, what: What, variant: VariantName) -> Measurement | None:
    """The worst over the page's threads, on labelled data where there are any."""
    return worst(measured(evidence, what, variant, "wasm"))
