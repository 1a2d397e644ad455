"""gate: every limit of the recipe beside what was measured; all refusals at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from export.contract import Backend, BackendResult, VariantName
from export.errors import Refused
from export.evidence import Evidence, Measurement, What, Where
from export.recipe import Recipe
from export.recipe.limits import Limits
from export.stages.results import Measured, Verified

BACKENDS: tuple[Backend, ...] = get_args(Backend)
BACKEND_OF: dict[Where, Backend] = {
    "python-cpu": "cpu",
    "chromium-wasm-1-thread": "wasm",
    "chromium-wasm-2-threads": "wasm",
    "chromium-webgpu": "webgpu",
}
UNITS: dict[str, str] = {
    "accuracy_loss_points": "points", "differing_input_bytes": "bytes", "size_mb": "MB",
    "median_ms": "ms", "p95_ms": "ms",
}  # fmt: skip
AT_LEAST: frozenset[What] = frozenset({"accuracy", "cosine", "label_agreement"})
JUDGED: tuple[What, ...] = (
    "accuracy", "accuracy_loss_points", "batch_difference", "cosine", "label_agreement",
    "max_difference",
)  # fmt: skip
WASM: tuple[Where, ...] = ("chromium-wasm-1-thread", "chromium-wasm-2-threads")
SAME_TIME = 0.05  # two medians closer than this are one speed


@dataclass(frozen=True)
class Judged:
    """Evidence with its limits filled in, and what missed them."""

    evidence: Evidence
    refusals: tuple[str, ...]


def gate(measured: Measured) -> Verified:
    """Hold every measurement to its limit. Raises Refused with all that missed."""
    quantised = measured.quantised
    judged = judge(quantised.recipe, measured.evidence)
    if judged.refusals:
        raise Refused(judged.refusals)
    sizes = {variant: path.stat().st_size for variant, path in quantised.paths.items()}
    backends = offered(quantised.recipe, judged.evidence, sizes)
    return Verified(
        Measured(quantised, judged.evidence, measured.details),
        backends,
        _best(quantised.recipe, judged.evidence, backends, sizes),
    )


def offered(
    recipe: Recipe, evidence: Evidence, sizes: Mapping[VariantName, int]
) -> dict[VariantName, dict[Backend, BackendResult]]:
    """What each variant reached on each backend; one that wins nothing there is not offered."""
    results = {
        variant: {backend: _result(recipe, evidence, variant, backend) for backend in BACKENDS}
        for variant in sizes
    }
    for backend in BACKENDS:
        passed = [v for v in results if results[v][backend].status == "passed"]
        for variant in passed:
            better = [
                other
                for other in passed
                if other != variant
                and results[other][backend].status == "passed"  # of two equal ones, one stays
                and _beats(evidence, results, sizes, backend, other, variant)
            ]
            if better and variant != "fp32":
                why = f"{better[0]} is no larger, no slower and no less exact here"
                results[variant][backend] = results[variant][backend].model_copy(
                    update={"status": "not-offered", "why": why}
                )
    return results


def _beats(
    evidence: Evidence,
    results: Mapping[VariantName, Mapping[Backend, BackendResult]],
    sizes: Mapping[VariantName, int],
    backend: Backend,
    one: VariantName,
    other: VariantName,
) -> bool:
    """Whether `one` is at least as good in everything: bytes, time, difference and accuracy."""
    mine, its = results[one][backend], results[other][backend]
    accuracy = accuracies(evidence)
    times = (mine.time_vs_fp32 or 1.0, its.time_vs_fp32 or 1.0)
    return (
        sizes[one] <= sizes[other]
        and times[0] <= times[1] * (1 + SAME_TIME)
        and (mine.max_difference or 0.0) <= (its.max_difference or 0.0)
        and accuracy.get(one, 0.0) >= accuracy.get(other, 0.0)
    )


def accuracies(evidence: Evidence) -> dict[VariantName, float]:
    """Natively measured, by variant; empty without labelled data."""
    return {
        m.variant: m.value
        for m in evidence.measurements
        if m.what == "accuracy" and m.where == "python-cpu" and m.variant
    }


def judge(recipe: Recipe, evidence: Evidence) -> Judged:
    """Pure: fill in limits, collect refusals; a limit with no measurement is one."""
    measurements = [_with_limit(recipe, item) for item in evidence.measurements]
    missed = [_refusal(item) for item in measurements if refuses(recipe, item)]
    missing = list(_missing(recipe, measurements))
    return Judged(
        evidence.model_copy(update={"measurements": measurements}), tuple(missed + missing)
    )


def refuses(recipe: Recipe, item: Measurement) -> bool:
    """Whether a miss refuses the version, rather than leaving its variant out on WebGPU.

    There a browser's driver computes: where that is wrong, wasm still holds. A recipe that names
    limits for WebGPU asks for it.
    """
    if item.passed is not False:
        return False
    asked = recipe.file.limits.webgpu
    return (
        item.where != "chromium-webgpu" or item.variant is None
        or "all" in asked or item.variant in asked
    )  # fmt: skip


def _with_limit(recipe: Recipe, item: Measurement) -> Measurement:
    limit = _limit(recipe, item)
    if limit is None:
        return item
    rule: Literal["at least", "at most"] = "at least" if item.what in AT_LEAST else "at most"
    passed = item.value >= limit if rule == "at least" else item.value <= limit
    return item.model_copy(update={"limit": limit, "rule": rule, "passed": passed})


def _limit(recipe: Recipe, item: Measurement) -> float | None:
    if item.what == "differing_input_bytes":
        return 0.0  # not for a recipe to relax: without equal inputs no answer means anything
    if item.variant is None or item.what not in Limits.model_fields:
        return None
    limits = recipe.file.limits.of(item.variant, webgpu=item.where == "chromium-webgpu")
    value: float | None = getattr(limits, item.what)
    return value


def _refusal(item: Measurement) -> str:
    word = "below" if item.rule == "at least" else "above"
    subject = f"{item.variant} {item.what}" if item.variant else item.what
    unit = f" {item.unit}" if item.unit else ""
    gap = abs(item.value - (item.limit or 0.0))
    return (
        f"{subject.replace('_', ' ')} {item.value:.4g}{unit} at {item.where} on {item.count} "
        f"{item.data}: {gap:.2g} {word} the limit {item.limit:g}"
    )


def _missing(recipe: Recipe, measurements: list[Measurement]) -> Iterator[str]:
    seen = {(item.variant, item.where, item.what) for item in measurements}
    for where in WASM:
        if (None, where, "differing_input_bytes") not in seen:
            yield f"no evidence that input tensors are equal at {where}"
    for named in recipe.file.limits.webgpu:
        if named != "all" and (named, "chromium-webgpu", "max_difference") not in seen:
            yield f"limits.webgpu.{named} is set, but nothing was measured on WebGPU"
    for variant in recipe.file.variants.offer:
        limits = recipe.file.limits.of(variant)
        for where in ("python-cpu", *WASM):
            if (variant, where, "max_difference") not in seen:
                yield f"no evidence for {variant} at {where}"
            for what in JUDGED:
                only_native = what == "batch_difference" and where != "python-cpu"
                limited = getattr(limits, what) is not None and not only_native
                if limited and (variant, where, what) not in seen:
                    yield f"no evidence for {variant} {what.replace('_', ' ')} at {where}"


def _result(
    recipe: Recipe, evidence: Evidence, variant: VariantName, backend: Backend
) -> BackendResult:
    mine = [m for m in evidence.measurements
            if m.variant == variant and BACKEND_OF.get(m.where) == backend]  # fmt: skip

    def worst(what: What) -> float | None:
        values = [item.value for item in mine if item.what == what]
        if not values:
            return None
        return min(values) if what in AT_LEAST else max(values)

    limits = recipe.file.limits.of(variant, webgpu=backend == "webgpu")
    measured = worst("max_difference") is not None
    missed = [_refusal(item) for item in mine if item.passed is False]
    if missed:
        why: str | None = "; ".join(missed)
    else:
        why = None if measured else _why_unverified(evidence, variant)
    return BackendResult(
        status="not-offered" if missed else "passed" if measured else "unverified",
        why=why,
        tolerance=limits.max_difference,
        inputs=max((item.count for item in mine if item.what == "max_difference"), default=None),
        max_difference=worst("max_difference"),
        label_agreement=worst("label_agreement"),
        cosine=worst("cosine"),
        time_vs_fp32=worst("time_vs_fp32"),
    )


def _why_unverified(evidence: Evidence, variant: VariantName) -> str:
    told = [
        n for n in evidence.notes if "not measured on WebGPU" in n or n.startswith("WebGPU was")
    ]
    mine = [note for note in told if note.startswith((f"{variant} ", "WebGPU"))]
    return mine[0] if mine else "not measured"


def _best(
    recipe: Recipe,
    evidence: Evidence,
    backends: dict[VariantName, dict[Backend, BackendResult]],
    sizes: Mapping[VariantName, int],
) -> dict[Backend, VariantName]:
    accuracy = accuracies(evidence)

    def rank(variant: VariantName, backend: Backend) -> tuple[float, float]:
        result = backends[variant][backend]
        match recipe.file.variants.prefer:
            case "smallest":
                return 0.0, sizes[variant]
            case "fastest":
                return result.time_vs_fp32 or 1.0, sizes[variant]
            case "most-accurate":
                exact = result.max_difference or 0.0
                return -accuracy.get(variant, 0.0), exact

    best: dict[Backend, VariantName] = {}
    for backend in BACKENDS:
        passed = [v for v in backends if backends[v][backend].status == "passed"]
        if passed:
            best[backend] = min(passed, key=lambda v: rank(v, backend))
    return best
