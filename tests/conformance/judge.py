"""One case in one runtime: passed, refused, failed aloud, or silently wrong, and who notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from export.contract import Tensor, ValuesDecision
from export.errors import LikewiseError, Refused
from export.inspection.examine import told
from export.inspection.file_check import model_reasons
from export.parity import DTYPES, check_outputs, compare
from tests.conformance.suite import Case, Value, mismatch

Verdict = Literal["passes", "refused", "fails", "mismatch"]

LIMIT = 1e-5  # max_difference of fp32 in models/*/recipe.toml


class CannotLoadError(LikewiseError):
    """The runtime makes no session of the model."""

    code = "cannot-load"


Opened = Callable[[dict[str, Value]], Sequence[Value]]
Open = Callable[[Case], Opened]
"""Makes a session (or raises CannotLoadError), which runs inputs by name to outputs in order."""


@dataclass(frozen=True)
class Result:
    """`code` and `why` where it does not pass; `caught`: what keeps a mismatch from visitors."""

    case: str
    verdict: Verdict
    code: str = ""
    why: str = ""
    caught: str = ""

    @property
    def published(self) -> bool:
        """A wrong answer that nothing would have stopped."""
        return self.verdict == "mismatch" and not self.caught


def judge(case: Case, open_case: Open) -> Result:
    """Check the file, load it, run it, compare: as far as it gets."""
    reasons = model_reasons(case.model, Path(f"{case.name}.onnx"))
    if fatal := [reason for reason in reasons if reason.before == "running"]:
        return Result(case.name, "refused", fatal[0].code, fatal[0].message)
    try:
        run = open_case(case)
    except LikewiseError as error:
        return Result(case.name, "refused", error.code, told(str(error)))
    for inputs, expected in case.data:
        try:
            got = run(inputs)
        except Exception as error:  # runtimes raise what they like
            return Result(case.name, "fails", "cannot-run", told(str(error)))
        if why := mismatch(expected, got, case.rtol, case.atol):
            caught = caught_by(case, expected, got)
            return Result(case.name, "mismatch", "mismatch", why, caught)
    return Result(case.name, "passes")


def caught_by(case: Case, expected: Sequence[Value], got: Sequence[Value]) -> str:
    """What of Likewise's own check and verification refuses this answer; empty: nothing does.

    The suite's outputs stand for the framework's; the limit is that of the gallery's recipes.
    """
    names = case.outputs
    if len(expected) != len(names) or not all(isinstance(v, np.ndarray) for v in expected):
        return "check: an output is no tensor"
    known = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    odd = [v.dtype for v in expected if v.dtype not in known and v.dtype.kind != "U"]
    if odd:
        return f"check: {odd[0]} is no type of a contract"
    answers = {name: np.asarray(value) for name, value in zip(names, got, strict=False)}
    wanted = dict(zip(names, expected, strict=True))
    declared = [
        Tensor.model_validate(
            {"name": n, "dtype": known.get(v.dtype, "string"), "shape": list(v.shape)}
        )
        for n, v in wanted.items()
    ]
    decision = ValuesDecision(kind="values", values=names)
    try:
        check_outputs(case.name, declared, decision, answers, 1)
        found = compare(case.name, decision, [wanted], [answers], LIMIT)
    except Refused as refused:
        return f"verify: {refused.reasons[0].removeprefix(f'{case.name}, ')}"
    if not found.max_difference <= LIMIT:
        return f"verify: differs by {found.max_difference:.3g}, limit {LIMIT:g}"
    return ""
