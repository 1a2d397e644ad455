"""Operator by operator: what of a model each shipped runtime lacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from export.inspection.examine import NATIVE, Attempt, told
from export.inspection.sandbox import Limits, Outcome, sandboxed
from export.inspection.shipped import RawError, RawPage, WebBackend

Missing = dict[str, dict[str, str]]
"""By operator, by runtime and backend: why it does not load there."""

LONGEST = 160


def missing_operators(
    model: Path, attempts: Sequence[Attempt], page: RawPage | None, limits: Limits
) -> Missing:
    """Every kind of node loaded alone where the whole model does not load; empty: all do."""
    failed = [one for one in attempts if one.loads is False]
    if not failed:
        return {}
    missing: Missing = {}
    with sandboxed("operators", {"path": str(model.absolute())}, limits) as outcome:
        for one in failed:
            where = f"{one.runtime} {one.backend}"
            for operator, why in _of(one, outcome, page).items():
                missing.setdefault(operator, {})[where] = why
    return missing


def _of(one: Attempt, outcome: Outcome, page: RawPage | None) -> dict[str, str]:
    if one.runtime == NATIVE:
        return {e["failed"]: told(e["error"], LONGEST) for e in outcome.events if "failed" in e}
    if page is None:
        return {}
    backend: WebBackend = "webgpu" if one.backend == "webgpu" else "wasm"
    found = {}
    for event in outcome.events:
        if "file" not in event or event["operator"] in found:
            continue
        try:
            page.open((outcome.folder / event["file"]).read_bytes(), backend, 30_000)
        except RawError as error:
            found[event["operator"]] = told(str(error), LONGEST)
    return found
