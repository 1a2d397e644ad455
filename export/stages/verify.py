"""verify: the framework against ONNX Runtime in Python and the shipped page in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from export.contract import ScoresDecision, VariantName
from export.details import detail
from export.errors import Refused
from export.evaluate import TIE, Score, rights
from export.evidence import Detail, Details, Evidence, Measurement, What, Where
from export.parity import Comparison, compare
from export.runtime import Session
from export.samples import JudgedSamples
from export.spec import stream_of
from export.stages.gate import UNITS
from export.stages.results import Quantised
from export.statistics import Scores, interval, paired_p_value
from export.tensor_bytes import to_bytes
from export.tensors import Answers, Tensors, batches
from export.version import entry_of
from export.words import in_words

# Variants take turns, so that whatever else the machine does falls on all of them alike.
ROUNDS, RUNS_A_ROUND = 10, 3
WEBGPU_ROUNDS, WEBGPU_RUNS = 1, 2  # SwiftShader takes minutes where a GPU takes seconds
ALONE_OR_NOT = 64  # inputs compared alone and in a batch
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
    """What the page saw and answered, an entry an input."""

    decoded: tuple[Tensors, ...]
    answers: tuple[Answers, ...]


Timer = Callable[[int], Sequence[float]]
"""Runs one input so many times, after a warm-up, and gives the times in milliseconds."""


class Page(Protocol):
    """The shipped page in a real browser, driven from Python."""

    environment: Mapping[str, str]
    webgpu: str | None
    """None when WebGPU is there, else why not."""
    shader_f16: bool

    def predict(
        self, variant: str, backend: str, threads: int, inputs: Sequence[bytes]
    ) -> PageAnswers:
        """Decode and predict each encoded input in the page's own worker."""

    def timers(
        self, variants: Sequence[str], backend: str, threads: int, one: Tensors
    ) -> AbstractContextManager[Mapping[str, Timer]]:
        """Hold every variant open, to time bare runs of one decoded input."""


OpenPage = Callable[[Path, str], AbstractContextManager[Page]]
"""Opens the page on a folder of models, for the model of that name."""


@dataclass(frozen=True)
class Decoded:
    """A sample set with the tensors that Python's decoder gives."""

    name: Literal["golden examples", "labelled data"]
    judged: JudgedSamples
    tensors: tuple[Tensors, ...]

    def at_most(self, count: int) -> Decoded:
        """`count` of them, evenly picked, or all."""
        if count >= len(self.tensors):
            return self
        positions = np.linspace(0, len(self.tensors) - 1, count).round().astype(int).tolist()
        return self.pick(positions)

    def pick(self, positions: Sequence[int]) -> Decoded:
        """Those at the positions."""
        tensors = tuple(self.tensors[i] for i in positions)
        return Decoded(self.name, self.judged.pick(positions), tensors)


@dataclass(frozen=True)
class Verification:
    """What verify found."""

    evidence: Evidence
    details: Details


def verify(
    quantised: Quantised,
    golden: Decoded,
    labelled: Decoded | None,
    score: Score | None,
    page: Page,
    say: Say,
) -> Verification:
    """Measure every variant at every place. Limits are not looked at here: the gate does."""
    return _Verify(quantised, golden, labelled, score, page, say).run()


class _Verify:
    def __init__(
        self, quantised: Quantised, golden: Decoded, labelled: Decoded | None,
        score: Score | None, page: Page, say: Say,
    ) -> None:  # fmt: skip
        self.quantised, self.golden, self.labelled = quantised, golden, labelled
        self.score, self.page, self.say = score, page, say
        self.sourced = quantised.exported.sourced
        self.notes: list[str] = []
        self.details: list[Detail] = []
        self.rights: dict[tuple[Where, VariantName], Scores] = {}

    def run(self) -> Verification:
        measurements = list(self._sizes())
        self._note_what_is_missing()
        measurements += self._native()
        few = self.quantised.recipe.file.browser.labelled_at_most
        sets = [self.golden, *([self.labelled.at_most(few)] if self.labelled else [])]
        for place in PLACES:
            for variant in self.quantised.paths:
                self.say(f"{variant} in Chromium, {place.where.removeprefix('chromium-')}")
                measurements += self._in_page(variant, place, sets)
            measurements += self._page_times(list(self.quantised.paths), place)
        measurements += self._webgpu()
        name = self.quantised.recipe.name
        evidence = Evidence(
            schema_version=2, name=name, judge=self.sourced.judge,
            environment=dict(self.page.environment),
            measurements=list(_relative(measurements)), notes=self.notes,
        )  # fmt: skip
        return Verification(evidence, Details(schema_version=2, name=name, details=self.details))

    def _sizes(self) -> Iterator[Measurement]:
        whole = self.quantised.paths["fp32"].stat().st_size
        for variant, path in self.quantised.paths.items():
            size = path.stat().st_size
            yield _measurement("size_mb", variant, "publication", "files", 1, size / 1e6)
            yield _measurement("size_vs_fp32", variant, "publication", "files", 1, size / whole)

    def _note_what_is_missing(self) -> None:
        if self.labelled is None:
            self.notes.append("There is no labelled data: accuracy was not measured.")

    def _native(self) -> Iterator[Measurement]:
        stream = stream_of(self.quantised.recipe.file.input)
        one = self.golden.tensors[0]
        timers: dict[VariantName, Timer] = {}
        for variant, path in self.quantised.paths.items():
            self.say(f"{variant} in onnxruntime")
            session = Session(path, stream)
            for data in (self.golden, *([self.labelled] if self.labelled else [])):
                answers = session.run(data.tensors, most=1)  # alone, as the page is asked
                yield from self._compared(variant, "python-cpu", data, answers)
            yield from self._alone_or_not(variant, session)
            timers[variant] = partial(session.times_ms, one)
        yield from _timed("python-cpu", timers, ROUNDS, RUNS_A_ROUND)

    def _alone_or_not(self, variant: VariantName, session: Session) -> Iterator[Measurement]:
        """The answers of inputs that can run together, together and alone."""
        several = [*self.golden.tensors, *(self.labelled.tensors if self.labelled else ())]
        chosen = [p for group in batches(several) if len(group) > 1 for p in group][:ALONE_OR_NOT]
        if not chosen:
            if variant == "fp32":
                self.notes.append("No two inputs are of one shape: batches were not measured.")
            return
        inputs = [several[i] for i in chosen]
        found = [
            float(np.abs(one[name].astype(np.float64) - other[name].astype(np.float64)).max())
            for one, other in zip(session.run(inputs), session.run(inputs, most=1), strict=True)
            for name in one
            if one[name].size and one[name].dtype.kind == "f"
        ]
        yield _measurement(
            "batch_difference", variant, "python-cpu", "golden examples", len(chosen), max(found)
        )

    def _in_page(
        self, variant: VariantName, place: Place, sets: Sequence[Decoded]
    ) -> Iterator[Measurement]:
        for data in sets:
            got = self._predicted(variant, place, data)
            if variant == "fp32":
                yield _differing_bytes(place.where, data, got.decoded)
            yield from self._compared(variant, place.where, data, got.answers)

    def _page_times(
        self, variants: Sequence[VariantName], place: Place, rounds: int = ROUNDS,
        runs: int = RUNS_A_ROUND,
    ) -> Iterator[Measurement]:  # fmt: skip
        self.say(f"times in Chromium, {place.where.removeprefix('chromium-')}")
        one = self.golden.tensors[0]
        with self.page.timers(variants, place.backend, place.threads, one) as timers:
            yield from _timed(place.where, {v: timers[v] for v in variants}, rounds, runs)

    def _predicted(self, variant: VariantName, place: Place, data: Decoded) -> PageAnswers:
        encoded = [sample.data for sample in data.judged.samples]
        return self.page.predict(variant, place.backend, place.threads, encoded)

    def _webgpu(self) -> Iterator[Measurement]:
        browser = self.quantised.recipe.file.browser
        if not browser.webgpu:
            self.notes.append("WebGPU was not measured: the recipe says so.")
            return
        if self.page.webgpu is not None:
            self.notes.append(f"WebGPU was not measured: {self.page.webgpu}.")
            return
        few = self.golden.at_most(browser.webgpu_examples)
        measured: list[VariantName] = []
        for variant, path in self.quantised.paths.items():
            if why := self._no_webgpu(variant, path):
                self.notes.append(f"{variant} was not measured on WebGPU: {why}.")
                continue
            self.say(f"{variant} in Chromium, webgpu")
            try:
                yield from list(self._in_page(variant, WEBGPU, (few,)))
                measured.append(variant)
            except Refused as refusal:
                reason = refusal.reasons[0].splitlines()[0][:200]
                self.notes.append(f"{variant} was not measured on WebGPU: {reason}.")
        if measured:
            yield from self._page_times(measured, WEBGPU, WEBGPU_ROUNDS, WEBGPU_RUNS)
            self.notes.append(
                f"On WebGPU {len(few.judged)} golden examples were compared, without a GPU "
                "(SwiftShader is slow); accuracy was not measured there."
            )

    def _no_webgpu(self, variant: VariantName, path: Path) -> str | None:
        if entry_of(path) == "wasm":
            return "it has operators that the WebGPU runtime lacks"
        if variant == "fp16" and not self.page.shader_f16:
            return "this adapter has no shader-f16"
        return None

    def _compared(
        self, variant: VariantName, where: Where, data: Decoded, answers: Sequence[Answers]
    ) -> Iterator[Measurement]:
        place = f"{variant} at {where} on {data.name}"
        found = compare(place, self.sourced.decision, data.judged.answers, answers, TIE)

        def told(what: What, value: float, count: int = found.count) -> Measurement:
            return _measurement(what, variant, where, data.name, count, value)

        yield told("max_difference", found.max_difference)
        if found.label_agreement is not None:
            yield told("label_agreement", found.label_agreement, found.decided)
        if found.cosine is not None:
            yield told("cosine", found.cosine)
        right = None
        if data.name == "labelled data":
            right = rights(self.sourced.decision, data.judged, answers, self.score)
        if right is not None:
            low, high = interval(right)
            accuracy = told("accuracy", float(right.mean()))
            yield accuracy.model_copy(update={"low": low, "high": high})
            self.rights[where, variant] = right
            if variant != "fp32":
                yield told("paired_p_value", paired_p_value(self.rights[where, "fp32"], right))
        self.details.append(self._detail(variant, where, data, answers, found))

    def _detail(
        self, variant: VariantName, where: Where, data: Decoded, answers: Sequence[Answers],
        found: Comparison,
    ) -> Detail:  # fmt: skip
        labels = data.judged.labels()
        decision = self.sourced.decision
        probabilities = None
        if isinstance(decision, ScoresDecision) and data.name == "labelled data":
            name = decision.probabilities
            probabilities = np.concatenate([one[name] for one in answers]).astype(np.float64)
        words = in_words(decision, self.sourced.labels)
        return detail(
            variant, where, data.name, [sample.id for sample in data.judged.samples],
            found.differences, lambda i: (words(data.judged.answers[i]), words(answers[i])),
            probabilities=probabilities, labels=labels,
        )  # fmt: skip


def _differing_bytes(where: Where, data: Decoded, decoded: Sequence[Tensors]) -> Measurement:
    if len(decoded) != len(data.tensors):
        raise Refused([f"{where}: {len(decoded)} tensors for {len(data.tensors)} inputs"])
    differing = 0
    for ours, theirs in zip(data.tensors, decoded, strict=True):
        for name, values in ours.items():
            one, other = to_bytes(values), to_bytes(theirs[name])
            if len(one) != len(other):
                raise Refused([f"{where}: {name} of {len(other)} bytes, expected {len(one)}"])
            differing += int((np.frombuffer(one, np.uint8) != np.frombuffer(other, np.uint8)).sum())
    return _measurement("differing_input_bytes", None, where, data.name, len(decoded), differing)


def _timed(
    where: Where, timers: Mapping[VariantName, Timer], rounds: int, runs: int
) -> Iterator[Measurement]:
    times: dict[VariantName, list[float]] = {variant: [] for variant in timers}
    for _ in range(rounds):
        for variant, timer in timers.items():
            times[variant] += timer(runs)
    for variant, taken in times.items():
        for what, share in (("median_ms", 50), ("p95_ms", 95)):
            value = float(np.percentile(taken, share))
            yield _measurement(what, variant, where, "golden examples", len(taken), value)


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
            lost = {"what": "accuracy_loss_points", "unit": "points", "low": None, "high": None}
            yield item.model_copy(update={**lost, "value": (base - item.value) * 100})


def _measurement(
    what: str, variant: VariantName | None, where: Where, data: str, count: int, value: float
) -> Measurement:
    return Measurement.model_validate(
        {
            "what": what, "variant": variant, "where": where, "data": data,
            "count": count, "value": value, "unit": UNITS.get(what, ""),
        }
    )  # fmt: skip
