"""verify: the framework against ONNX Runtime in Python and the shipped page in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from export.contract import VariantName
from export.decode.pixels import Pixels
from export.errors import Refused
from export.evidence import Evidence, Measurement, What, Where
from export.parity import Arrays, check_outputs, compare
from export.runtime import Session
from export.samples import JudgedSamples
from export.stages.gate import UNITS
from export.stages.results import Quantised

# A judge undecided by less than this may fall either way by the order of float32 sums alone.
TIE = 1e-5
TIMED_RUNS = 30
Say = Callable[[str], None]


@dataclass(frozen=True)
class Place:
    """A backend of the browser with a thread count."""

    where: Where
    backend: str
    threads: int


PLACES = (
    Place("chromium-wasm-1-thread", "wasm", 1),
    Place("chromium-wasm-2-threads", "wasm", 2),
)
WEBGPU = Place("chromium-webgpu", "webgpu", 1)


@dataclass(frozen=True)
class PageAnswers:
    """What the page saw and answered: one decoded tensor a picture, and every output."""

    tensors: tuple[bytes, ...]
    outputs: Arrays
    median_ms: float
    timed_runs: int


class Page(Protocol):
    """The shipped page in a real browser, driven from Python."""

    environment: Mapping[str, str]
    webgpu: str | None
    """None when WebGPU is there, else why not."""
    shader_f16: bool

    def predict(
        self, variant: str, backend: str, threads: int, pictures: Sequence[bytes]
    ) -> PageAnswers:
        """Decode and predict each picture (a whole encoded file) in the page's own worker."""


OpenPage = Callable[[Path, str], AbstractContextManager[Page]]
"""Opens the page on a folder of models, for the model of that name."""


@dataclass(frozen=True)
class Decoded:
    """A sample set with the tensors that Python's decoder gives."""

    name: str
    judged: JudgedSamples
    pixels: Pixels

    def first(self, count: int) -> Decoded:
        """The first `count` of them."""
        return Decoded(self.name, self.judged.first(count), self.pixels[:count])


def verify(
    quantised: Quantised, golden: Decoded, labelled: Decoded, page: Page, say: Say
) -> Evidence:
    """Measure every variant at every place. Limits are not looked at here: the gate does."""
    sets = (golden, labelled)
    measurements = list(_sizes(quantised))
    notes: list[str] = []
    for variant, path in quantised.paths.items():
        say(f"{variant} in onnxruntime")
        measurements += _measure_python(quantised, variant, path, sets)
    for place in PLACES:
        for variant in quantised.paths:
            say(f"{variant} in Chromium, {place.where.removeprefix('chromium-')}")
            measurements += _measure_page(quantised, variant, place, sets, page)
    measurements += _measure_webgpu(quantised, golden, page, say, notes)
    return Evidence(
        schema_version=1,
        name=quantised.recipe.name,
        judge=quantised.exported.sourced.judge,
        environment=dict(page.environment),
        measurements=list(_relative(measurements)),
        notes=notes,
    )


def _sizes(quantised: Quantised) -> Iterator[Measurement]:
    whole = quantised.paths["fp32"].stat().st_size
    for variant, path in quantised.paths.items():
        size = path.stat().st_size
        yield _measurement("size_mb", variant, "publication", "files", 1, size / 1e6)
        yield _measurement("size_vs_fp32", variant, "publication", "files", 1, size / whole)


def _measure_python(
    quantised: Quantised, variant: VariantName, path: Path, sets: Sequence[Decoded]
) -> Iterator[Measurement]:
    session = Session(path)
    for data in sets:
        outputs = dict(session.run(data.pixels))
        yield from _compare(quantised, variant, "python-cpu", data, outputs)
    milliseconds = session.median_ms(sets[0].pixels, TIMED_RUNS)
    yield _measurement(
        "median_ms", variant, "python-cpu", "golden examples", TIMED_RUNS, milliseconds
    )


def _measure_page(
    quantised: Quantised, variant: VariantName, place: Place, sets: Sequence[Decoded], page: Page
) -> Iterator[Measurement]:
    for data in sets:
        pictures = [sample.data for sample in data.judged.samples]
        answers = page.predict(variant, place.backend, place.threads, pictures)
        if variant == "fp32":
            yield _differing_bytes(place.where, data, answers.tensors)
        yield from _compare(quantised, variant, place.where, data, answers.outputs)
        if data is sets[0]:
            runs, milliseconds = answers.timed_runs, answers.median_ms
            yield _measurement("median_ms", variant, place.where, data.name, runs, milliseconds)


def _measure_webgpu(
    quantised: Quantised, golden: Decoded, page: Page, say: Say, notes: list[str]
) -> Iterator[Measurement]:
    browser = quantised.recipe.file.browser
    if not browser.webgpu:
        notes.append("WebGPU was not measured: the recipe says so.")
        return
    if page.webgpu is not None:
        notes.append(f"WebGPU was not measured: {page.webgpu}.")
        return
    few = golden.first(browser.webgpu_examples)
    notes.append(
        f"On WebGPU {len(few.judged)} golden examples were compared, without a GPU (SwiftShader is "
        "slow); accuracy was not measured there."
    )
    for variant in quantised.paths:
        if variant == "fp16" and not page.shader_f16:
            notes.append("fp16 was not measured on WebGPU: this adapter has no shader-f16.")
            continue
        say(f"{variant} in Chromium, webgpu")
        yield from _measure_page(quantised, variant, WEBGPU, (few,), page)


def _compare(
    quantised: Quantised, variant: VariantName, where: Where, data: Decoded, outputs: Arrays
) -> Iterator[Measurement]:
    sourced = quantised.exported.sourced
    place = f"{variant} at {where} on {data.name}"
    top_k = sourced.recipe.file.output.top_k
    got = check_outputs(place, outputs, len(data.judged), len(sourced.labels), top_k)
    found = compare(place, data.judged.probabilities, got, TIE)
    count = found.count
    yield _measurement("max_difference", variant, where, data.name, count, found.max_difference)
    agreement = found.label_agreement
    yield _measurement("label_agreement", variant, where, data.name, found.decided, agreement)
    labels = data.judged.labels()
    if data.name == "labelled data" and labels is not None:
        right = float((got.argmax(axis=1) == labels).mean())
        yield _measurement("accuracy", variant, where, data.name, count, right)


def _differing_bytes(where: Where, data: Decoded, tensors: Sequence[bytes]) -> Measurement:
    if len(tensors) != len(data.pixels):
        raise Refused([f"{where}: {len(tensors)} tensors for {len(data.pixels)} pictures"])
    differing = 0
    for ours, theirs in zip(data.pixels, tensors, strict=True):
        got = np.frombuffer(theirs, np.uint8)
        if got.size != ours.size:
            raise Refused([f"{where}: a tensor of {got.size} bytes, expected {ours.size}"])
        differing += int((got != ours.ravel()).sum())
    return _measurement("differing_input_bytes", None, where, data.name, len(tensors), differing)


def _relative(measurements: Sequence[Measurement]) -> Iterator[Measurement]:
    """Add what is told relative to fp32 in the same place: time, and accuracy lost."""
    fp32 = {(m.what, m.where, m.data): m.value for m in measurements if m.variant == "fp32"}
    for item in measurements:
        yield item
        base = fp32.get((item.what, item.where, item.data))
        if base is None:
            continue
        if item.what == "median_ms" and base > 0:
            yield item.model_copy(
                update={"what": "time_vs_fp32", "unit": "", "value": item.value / base}
            )
        if item.what == "accuracy":
            lost = (base - item.value) * 100
            yield item.model_copy(
                update={"what": "accuracy_loss_points", "unit": "points", "value": lost}
            )


def _measurement(
    what: What, variant: VariantName | None, where: Where, data: str, count: int, value: float
) -> Measurement:
    return Measurement.model_validate(
        {
            "what": what, "variant": variant, "where": where, "data": data,
            "count": count, "value": value, "unit": UNITS[what],
        }
    )  # fmt: skip
