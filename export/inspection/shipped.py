"""Any model in the shipped browser runtimes, through the raw page of the built site."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from export.browser import launch
from export.errors import LikewiseError, SetupError
from export.inspection.examine import Attempt, Examined, told
from export.inspection.packed import pack, unpack
from export.inspection.reason import Reason
from export.tensors import Answers, Array, Tensors

WebBackend = Literal["wasm", "webgpu"]

WEB = "onnxruntime-web"
TIMEOUTS_MS = {"wasm": 120_000, "webgpu": 300_000}  # SwiftShader compiles for minutes
SLACK_MS = 60_000  # of Playwright beyond the page's own time-out
CODES = {"timed-out": "too-slow", "crashed": "crash"}  # of the page, as all reasons are named
SCRIPT = "([name, args]) => window.raw[name](...args)"

TOLERANCE = 1e-4  # absolute and relative, against the native runtime
TOLERANCE_HALF = 2e-3  # of float16: two units in its last place


class RawError(LikewiseError):
    """What the page's runtime said; `timed-out` and `crashed` are the page's own codes."""


class RawPage:
    """raw.html of a running server: one model at a time, in a worker that is replaced when lost."""

    def __init__(self, browser: Browser, origin: str) -> None:
        self._tab = browser.new_page()
        answer = self._tab.goto(f"{origin}/raw.html", timeout=60_000)
        if answer is None or not answer.ok:
            raise SetupError(f"{origin}/raw.html is not there: build the page with `make web`")
        self._tab.wait_for_function("() => window.raw !== undefined", timeout=60_000)
        self.version = str(self._tab.evaluate(SCRIPT, ["environment", []])["ort"])

    def open(self, model: Path | bytes, backend: WebBackend, timeout_ms: int | None = None) -> Any:
        """Make a session; {inputs, outputs} as the runtime tells them. Raises RawError."""
        packed = None
        if isinstance(model, Path):
            self._tab.set_input_files("#model", model)
        else:
            packed = base64.b64encode(model).decode()
        return self._call("open", timeout_ms or TIMEOUTS_MS[backend], packed, backend)

    def run(self, feeds: Tensors, timeout_ms: int = 120_000) -> Answers:
        """The outputs of the open model. Raises RawError."""
        return unpack(self._call("run", timeout_ms, pack(feeds))["outputs"])

    def _call(self, name: str, timeout_ms: int, *arguments: Any) -> Any:
        self._tab.set_default_timeout(timeout_ms + SLACK_MS)
        answer = self._tab.evaluate(SCRIPT, [name, [*arguments, timeout_ms]])
        if "error" in answer:
            raise RawError(answer["error"]["message"], code=answer["error"]["code"])
        return answer


@contextlib.contextmanager
def raw_page(serving: AbstractContextManager[str]) -> Iterator[RawPage]:
    """The page in a browser of its own. `serving` gives the address of the built site."""
    with serving as origin, sync_playwright() as playwright:
        browser = launch(playwright)
        try:
            yield RawPage(browser, origin)
        finally:
            browser.close()


def attempt(page: RawPage, found: Examined, model: Path, backend: WebBackend) -> Attempt:
    """Load the file, run it on what it ran on natively, and compare.

    Only for what the limited subprocess has not refused; where it could not run there, it is only
    loaded here.
    """
    runtime = f"{WEB} {page.version}"
    where = f"{found.path.name}: {runtime} {backend}"
    try:
        page.open(model, backend)
    except RawError as error:
        if error.code == "backend-unavailable":
            why = Reason(error.code, f"{where}: {error}")
            return Attempt(runtime, backend, why=why)
        why = Reason(
            CODES.get(error.code, "cannot-load"), f"{where} cannot load it: {told(str(error))}"
        )
        return Attempt(runtime, backend, False, why=why)
    if not found.native.runs:
        why = Reason("not-compared", f"{where}: not run, because it does not run natively")
        return Attempt(runtime, backend, True, why=why)
    difference = 0.0
    for feeds, expected in zip(found.feeds, found.outputs, strict=True):
        try:
            got = page.run(feeds, TIMEOUTS_MS[backend])
        except LikewiseError as error:
            code = CODES.get(error.code, "cannot-run")
            why = Reason(code, f"{where} cannot run it: {told(str(error))}")
            return Attempt(runtime, backend, True, False, why=why)
        if (apart := disagreement(expected, got)) is not None:
            name, gap = apart
            rows = next((v.shape[0] for v in feeds.values() if v.ndim), 1)
            why = Reason("differs", f"{where}: {name} differs from the native answer by {gap:.2g} "
                         f"with {rows} rows, limit {TOLERANCE:g}")  # fmt: skip
            return Attempt(runtime, backend, True, True, False, gap, why)
        difference = max(difference, *(_largest(expected[n], got[n]) for n in expected), 0.0)
    return Attempt(runtime, backend, True, True, True, difference)


def disagreement(expected: Answers, got: Answers) -> tuple[str, float] | None:
    """The first output that is not the expected one, and by how much; inf: not comparable."""
    for name, values in expected.items():
        if name not in got or got[name].shape != values.shape or not _same_kind(got[name], values):
            return name, float("inf")
        if values.dtype.kind in "OUSbiu":
            if not np.array_equal(got[name], values):
                return name, max(_largest(values, got[name]), 1.0)
        else:
            limit = TOLERANCE_HALF if values.dtype == np.float16 else TOLERANCE
            if not np.allclose(got[name], values, rtol=limit, atol=limit, equal_nan=True):
                return name, _largest(values, got[name])
    return None


def _same_kind(one: Array, other: Array) -> bool:
    return one.dtype == other.dtype or {one.dtype.kind, other.dtype.kind} <= set("OUS")


def _largest(expected: Array, got: Array) -> float:
    if not expected.size or expected.dtype.kind in "OUS":
        return 0.0
    one, other = expected.astype(np.float64), got.astype(np.float64)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    gaps = np.where(same, 0.0, np.abs(one - other))
    return float("inf") if np.isnan(gaps).any() else float(gaps.max())
