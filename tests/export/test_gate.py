"""The gate: limits, missing measurements, variants that win nothing, the best by each rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from export.contract import ScoresDecision, TableInput, VariantName
from export.errors import Refused
from export.evidence import Details, Evidence, Measurement
from export.evidence_words import told_held, told_worst
from export.recipe import Recipe, RecipeFile
from export.samples import JudgedSamples
from export.stages.gate import gate, judge
from export.stages.results import FILE_NAMES, Exported, Measured, Quantised, Sourced, Verified

PLACES = ("python-cpu", "chromium-wasm-1-thread", "chromium-wasm-2-threads", "chromium-webgpu")
WASM = PLACES[1:3]
COLUMNS = [{"name": "x", "title": "x", "type": "number"}]


def recipe(
    offer: list[str], limits: dict[str, Any] | None = None, prefer: str = "smallest"
) -> Recipe:
    file = RecipeFile.model_validate({
        "title": "t", "description": "d", "task": "any", "licence": "MIT",
        "source": {"kind": "onnx", "file": "model.onnx"},
        "input": {"kind": "table", "columns": COLUMNS},
        "output": {"kind": "scores", "labels": "labels.txt"},
        "data": {"about": "none", "examples": "rows.csv"},
        "variants": {"offer": offer, "prefer": prefer, "q8": {"method": "dynamic"}},
        "limits": limits or {},
    })  # fmt: skip
    return Recipe("gated", Path(), file)


class Facts:
    """What one variant measured, the same everywhere but where told otherwise."""

    def __init__(
        self, size: int, difference: float, time: float, accuracy: float = 0.9,
        times: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        self.size, self.difference, self.accuracy = size, difference, accuracy
        self.times = dict.fromkeys(PLACES, time) | dict(times or {})


def measurement(what: str, variant: str | None, where: str, value: float) -> Measurement:
    return Measurement.model_validate({
        "what": what, "variant": variant, "where": where, "data": "golden examples",
        "count": 4, "value": value, "unit": "",
    })  # fmt: skip


def evidence(facts: Mapping[VariantName, Facts]) -> Evidence:
    found = [measurement("differing_input_bytes", None, where, 0) for where in WASM]
    for variant, fact in facts.items():
        for where in PLACES:
            found += [
                measurement("max_difference", variant, where, fact.difference),
                measurement("time_vs_fp32", variant, where, fact.times[where]),
                measurement("accuracy", variant, where, fact.accuracy),
            ]
    return Evidence(
        schema_version=2, name="gated", judge="none", environment={},
        measurements=found, notes=[],
    )  # fmt: skip


def measured(folder: Path, described: Recipe, facts: Mapping[VariantName, Facts]) -> Measured:
    """Files of the sizes told, and the evidence, as verify hands them on."""
    paths = {variant: folder / FILE_NAMES[variant] for variant in facts}
    for variant, path in paths.items():
        path.write_bytes(bytes(facts[variant].size))
    table = TableInput.model_validate({
        "kind": "table", "matrix": "features", "columns": [{**COLUMNS[0], "missing": "refuse"}]
    })  # fmt: skip
    decision = ScoresDecision(
        kind="scores", probabilities="p", top_probabilities="t", top_indices="i", top_k=1
    )
    nothing = JudgedSamples((), ())
    sourced = Sourced(
        described, folder, table, decision, "none", ("a", "b"), nothing, None, None
    )  # fmt: skip
    exported = Exported(sourced, paths["fp32"], paths["fp32"], 1, (), ())
    details = Details(schema_version=2, name="gated", details=[])
    return Measured(Quantised(exported, paths, {}), evidence(facts), details)


def gated(folder: Path, facts: Mapping[VariantName, Facts], prefer: str = "smallest") -> Verified:
    return gate(measured(folder, recipe([*facts], prefer=prefer), facts))


def without(given: Evidence, variant: str | None, where: str, what: str) -> Evidence:
    kept = [m for m in given.measurements if (m.variant, m.where, m.what) != (variant, where, what)]
    assert len(kept) == len(given.measurements) - 1
    return given.model_copy(update={"measurements": kept})


FP32 = Facts(100, 1e-7, 1.0)
SMALL = Facts(30, 1e-3, 1.5)
FAST = Facts(60, 1e-4, 0.5, accuracy=0.85)


def test_a_variant_that_wins_nothing_is_not_offered_and_the_better_one_is_named(
    tmp_path: Path,
) -> None:
    worse = Facts(40, 1e-2, 2.0)  # than q8, in everything
    verified = gated(tmp_path, {"fp32": FP32, "q8": SMALL, "q4": worse})
    for backend in ("cpu", "wasm", "webgpu"):
        result = verified.backends["q4"][backend]
        assert result.status == "not-offered"
        assert result.why == "q8 is no larger, no slower and no less exact here"
        assert verified.backends["q8"][backend].status == "passed"


@pytest.mark.parametrize(
    "better",
    [
        Facts(29, 1e-2, 2.0, 0.85),  # smaller
        Facts(40, 1e-4, 2.0, 0.85),  # nearer to the framework
        Facts(40, 1e-2, 1.2, 0.85),  # faster
        Facts(40, 1e-2, 2.0, 0.95),  # more often right
    ],
)
def test_one_advantage_is_enough_to_be_offered(tmp_path: Path, better: Facts) -> None:
    verified = gated(tmp_path, {"fp32": FP32, "q8": SMALL, "q4": better})
    assert verified.backends["q4"]["wasm"].status == "passed"


def test_a_backend_where_a_variant_wins_nothing_is_left_out_alone(tmp_path: Path) -> None:
    mixed = Facts(40, 1e-2, 2.0, times={"chromium-webgpu": 0.2})
    verified = gated(tmp_path, {"fp32": FP32, "q8": SMALL, "q4": mixed})
    told = {backend: result.status for backend, result in verified.backends["q4"].items()}
    assert told == {"cpu": "not-offered", "wasm": "not-offered", "webgpu": "passed"}


def test_fp32_is_offered_even_where_another_is_better(tmp_path: Path) -> None:
    best = Facts(30, 1e-7, 0.5)
    verified = gated(tmp_path, {"fp32": FP32, "fp16": best})
    assert verified.backends["fp32"]["wasm"].status == "passed"


def test_times_that_differ_by_chance_alone_save_no_variant(tmp_path: Path) -> None:
    by_chance = Facts(40, 1e-2, 1.46)  # q8 takes 1.5
    verified = gated(tmp_path, {"fp32": FP32, "q8": SMALL, "q4": by_chance})
    assert verified.backends["q4"]["wasm"].status == "not-offered"


def test_of_two_equal_variants_one_stays(tmp_path: Path) -> None:
    verified = gated(tmp_path, {"fp32": FP32, "q8": SMALL, "q4": SMALL})
    told = [results["wasm"].status for name, results in verified.backends.items() if name != "fp32"]
    assert told.count("passed") == 1


@pytest.mark.parametrize(
    ("prefer", "best"), [("smallest", "q8"), ("fastest", "fp16"), ("most-accurate", "fp32")]
)
def test_the_best_is_the_one_that_the_rule_picks(
    tmp_path: Path, prefer: str, best: VariantName
) -> None:
    verified = gated(tmp_path, {"fp32": FP32, "fp16": FAST, "q8": SMALL}, prefer)
    assert verified.best == {"cpu": best, "wasm": best, "webgpu": best}


def test_the_best_is_picked_for_each_backend(tmp_path: Path) -> None:
    slow_here = Facts(60, 1e-4, 0.5, times=dict.fromkeys(WASM, 3.0))
    verified = gated(tmp_path, {"fp32": FP32, "fp16": slow_here, "q8": SMALL}, "fastest")
    assert verified.best == {"cpu": "fp16", "wasm": "fp32", "webgpu": "fp16"}


def test_a_limit_missed_is_refused_with_value_place_and_limit(tmp_path: Path) -> None:
    described = recipe(["fp32", "q8"], {"q8": {"max_difference": 5e-4, "accuracy": 0.95}})
    with pytest.raises(Refused) as caught:
        gate(measured(tmp_path, described, {"fp32": FP32, "q8": SMALL}))
    assert len(caught.value.reasons) == 2 * len(PLACES[:3])
    assert (
        "q8 max difference 0.001 at python-cpu on 4 golden examples: 0.0005 above the limit 0.0005"
    ) in caught.value.reasons


@pytest.mark.parametrize(("limit", "passed"), [(0.9, True), (0.9000001, False)])
def test_a_value_at_its_limit_holds_it(limit: float, passed: bool) -> None:
    found = judge(recipe(["fp32"], {"fp32": {"accuracy": limit}}), evidence({"fp32": FP32}))
    judged = [m.passed for m in found.evidence.measurements if m.what == "accuracy"]
    assert judged == [passed] * len(PLACES)


@pytest.mark.parametrize("where", PLACES[:3])
def test_an_answer_that_was_not_compared_is_a_refusal(where: str) -> None:
    given = without(evidence({"fp32": FP32}), "fp32", where, "max_difference")
    assert f"no evidence for fp32 at {where}" in judge(recipe(["fp32"]), given).refusals


@pytest.mark.parametrize("where", PLACES[:3])
def test_a_limit_without_a_measurement_is_a_refusal(where: str) -> None:
    described = recipe(["fp32"], {"fp32": {"accuracy": 0.5}})
    given = without(evidence({"fp32": FP32}), "fp32", where, "accuracy")
    assert judge(described, given).refusals == (f"no evidence for fp32 accuracy at {where}",)


def test_a_limit_of_batches_is_missed_where_only_they_are_made() -> None:
    described = recipe(["fp32"], {"fp32": {"batch_difference": 1e-5}})
    told = judge(described, evidence({"fp32": FP32})).refusals
    assert told == ("no evidence for fp32 batch difference at python-cpu",)


def test_a_limit_for_webgpu_needs_webgpu() -> None:
    described = recipe(["fp32"], {"webgpu": {"fp32": {"max_difference": 1e-3}}})
    given = without(evidence({"fp32": FP32}), "fp32", "chromium-webgpu", "max_difference")
    (told,) = judge(described, given).refusals
    assert told.startswith("limits.webgpu.fp32 is set")


def wrong_on_webgpu(folder: Path, limits: dict[str, Any]) -> Measured:
    """fp32 and q8, of which fp32 is wrong on WebGPU alone."""
    described = recipe(["fp32", "q8"], {"fp32": {"max_difference": 1e-3}, **limits})
    made = measured(folder, described, {"fp32": FP32, "q8": SMALL})
    at = next(
        i for i, m in enumerate(made.evidence.measurements)
        if (m.variant, m.where, m.what) == ("fp32", "chromium-webgpu", "max_difference")
    )  # fmt: skip
    wrong = made.evidence.measurements[at].model_copy(update={"value": 169.0})
    made.evidence.measurements[at] = wrong
    return made


def test_a_variant_that_is_wrong_on_webgpu_alone_is_left_out_there_and_the_reason_told(
    tmp_path: Path,
) -> None:
    verified = gate(wrong_on_webgpu(tmp_path, {}))
    result = verified.backends["fp32"]["webgpu"]
    assert (result.status, result.max_difference) == ("not-offered", 169.0)
    assert result.why == (
        "fp32 max difference 169 at chromium-webgpu on 4 golden examples: 1.7e+02 above the limit "
        "0.001"
    )
    assert verified.best == {"cpu": "q8", "wasm": "q8", "webgpu": "q8"}
    assert verified.backends["fp32"]["wasm"].status == "passed"
    assert told_held(verified.measured.evidence) == (
        "5 of 6 limits held; where one was missed, the variant is not offered"
    )
    assert told_worst(verified.measured.evidence, "max_difference", "fp32") == "1.0 × 10⁻⁷"


@pytest.mark.parametrize("named", ["all", "fp32"])
def test_a_recipe_that_names_limits_for_webgpu_is_refused_where_it_misses_them(
    tmp_path: Path, named: str
) -> None:
    with pytest.raises(Refused, match="fp32 max difference 169 at chromium-webgpu"):
        gate(wrong_on_webgpu(tmp_path, {"webgpu": {named: {"max_difference": 1e-2}}}))


def test_without_webgpu_a_variant_is_unverified_there(tmp_path: Path) -> None:
    made = measured(tmp_path, recipe(["fp32"]), {"fp32": FP32})
    given = without(made.evidence, "fp32", "chromium-webgpu", "max_difference")
    verified = gate(replace(made, evidence=given))
    assert verified.backends["fp32"]["webgpu"].status == "unverified"
    assert verified.best == {"cpu": "fp32", "wasm": "fp32"}


@pytest.mark.parametrize("where", WASM)
def test_inputs_that_were_not_compared_are_a_refusal(where: str) -> None:
    given = without(evidence({"fp32": FP32}), None, where, "differing_input_bytes")
    assert judge(recipe(["fp32"]), given).refusals == (
        f"no evidence that input tensors are equal at {where}",
    )


def test_one_differing_byte_of_the_inputs_is_a_refusal_that_no_recipe_relaxes() -> None:
    given = evidence({"fp32": FP32})
    given.measurements[0] = given.measurements[0].model_copy(update={"value": 1.0})
    (told,) = judge(recipe(["fp32"]), given).refusals
    assert told.startswith("differing input bytes 1")


def test_an_offered_variant_without_any_measurement_is_a_refusal() -> None:
    told = judge(recipe(["fp32", "q8"]), evidence({"fp32": FP32})).refusals
    assert [reason for reason in told if reason.startswith("no evidence for q8 at ")]
    assert set(FILE_NAMES) == set(get_args(VariantName))
