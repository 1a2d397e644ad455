"""`make bench`: what a first visit costs, and a warm prediction against a bare session.run.

Ratios are taken in one run, in one page, on the same tensor. Figures only mean something on a
machine that does nothing else.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.table import Table

from export.browser import VerifyPage, launch
from export.contract import Contract, Example, read_contract, read_index
from export.workspace import ROOT
from server.process import RunningServer, running_server

MODELS = ROOT / "models"
VISITS, ROUNDS, RUNS = 5, 5, 40


@dataclass(frozen=True)
class Visit:
    """From navigation to the first answer, on an empty cache."""

    first_answer_ms: float
    served_bytes: int


def main() -> None:
    """Print one table for the first visit, one for warm predictions."""
    console = Console()
    with served() as (browser, server):
        first = Table(
            "model", "first answer ms", "served MB", title="First visit, empty cache, local"
        )
        warm = Table(
            "model", "variant", "threads", "bare run ms", "predict ms", "ratio", "picture ms",
            title="Warm, medians of rounds that alternate",
        )  # fmt: skip
        for entry in read_index(MODELS / "index.json").models.values():
            contract = read_contract(MODELS / entry.contract.file)
            visits = [visit(browser, server, contract) for _ in range(VISITS)]
            first.add_row(
                contract.name,
                f"{median(v.first_answer_ms for v in visits):.0f}",
                f"{median(v.served_bytes for v in visits) / 1e6:.2f}",
            )
            for variant in contract.variants:
                for threads in (1, 2):
                    warm.add_row(*compare(browser, server.url, contract, variant.name, threads))
        console.print(first, warm)


@contextmanager
def served() -> Iterator[tuple[Browser, RunningServer]]:
    """The real server on the published versions, and a Chromium."""
    with running_server(MODELS, ROOT / "web/dist") as server, sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser, server
        browser.close()


def visit(browser: Browser, server: RunningServer, contract: Contract) -> Visit:
    """A visitor who has never been here opens the model's page and takes the first sample."""
    context = browser.new_context()
    page = context.new_page()
    before = len(server.log())
    started = time.perf_counter()
    page.goto(f"{server.url}/#/{contract.name}")
    page.get_by_role("button", name=shown(contract).title).first.click()
    page.get_by_role("region", name="Answer").get_by_text(re.compile(r"\d\s%")).first.wait_for()
    first_answer_ms = (time.perf_counter() - started) * 1000
    served = sum(json.loads(line)["bytes"] or 0 for line in server.log()[before:].splitlines())
    context.close()
    return Visit(first_answer_ms, served)


def shown(contract: Contract) -> Example:
    """The first sample of the page."""
    return next(example for example in contract.examples if example.shown)


def compare(
    browser: Browser, origin: str, contract: Contract, variant: str, threads: int
) -> list[str]:
    """Bare session.run, predict on the tensor, predict on the picture: rounds that alternate."""
    page = VerifyPage(browser, origin, contract.name)
    options = {"variant": variant, "threads": threads, "backend": "wasm"}
    handle = page.call("load", page.models, options)["handle"]
    folder = MODELS / contract.name / str(contract.version)
    example = contract.examples[0]
    tensors = [
        {"name": t.name, "dtype": t.dtype, "shape": t.shape,
         "data": base64.b64encode((folder / t.file).read_bytes()).decode()}
        for t in example.tensors
    ]  # fmt: skip
    picture = base64.b64encode((folder / example.input.file).read_bytes()).decode()
    bare, predict, whole = [], [], []
    for _ in range(ROUNDS):
        bare.append(median(page.call("benchmark", handle, tensors, RUNS)))
        predict.append(median(page.call("time", handle, tensors, RUNS)))
        results = page.call("predict", handle, [picture] * 10)
        whole.append(median(result["timing"]["totalMs"] for result in results))
    page.close()
    row = median(bare), median(predict), median(whole)
    ratio = f"{row[1] / row[0]:.2f}"
    return [
        contract.name, variant, str(threads),
        f"{row[0]:.2f}", f"{row[1]:.2f}", ratio, f"{row[2]:.2f}",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
