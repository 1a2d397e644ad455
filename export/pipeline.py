"""The way from a recipe to a published version, stage by stage, each result kept by content."""

from __future__ import annotations

import errno
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from export.contract import Contract, Provenance
from export.decode import decoder
from export.errors import DecodeError, LikewiseError, Refused, SetupError, SourceError
from export.evidence import Details, Evidence
from export.packages import fetch
from export.recipe import Recipe, read_recipe
from export.sample import Sample, SourceContext
from export.spec import decoded_inputs
from export.stages.gate import gate, judge
from export.stages.publish import publish, published
from export.stages.results import FILE_NAMES, Exported, Measured, Quantised, Sourced
from export.version import today, write_draft
from export.workspace import ROOT, Workspace, files_key, key_of, tool_versions

if TYPE_CHECKING:  # these bring onnx and torch, seconds that an unchanged build must not pay
    from export.evaluate import Evaluate, Score
    from export.judge import Decode
    from export.samples import JudgedSamples
    from export.stages.source import Origin
    from export.stages.verify import OpenPage
    from export.tensors import Tensors

# Read by people and machines alike, they change no byte of a version.
PRESENTATION = {"cli.py", "console.py", "commands", "report", "drafting", "inspection"}

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}


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


def build(
    workspace: Workspace,
    name: str,
    open_page: OpenPage,
    report: Report,
    *,
    trust: bool = False,
    by: str = "",
    why: str = "",
) -> Built:
    """Build one model, from recipe to published version.

    `trust`: load a pickle, which can run any code. `by`, `why`: for the record of publications.
    Raises Refused with every reason, or another LikewiseError; models/ is then as it was before.
    """
    recipe = read_recipe(workspace.models, name)
    return _Build(workspace, recipe, open_page, report, trust=trust, by=by, why=why).run()


class _Build:
    def __init__(
        self, workspace: Workspace, recipe: Recipe, open_page: OpenPage, report: Report,
        *, trust: bool, by: str, why: str,
    ) -> None:  # fmt: skip
        self.workspace = workspace
        self.recipe = recipe
        self.file = recipe.file
        self.open_page = open_page
        self.report = report
        self.trust, self.by, self.why = trust, by, why
        self._tensors: dict[str, list[Tensors]] = {}
        self.keys = _keys(workspace, recipe)

    def run(self) -> Built:
        current = published(self.workspace.models, self.recipe.name)
        if current and current.provenance.build_key == self.keys["build"]:
            folder = self.workspace.models / current.name / str(current.version)
            evidence = Evidence.model_validate_json((folder / "evidence.json").read_bytes())
            self.report.evidence(evidence)
            return Built(current, evidence, new=False)
        sourced = self._sourced()
        quantised = self._quantised(self._exported(sourced))
        measured = self._measured(quantised)
        judged = judge(self.recipe, measured.evidence)
        self.report.evidence(judged.evidence)
        examples = self._decoded(sourced, "examples")
        if judged.refusals:
            from export.stages.explain import explain

            self.report.now("gate", "looking for the first tensor that differs")
            raise Refused([*judged.refusals, *explain(measured, judged.evidence, examples)])
        verified = gate(measured)
        contract = publish(
            self.workspace.models, verified, examples, self._provenance(sourced),
            by=self.by, why=self.why,
        )  # fmt: skip
        return Built(contract, verified.measured.evidence, new=True)

    def _sourced(self) -> Sourced:
        from export.stages.source import make_sourced, read_sourced

        started = time.monotonic()
        self.report.now("source", "loading the trained model and its data")

        def make(at: Path) -> None:
            make_sourced(self._origin, at, lambda text: self.report.now("source", text))

        sourced = read_sourced(self.recipe, self._cached("source", make))
        labelled = (
            f"{len(sourced.labelled):,} labelled, " if sourced.labelled else "none labelled, "
        )
        text = f"{sourced.judge}; {labelled}{len(sourced.examples)} golden examples"
        self.report.stage("source", text, time.monotonic() - started)
        return sourced

    def _exported(self, sourced: Sourced) -> Exported:
        from export.stages.check import check, tensors_of
        from export.stages.export import make_exported

        started = time.monotonic()
        self.report.now("export", "writing the joined graph")
        labels = len(sourced.labels)
        folder = self._cached(
            "export", lambda at: make_exported(self.recipe, self._origin.source, labels, at)
        )
        parameters = int((folder / "parameters.txt").read_text())
        inputs, outputs = tensors_of(folder / "model.onnx")
        exported = Exported(
            sourced, folder / "model.onnx", folder / "core.onnx", parameters, inputs, outputs
        )
        megabytes = exported.path.stat().st_size / 1e6
        text = f"model.onnx {megabytes:.2f} MB, {parameters:,} parameters"
        self.report.stage("export", text, time.monotonic() - started)

        started = time.monotonic()
        self.report.now("check", "the file by itself, and in batches")
        check(exported, self._decoded(sourced, "examples"))
        self.report.stage(
            "check", "valid, self-contained, as the framework at batches of 1, 2 and 3",
            time.monotonic() - started,
        )  # fmt: skip
        return exported

    def _quantised(self, exported: Exported) -> Quantised:
        from export.stages.quantise import make_quantised, read_kept

        started = time.monotonic()
        offer = self.file.variants.offer
        self.report.now("quantise", ", ".join(offer))

        def make(at: Path) -> None:
            calibration = exported.sourced.calibration
            make_quantised(
                exported, at,
                self._decoded(exported.sourced, "calibration") if calibration else None,
                self._evaluate(exported),
                lambda text: self.report.now("quantise", text),
            )  # fmt: skip

        folder = self._cached("quantise", make)
        paths = {variant: folder / FILE_NAMES[variant] for variant in offer}
        sizes = ", ".join(f"{v} {p.stat().st_size / 1e6:.2f} MB" for v, p in paths.items())
        self.report.stage("quantise", sizes, time.monotonic() - started)
        return Quantised(exported, paths, read_kept(folder))

    def _evaluate(self, exported: Exported) -> Evaluate | None:
        from export.evaluate import evaluate, evaluate_unlabelled

        sourced = exported.sourced
        if sourced.labelled is not None:
            decoded = self._decoded(sourced, "labelled")
            return evaluate(exported, sourced.labelled, decoded, self._score)
        if sourced.calibration:
            return evaluate_unlabelled(exported, self._decoded(sourced, "calibration"))
        return None

    def _measured(self, quantised: Quantised) -> Measured:
        started = time.monotonic()
        folder = self._cached("verify", lambda at: self._measure(quantised, at))
        evidence = Evidence.model_validate_json((folder / "evidence.json").read_bytes())
        details = Details.model_validate_json((folder / "details.json").read_bytes())
        text = f"{len(evidence.measurements)} measurements against {evidence.judge}"
        self.report.stage("verify", text, time.monotonic() - started)
        return Measured(quantised, evidence, details)

    def _measure(self, quantised: Quantised, folder: Path) -> None:
        from export.contract import to_json
        from export.stages.verify import Decoded, verify

        sourced = quantised.exported.sourced
        examples = self._decoded(sourced, "examples")
        golden = Decoded("golden examples", sourced.examples, tuple(examples))
        labelled = None
        if sourced.labelled is not None:
            tensors = tuple(self._decoded(sourced, "labelled"))
            labelled = Decoded("labelled data", sourced.labelled, tensors)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            draft = Path(scratch)
            write_draft(draft, quantised, examples, self._provenance(sourced))
            self.report.now("verify", "starting the server and the browser")
            with self.open_page(draft, self.recipe.name) as page:
                found = verify(
                    quantised, golden, labelled, self._score, page,
                    lambda text: self.report.now("verify", text),
                )  # fmt: skip
        (folder / "evidence.json").write_bytes(to_json(found.evidence))
        (folder / "details.json").write_bytes(to_json(found.details))

    def _cached(self, stage: str, make: Callable[[Path], None]) -> Path:
        key = self.keys[stage]
        try:
            folder = self.workspace.cached(self.recipe.name, stage, key, make)
        except (OSError, LikewiseError) as error:
            full = _no_room(error)
            if full is None:
                raise
            raise SetupError(
                f"{stage}: {full.filename or self.workspace.work}: {full.strerror}; make room, "
                f"or give another folder with --work. models/{self.recipe.name} is as it was"
            ) from error
        self.workspace.forget(self.recipe.name, stage, keep=key)
        return folder

    @cached_property
    def _origin(self) -> Origin:
        from export.stages.source import Origin

        work = self.workspace.work
        cache = work / "training" / self.recipe.name / self.keys["training"][:24]
        cache.mkdir(parents=True, exist_ok=True)
        packages = fetch(self.file.source.requires, work / "packages")
        context = SourceContext(packages, cache, work / "environments", self.trust)
        return Origin(self.recipe, context)

    @cached_property
    def _score(self) -> Score | None:
        """source.py's own measure of how right an answer is, where the recipe names one."""
        entry = self.file.data.score
        if entry is None:
            return None
        file = self._origin.file
        if file is None:
            raise SourceError(f'[data] score = "{entry}", but there is no source.py')
        return lambda answers, samples: np.asarray(
            file.call(entry, list(answers), list(samples)), np.float64
        )

    def _decoded(self, sourced: Sourced, which: str) -> list[Tensors]:
        """The tensors that Python's decoder gives for a set, decoded once a build."""
        if which not in self._tensors:
            judged: JudgedSamples = getattr(sourced, which)
            decode = decoder(sourced.input, decoded_inputs(self.file.input), sourced.folder)
            self._tensors[which] = [_decode(decode, which, one) for one in judged.samples]
        return self._tensors[which]

    def _provenance(self, sourced: Sourced) -> Provenance:
        return Provenance(
            source_kind=self.file.source.kind,
            judge=sourced.judge,
            tools=tool_versions(),
            data=self.file.data.about,
            built=today(),
            build_key=self.keys["build"],
        )


def _no_room(error: BaseException | None) -> OSError | None:
    """A full disk, however it was told: frameworks wrap what goes wrong in them."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return error
        error = error.__cause__ or error.__context__
    return None


def _decode(decode: Decode, which: str, sample: Sample) -> Tensors:
    try:
        return decode(sample.data)
    except DecodeError as error:
        raise SourceError(f"[data] {which}: {sample.id}: {error}") from error


def _keys(workspace: Workspace, recipe: Recipe) -> dict[str, str]:
    """The content key of each stage: all that can change its result, and the keys before it."""
    if not (workspace.web / "verify.html").exists():
        raise SetupError(f"{workspace.web}: the built page is missing; run `npm run build` first")
    file = recipe.file.model_dump(mode="json")
    code = [
        p
        for p in (ROOT / "export").rglob("*.py")
        if not PRESENTATION & {*p.relative_to(ROOT).parts}
    ]
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
    judged = [file[part] for part in ("data", "input", "output")]
    keys["source"] = keys["export"] = key_of(base, keys["training"], *judged)
    made = {name: value for name, value in file["variants"].items() if name != "prefer"}
    keys["quantise"] = key_of(keys["export"], made)
    keys["verify"] = key_of(keys["quantise"], file["browser"], files_key(page, workspace.web))
    keys["build"] = key_of(keys["verify"], file)
    return keys
