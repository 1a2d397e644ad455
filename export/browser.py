"""The shipped page in a real Chromium, driven through verify.html by Playwright."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Playwright, sync_playwright
from playwright.sync_api import Page as Tab

from export.errors import Refused, SetupError
from export.stages.verify import OpenPage, Page, PageAnswers, Timer
from export.tensor_bytes import from_bytes, to_bytes
from export.tensors import Answers, Array, Tensors
from export.version import dtype_of

Serve = Callable[[Path], AbstractContextManager[str]]
"""Serves a folder of models with the built page, and gives the address."""

# SwiftShader takes minutes where a GPU takes seconds.
CALL_TIMEOUT_MS = 900_000
BATCH = 100
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
        self, variant: str, backend: str, threads: int, inputs: Sequence[bytes]
    ) -> PageAnswers:
        """Load anew, decode and predict each encoded input."""
        packed = [base64.b64encode(data).decode() for data in inputs]
        with self._loaded(variant, backend, threads) as handle:
            results = []
            for batch in _batches(packed):
                results += self.call("predict", handle, batch)
                _refuse_errors(results, f"{variant} on {backend}")
        decoded = tuple(_arrays(result["tensors"]) for result in results)
        return PageAnswers(decoded, _outputs(results))

    @contextlib.contextmanager
    def timers(
        self, variants: Sequence[str], backend: str, threads: int, one: Tensors
    ) -> Iterator[Mapping[str, Timer]]:
        """Hold every variant open, to time bare runs of one decoded input in its worker."""
        packed = _packed(one)
        with contextlib.ExitStack() as stack:
            handles = {v: stack.enter_context(self._loaded(v, backend, threads)) for v in variants}

            def timer(handle: int) -> Timer:
                return lambda runs: self.call("benchmark", handle, packed, runs + 1)[1:]

            yield {variant: timer(handle) for variant, handle in handles.items()}

    @contextlib.contextmanager
    def _loaded(self, variant: str, backend: str, threads: int) -> Iterator[int]:
        """The handle of a variant loaded anew. Refused where the page runs anything else."""
        options = {
            "variant": variant, "backend": backend, "threads": threads, "allowUnverified": True,
        }  # fmt: skip
        loaded = self.call("load", self.models, options)
        handle, ran = loaded["handle"], loaded["ran"]
        try:
            got = (ran["variant"], ran["backend"], ran["threads"])
            if got != (variant, backend, threads):
                raise Refused([f"asked the page for {variant} {backend} {threads}, got {got}"])
            yield handle
        finally:
            self.call("close", handle)

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


def _batches(inputs: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(inputs), BATCH):
        yield inputs[start : start + BATCH]


def _packed(one: Tensors) -> list[dict[str, Any]]:
    return [_packed_tensor(name, values) for name, values in one.items()]


def _packed_tensor(name: str, values: Array) -> dict[str, Any]:
    data = base64.b64encode(to_bytes(values)).decode()
    return {"name": name, "dtype": dtype_of(values), "shape": [*values.shape], "data": data}


def _refuse_errors(results: Sequence[dict[str, Any]], where: str) -> None:
    errors = [
        f"{where}: input {number}: {result['error']['code']}: {result['error']['message']}"
        for number, result in enumerate(results)
        if "error" in result
    ]
    if errors:
        raise Refused(errors[:5])


def _outputs(results: Sequence[dict[str, Any]]) -> tuple[Answers, ...]:
    """Every output of each input; a name that one input lacks is a refusal."""
    answers = tuple(_arrays(result["outputs"]) for result in results)
    if any(set(one) != set(answers[0]) for one in answers):
        raise Refused([f"outputs change from input to input: {sorted(answers[0])}"])
    return answers


def _arrays(tensors: Sequence[dict[str, Any]]) -> Tensors:
    return {
        t["name"]: from_bytes(base64.b64decode(t["data"]), t["dtype"], t["shape"]) for t in tensors
    }


if __name__ == "__main__":  # make asks which browser there is
    with sync_playwright() as found_by:
        print(browser_executable(found_by) or found_by.chromium.executable_path)  # noqa: T201
