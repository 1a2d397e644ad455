"""The shipped page in a real Chromium, driven through verify.html by Playwright."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Error, Playwright, sync_playwright
from playwright.sync_api import Page as Tab

from export.errors import Refused, SetupError
from export.parity import Arrays
from export.stages.verify import TIMED_RUNS, OpenPage, Page, PageAnswers

Serve = Callable[[Path], AbstractContextManager[str]]
"""Serves a folder of models with the built page, and gives the address."""

# SwiftShader takes minutes where a GPU takes seconds.
CALL_TIMEOUT_MS = 900_000
BATCH = 100
TIMED_RUNS_ON_WEBGPU = 2
ARGUMENTS = ("--enable-unsafe-webgpu",)  # gives headless Chromium an adapter without a GPU
SYSTEM_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ADAPTER = """async () => {
  const adapter = await navigator.gpu?.requestAdapter();
  return adapter ? {name: adapter.info?.description || adapter.info?.architecture || 'unnamed',
                    f16: adapter.features.has('shader-f16')} : null;
}"""


def browser_executable(playwright: Playwright) -> str | None:
    """LIKEWISE_BROWSER, else Playwright's own (None), else a Chromium of the system."""
    if named := os.environ.get("LIKEWISE_BROWSER"):
        if not Path(named).exists():
            raise SetupError(f"LIKEWISE_BROWSER={named}: there is no such file")
        return named
    if Path(playwright.chromium.executable_path).exists():
        return None
    for name in SYSTEM_BROWSERS:
        if found := shutil.which(name):
            return found
    raise SetupError(
        "no Chromium was found: run `playwright install chromium`, install your system's chromium "
        "package, or set LIKEWISE_BROWSER to its path"
    )


def launch(playwright: Playwright) -> Browser:
    """A headless Chromium, with WebGPU where it can be had."""
    executable = browser_executable(playwright)
    return playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))


def open_page(serve: Serve) -> OpenPage:
    """What verify opens its pages with: server, browser and page start and end together."""

    @contextlib.contextmanager
    def opened(models: Path, name: str) -> Iterator[Page]:
        with serve(models) as origin, sync_playwright() as playwright:
            browser = launch(playwright)
            try:
                yield VerifyPage(browser, origin, name)
            finally:
                browser.close()

    return opened


class VerifyPage:
    """verify.html of a running server. Every load and prediction is the page's own code."""

    def __init__(self, browser: Browser, origin: str, name: str) -> None:
        self.models = f"{origin}/models/{name}/"
        self._tab = self._open(browser, f"{origin}/verify.html")
        about = self.call("environment")
        if not about["isolated"]:
            raise SetupError(f"{origin} is not cross-origin isolated: threads cannot be measured")
        adapter = self._tab.evaluate(ADAPTER)
        self.webgpu = None if adapter else "this browser gives no WebGPU adapter"
        self.shader_f16 = bool(adapter and adapter["f16"])
        self.environment: Mapping[str, str] = {
            "chromium": browser.version,
            "onnxruntime-web": str(about["ort"]),
            "webgpu adapter": adapter["name"] if adapter else "none",
            "cores": str(about["cores"]),
        }

    def predict(
        self, variant: str, backend: str, threads: int, pictures: Sequence[bytes]
    ) -> PageAnswers:
        """Load anew, decode and predict each picture, then time one of them."""
        options = {
            "variant": variant, "backend": backend, "threads": threads, "allowUnverified": True,
        }  # fmt: skip
        loaded = self.call("load", self.models, options)
        handle, ran = loaded["handle"], loaded["ran"]
        try:
            got = (ran["variant"], ran["backend"], ran["threads"])
            if got != (variant, backend, threads):
                raise Refused([f"asked the page for {variant} {backend} {threads}, got {got}"])
            results = [
                result
                for batch in _batches(pictures)
                for result in self.call("predict", handle, [_text(picture) for picture in batch])
            ]
            _refuse_errors(results, f"{variant} on {backend}")
            runs = TIMED_RUNS_ON_WEBGPU if backend == "webgpu" else TIMED_RUNS
            times = self.call("benchmark", handle, results[0]["tensor"]["data"], runs)
        finally:
            self.call("close", handle)
        tensors = tuple(base64.b64decode(result["tensor"]["data"]) for result in results)
        return PageAnswers(tensors, _outputs(results), median(times), len(times))

    def close(self) -> None:
        """Close the tab, and with it every model that it has open."""
        self._tab.close()

    def call(self, name: str, *arguments: Any) -> Any:
        """Call window.likewise[name]; what goes wrong in the page is told as it said it."""
        script = "([name, args]) => window.likewise[name](...args)"
        try:
            return self._tab.evaluate(script, [name, list(arguments)])
        except Error as error:
            raise Refused([f"the page, {name}: {error.message.splitlines()[0]}"]) from error

    def _open(self, browser: Browser, url: str) -> Tab:
        tab = browser.new_page()
        tab.set_default_timeout(CALL_TIMEOUT_MS)
        tab.goto(url, timeout=60_000)
        tab.wait_for_function("() => window.likewise !== undefined", timeout=60_000)
        return tab


def _batches(pictures: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(pictures), BATCH):
        yield pictures[start : start + BATCH]


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _refuse_errors(results: Sequence[dict[str, Any]], where: str) -> None:
    errors = [
        f"{where}: picture {number}: {result['error']['code']}: {result['error']['message']}"
        for number, result in enumerate(results)
        if "error" in result
    ]
    if errors:
        raise Refused(errors[:5])


def _outputs(results: Sequence[dict[str, Any]]) -> Arrays:
    """Each output over all pictures; a name that one picture lacks is a refusal."""
    names = {output["name"] for output in results[0]["outputs"]}
    rows: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for result in results:
        if {output["name"] for output in result["outputs"]} != names:
            raise Refused([f"outputs change from picture to picture: {sorted(names)}"])
        for output in result["outputs"]:
            values = np.frombuffer(base64.b64decode(output["data"]), output["dtype"])
            rows[output["name"]].append(values.reshape(output["shape"]))
    return {name: np.concatenate(parts) for name, parts in rows.items()}


if __name__ == "__main__":  # make asks which browser there is
    with sync_playwright() as found_by:
        print(browser_executable(found_by) or found_by.chromium.executable_path)  # noqa: T201
