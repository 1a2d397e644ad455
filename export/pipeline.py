"""The way from a recipe to a published version, stage by stage, each result kept by content."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from export.contract import Contract, DrawingInput, ImageInput, Provenance
from export.decode.pixels import Pixels, decode
from export.errors import DecodeError, SetupError, SourceError
from export.evidence import Evidence
from export.packages import fetch
from export.recipe import Recipe, read_recipe
from export.sample import Sample, SourceContext
from export.stages.gate import gate, judge
from export.stages.publish import publish, published
from export.stages.results import FILE_NAMES, Exported, Measured, Quantised, Sourced
from export.version import input_spec, today, write_draft
from export.workspace import ROOT, Workspace, files_key, key_of, tool_versions

if TYPE_CHECKING:  # these bring onnx and torch, seconds that an unchanged build must not pay
    from export.sources import Source
    from export.stages.verify import OpenPage

# Read by people and machines alike, they change no byte of a version.
PRESENTATION = {"cli.py", "console.py"}


class Report(Protocol):
    """Where progress goes: a console for people, JSON for machines."""

    def stage(self, name: str, text: str, seconds: float) -> None:
        """A stage is done."""

    def now(self, stage: str, text: str) -> None:
        """What a stage is doing at this moment."""

    def evidence(self, evidence: Evidence) -> None:
        """Every measurement beside its limit; told before the gate speaks."""


@dataclass(frozen=True)
class Built:
    """What a build ended with. `new` is False when this very version was published already."""

    contract: Contract
    evidence: Evidence
    new: bool


def build(workspace: Workspace, name: str, open_page: OpenPage, report: Report) -> Built:
    """Build one model, from recipe to published version.

    Raises Refused with every reason, or another LikewiseError; models/ is then as it was before.
    """
    return _Build(workspace, read_recipe(workspace.models, name), open_page, report).run()


class _Build:
    def __init__(
        self, workspace: Workspace, recipe: Recipe, open_page: OpenPage, report: Report
    ) -> None:
        self.workspace = workspace
        self.recipe = recipe
        self.file = recipe.file
        self.open_page = open_page
        self.report = report
        self.keys = _keys(workspace, recipe)

    def run(self) -> Built:
        current = published(self.workspace.models, self.recipe.name)
        if current and current.provenance.build_key == self.keys["build"]:
            folder = self.workspace.models / current.name / str(current.version)
            evidence = Evidence.model_validate_json((folder / "evidence.json").read_bytes())
            self.report.evidence(evidence)
            return Built(current, evidence, new=False)
        sourced = self._sourced()
        exported = self._exported(sourced)
        quantised = self._quantised(exported)
        measured = Measured(quantised, self._evidence(quantised))
        self.report.evidence(judge(self.recipe, measured.evidence).evidence)
        verified = gate(measured)
        pixels = self._decoded(sourced.examples.samples, "examples")
        contract = publish(self.workspace.models, verified, pixels, self._provenance(sourced))
        return Built(contract, verified.measured.evidence, new=True)

    def _sourced(self) -> Sourced:
        from export.stages.source import make_sourced, read_sourced

        started = time.monotonic()
        self.report.now("source", "loading the trained model and its data")
        folder = self._cached("source", lambda at: make_sourced(self.recipe, self._source, at))
        sourced = read_sourced(self.recipe, folder)
        sizes = f"{len(sourced.labelled):,} labelled, {len(sourced.examples)} golden examples"
        self.report.stage("source", f"{sourced.judge}; {sizes}", time.monotonic() - started)
        return sourced

    def _exported(self, sourced: Sourced) -> Exported:
        from export.stages.check import check
        from export.stages.export import make_exported

        started = time.monotonic()
        self.report.now("export", "writing the joined graph")
        labels = len(sourced.labels)
        folder = self._cached(
            "export", lambda at: make_exported(self.recipe, self._source, labels, at)
        )
        parameters = int((folder / "parameters.txt").read_text())
        exported = Exported(sourced, folder / "model.onnx", folder / "core.onnx", parameters)
        megabytes = exported.path.stat().st_size / 1e6
        text = f"model.onnx {megabytes:.2f} MB, {parameters:,} parameters, opset 20"
        self.report.stage("export", text, time.monotonic() - started)

        started = time.monotonic()
        self.report.now("check", "the file by itself, and at two batch sizes")
        check(exported, self._decoded(sourced.examples.samples, "examples"))
        self.report.stage(
            "check", "valid, self-contained, as the framework at batch 1 and 3",
            time.monotonic() - started,
        )  # fmt: skip
        return exported

    def _quantised(self, exported: Exported) -> Quantised:
        from export.stages.quantise import make_quantised

        started = time.monotonic()
        self.report.now("quantise", ", ".join(self.file.variants.offer))

        def make(at: Path) -> None:
            calibration = self._decoded(exported.sourced.calibration.samples, "calibration")
            make_quantised(exported, at, calibration)

        folder = self._cached("quantise", make)
        paths = {variant: folder / FILE_NAMES[variant] for variant in self.file.variants.offer}
        sizes = ", ".join(f"{v} {p.stat().st_size / 1e6:.2f} MB" for v, p in paths.items())
        self.report.stage("quantise", sizes, time.monotonic() - started)
        return Quantised(exported, paths)

    def _evidence(self, quantised: Quantised) -> Evidence:
        started = time.monotonic()
        folder = self._cached("verify", lambda at: self._measure(quantised, at))
        evidence = Evidence.model_validate_json((folder / "evidence.json").read_bytes())
        text = f"{len(evidence.measurements)} measurements against {evidence.judge}"
        self.report.stage("verify", text, time.monotonic() - started)
        return evidence

    def _measure(self, quantised: Quantised, folder: Path) -> None:
        from export.contract import to_json
        from export.stages.verify import Decoded, verify

        sourced = quantised.exported.sourced
        golden = self._decoded(sourced.examples.samples, "examples")
        labelled = self._decoded(sourced.labelled.samples, "labelled")
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            draft = Path(scratch)
            write_draft(draft, quantised, golden, self._provenance(sourced))
            self.report.now("verify", "starting the server and the browser")
            with self.open_page(draft, self.recipe.name) as page:
                evidence = verify(
                    quantised,
                    Decoded("golden examples", sourced.examples, golden),
                    Decoded("labelled data", sourced.labelled, labelled),
                    page,
                    lambda text: self.report.now("verify", text),
                )
        (folder / "evidence.json").write_bytes(to_json(evidence))

    def _cached(self, stage: str, make: Callable[[Path], None]) -> Path:
        key = self.keys[stage]
        folder = self.workspace.cached(self.recipe.name, stage, key, make)
        self.workspace.forget(self.recipe.name, stage, keep=key)
        return folder

    @cached_property
    def _source(self) -> Source:
        from export.sources import load_source

        requires = self.file.source.requires
        cache = self.workspace.work / "training" / self.recipe.name / self.keys["training"][:24]
        cache.mkdir(parents=True, exist_ok=True)
        packages = fetch(requires, self.workspace.work / "packages")
        return load_source(self.recipe, SourceContext(packages, cache))

    def _decoded(self, samples: Sequence[Sample], which: str) -> Pixels:
        spec = input_spec(self.file.input)
        try:
            return np.concatenate([decode(sample.data, spec) for sample in samples])
        except DecodeError as error:
            broken = next(s.id for s in samples if not _decodes(s, spec))
            raise SourceError(f"[data] {which}: {broken}: {error}") from error

    def _provenance(self, sourced: Sourced) -> Provenance:
        return Provenance(
            source_kind=self.file.source.kind,
            judge=sourced.judge,
            tools=tool_versions(),
            data=self.file.data.about,
            built=today(),
            build_key=self.keys["build"],
        )


def _decodes(sample: Sample, spec: ImageInput | DrawingInput) -> bool:
    try:
        decode(sample.data, spec)
    except DecodeError:
        return False
    return True


def _keys(workspace: Workspace, recipe: Recipe) -> dict[str, str]:
    """The content key of each stage: all that can change its result, and the keys before it."""
    if not (workspace.web / "verify.html").exists():
        raise SetupError(f"{workspace.web}: the built page is missing; run `npm run build` first")
    file = recipe.file.model_dump(mode="json")
    code = [p for p in (ROOT / "export").rglob("*.py") if p.name not in PRESENTATION]
    # Everything beside the recipe, but neither versions (folders) nor what Python left.
    ignored = re.compile(r"[0-9]+/.*|\..*|__pycache__/.*|recipe\.toml")
    beside = [
        path
        for path in recipe.folder.rglob("*")
        if path.is_file() and not ignored.fullmatch(path.relative_to(recipe.folder).as_posix())
    ]
    page = [p for p in workspace.web.rglob("*") if p.is_file() and p.suffix not in (".br", ".gz")]
    base = key_of(files_key(code, ROOT), tool_versions())
    keys = {"training": key_of(files_key(beside, recipe.folder), file["source"])}
    keys["source"] = key_of(base, keys["training"], file["data"], file["output"]["labels"])
    keys["export"] = key_of(keys["source"], file["input"], file["output"])
    keys["quantise"] = key_of(
        keys["export"], file["variants"]["offer"], file["variants"]["keep_fp32"]
    )
    keys["verify"] = key_of(keys["quantise"], file["browser"], files_key(page, workspace.web))
    keys["build"] = key_of(keys["verify"], file)
    return keys
