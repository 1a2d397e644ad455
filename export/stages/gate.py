"""gate: every limit of the recipe beside what was measured; all refusals at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from export.contract import Backend, BackendResult, VariantName
from export.errors import Refused
from export.evidence import Evidence, Measurement, What, Where
from export.recipe import Limits, Recipe
from export.stages.results import Measured, Verified

BACKENDS: tuple[Backend, ...] = get_args(Backend)
BACKEND_OF: dict[Where, Backend] = {
    "python-cpu": "cpu",
    "chromium-wasm-1-thread": "wasm",
    "chromium-wasm-2-threads": "wasm",
    "chromium-webgpu": "webgpu",
}
UNITS: dict[What, str] = {
    "accuracy": "", "accuracy_loss_points": "points", "differing_input_bytes": "bytes",
    "label_agreement": "", "max_difference": "", "size_mb": "MB", "size_vs_fp32": "",
    "time_vs_fp32": "", "median_ms": "ms",
}  # fmt: skip
AT_LEAST: frozenset[What] = frozenset({"accuracy", "label_agreement"})


@dataclass(frozen=True)
class Judged:
    """Evidence with its limits filled in, and what missed them."""

    evidence: Evidence
    refusals: tuple[str, ...]


def gate(measured: Measured) -> Verified:
    """Hold every measurement to its limit. Raises Refused with all that missed."""
    recipe = measured.quantised.recipe
    judged = judge(recipe, measured.evidence)
    if judged.refusals:
        raise Refused(judged.refusals)
    backends = {
        variant: {
            backend: _result(recipe, judged.evidence, variant, backend) for backend in BACKENDS
        }
        for variant in measured.quantised.paths
    }
    sizes = {variant: path.stat().st_size for variant, path in measured.quantised.paths.items()}
    return Verified(
        Measured(measured.quantised, judged.evidence),
        backends,
        _best(recipe, judged.evidence, backends, sizes),
    )


def judge(recipe: Recipe, evidence: Evidence) -> Judged:
    """Pure: fill in limits, collect refusals; a limit with no measurement is one."""
    measurements = [_with_limit(recipe, item) for item in evidence.measurements]
    missed = [_refusal(item) for item in measurements if item.passed is False]
    missing = list(_missing(recipe, measurements))
    return Judged(
        evidence.model_copy(update={"measurements": measurements}), tuple(missed + missing)
    )


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
    for where in ("chromium-wasm-1-thread", "chromium-wasm-2-threads"):
        if (None, where, "differing_input_bytes") not in seen:
            yield f"no evidence that input tensors are equal at {where}"
    for named in recipe.file.limits.webgpu:
        if named != "all" and (named, "chromium-webgpu", "max_difference") not in seen:
            yield f"limits.webgpu.{named} is set, but nothing was measured on WebGPU"
    for variant in recipe.file.variants.offer:
        for where in ("python-cpu", "chromium-wasm-1-thread", "chromium-wasm-2-threads"):
            for what in ("accuracy", "accuracy_loss_points", "label_agreement", "max_difference"):
                limited = getattr(recipe.file.limits.of(variant), what) is not None
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
    return BackendResult(
        status="passed" if worst("max_difference") is not None else "unverified",
        tolerance=limits.max_difference,
        inputs=max((item.count for item in mine if item.what == "max_difference"), default=None),
        max_difference=worst("max_difference"),
        label_agreement=worst("label_agreement"),
        time_vs_fp32=worst("time_vs_fp32"),
    )


def _best(
    recipe: Recipe,
    evidence: Evidence,
    backends: dict[VariantName, dict[Backend, BackendResult]],
    sizes: dict[VariantName, int],
) -> dict[Backend, VariantName]:
    accuracy = {m.variant: m.value for m in evidence.measurements
                if m.what == "accuracy" and m.where == "python-cpu"}  # fmt: skip

    def rank(variant: VariantName, backend: Backend) -> tuple[float, int]:
        match recipe.file.variants.prefer:
            case "smallest":
                return 0.0, sizes[variant]
            case "fastest":
                return backends[variant][backend].time_vs_fp32 or 1.0, sizes[variant]
            case "most-accurate":
                return -accuracy.get(variant, 0.0), sizes[variant]

    best: dict[Backend, VariantName] = {}
    for backend in BACKENDS:
        passed = [v for v in backends if backends[v][backend].status == "passed"]
        if passed:
            best[backend] = min(passed, key=lambda v: rank(v, backend))
    return best
