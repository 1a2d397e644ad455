"""One file, examined from outside the process that opens it."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from export.errors import Refused
from export.frozen import BY_STEPS, frozen_rows
from export.inspection.form import form_reasons
from export.inspection.packed import unpack
from export.inspection.reason import Reason
from export.inspection.sandbox import Limits, Outcome, sandboxed
from export.tensors import Answers, Tensors

# The results' files, as jobs.py names them, which this process does not import.
MODEL, FEEDS, OUTPUTS = "model.onnx", "feeds.json", "outputs.json"
NATIVE = f"onnxruntime {version('onnxruntime')}"

_PREFIX = re.compile(r"\[ONNXRuntimeError\] : \d+ : \w+ : |ERROR_CODE: \d+, ERROR_MESSAGE: ")
_SOURCE = re.compile(r"\S*/(onnxruntime|onnx)/\S+?\.(cc|h|hpp):\d+ .*?\) (?=[A-Z\[\S])")
LONGEST = 300


@dataclass(frozen=True)
class Attempt:
    """What a runtime did with the file. None: not tried, and `why` says why."""

    runtime: str
    backend: str
    loads: bool | None = None
    runs: bool | None = None
    agrees: bool | None = None
    difference: float | None = None
    why: Reason | None = None


@dataclass(frozen=True)
class Examined:
    """All that is known of a file after the subprocess has ended."""

    path: Path
    reasons: tuple[Reason, ...]
    native: Attempt
    about: Mapping[str, Any] = field(default_factory=dict)
    feeds: tuple[Tensors, ...] = ()
    outputs: tuple[Answers, ...] = ()
    tried: str = ""

    @property
    def refused(self) -> bool:
        """Whether nothing may open the file any further."""
        return any(reason.before == "running" for reason in self.reasons)


@contextlib.contextmanager
def examining(
    path: Path, *, limits: Limits | None = None, feeds: Path | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Iterator[tuple[Examined, Path]]:  # fmt: skip
    """Read, check, load and run a file in a limited subprocess.

    Gives what was found, and the file that a browser would get: the same one, or one with its
    external weights put in, which is gone when the context ends. `feeds`: an .npz of its inputs;
    `sizes`: of free dimensions, by name. Raises nothing because of the file.
    """
    limits = limits or Limits()
    if reasons := form_reasons(path):
        native = Attempt(NATIVE, "cpu", why=reasons[0])
        yield Examined(path, tuple(reasons), native), path
        return
    arguments = {"path": str(path.absolute()), "sizes": dict(sizes or {}),
                 "feeds": str(feeds.absolute()) if feeds else None}  # fmt: skip
    with sandboxed("examine", arguments, limits) as outcome:
        whole = outcome.folder / MODEL
        yield _examined(path, outcome, limits), whole if whole.is_file() else path


def refuse_hostile(path: Path) -> Examined:
    """Refused with every reason why a file that was not made here may not be opened here."""
    with examining(path) as (found, _):
        if found.refused:
            raise Refused([str(reason) for reason in found.reasons if reason.before == "running"])
        return found


def told(error: str, longest: int = LONGEST) -> str:
    """A runtime's error without its numbers, source files and line ends."""
    plain = " ".join(_SOURCE.sub("", _PREFIX.sub("", error)).split())
    return plain if len(plain) <= longest else plain[:longest] + "…"


def _examined(path: Path, outcome: Outcome, limits: Limits) -> Examined:
    found = [Reason(**reason) for reason in outcome.said("reasons") or []]
    about = outcome.said("about") or {}
    ended = _ending(path, outcome, limits)
    reasons = [*found, *([ended] if ended else [])]
    if any(reason.before == "running" for reason in reasons):
        first = next(reason for reason in reasons if reason.before == "running")
        loads = True if outcome.said("loaded") else None
        runs = False if outcome.step == "run" else None
        native = Attempt(NATIVE, "cpu", loads, runs, why=first)
        return Examined(path, tuple(reasons), native, about)
    if why := _failure(path, outcome):
        loads = bool(outcome.said("loaded"))
        native = Attempt(NATIVE, "cpu", loads, False if loads else None, why=why)
        return Examined(path, tuple(reasons), native, about)
    feeds, outputs = _tensors(outcome.folder / FEEDS), _tensors(outcome.folder / OUTPUTS)
    reasons += _frozen(path, outcome.said("batches") or [], outputs)
    native = Attempt(NATIVE, "cpu", True, True, True, 0.0)
    return Examined(path, tuple(reasons), native, about, feeds, outputs, outcome.said("ran") or "")


def _ending(path: Path, outcome: Outcome, limits: Limits) -> Reason | None:
    """What a job that did not end by itself was stopped by."""
    step = {"read": "reading", "check": "checking", "load": "loading", "run": "running",
            "start": "starting on"}.get(outcome.step, outcome.step)  # fmt: skip
    if outcome.ended == "time":
        limit = limits.wall_s if "wall" in outcome.detail else limits.cpu_s
        what = f"{path.name}: {step} it took longer than {limit:g} s, the limit of {outcome.detail}"
        if outcome.step == "run" and outcome.said("loops"):
            return Reason("runaway-loop", f"{what}; it holds a loop: bound its number of turns")
        return Reason("too-slow", f"{what}; try it with --seconds and --feeds of smaller size")
    if outcome.ended == "memory":
        return Reason(
            "allocation-bomb",
            f"{path.name}: {step} it took more memory than {limits.memory_bytes / 2**20:,.0f} MB, "
            f"the limit ({told(outcome.detail, 120)}); try it with --memory-mb",
        )
    if outcome.ended == "crashed":
        return Reason("crash", f"{path.name}: {step} it ended the process ({outcome.detail}); "
                      "no runtime may be given such a file")  # fmt: skip
    return None


def _failure(path: Path, outcome: Outcome) -> Reason | None:
    step = outcome.said("failed")
    if step is None:
        return None
    code = outcome.said("code") or f"cannot-{step}"
    error = told(str(outcome.said("error")))
    way = "; name free sizes with --size NAME=N or give --feeds" if code == "cannot-run" else ""
    return Reason(code, f"{path.name}: {NATIVE} cannot {step} it: {error}{way}")


def _tensors(path: Path) -> tuple[Tensors, ...]:
    return tuple(unpack(one) for one in json.loads(path.read_bytes()))


def _frozen(path: Path, batches: Sequence[int], outputs: Sequence[Answers]) -> list[Reason]:
    """Of a run with one row and one with more: outputs that stay at one row."""
    if len(batches) != 2 or len(outputs) != 2:
        return []
    frozen = [n for n in frozen_rows(outputs[1], batches[1]) if outputs[1][n].ndim > 1]
    stuck = [n for n in frozen if len(outputs[0][n]) == len(outputs[1][n]) == 1]
    if not stuck:
        return []
    return [Reason("frozen-batch", f"{path.name}: frozen batch: {batches[1]} rows in, 1 row out "
                   f"({stuck[0]}); {BY_STEPS}", "publishing")]  # fmt: skip
