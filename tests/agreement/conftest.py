"""The shipped page in Chromium on the repository's published versions, driven from Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Playwright

from export.browser import VerifyPage, launch
from export.contract import Contract, read_contract, read_index
from export.workspace import ROOT
from server.process import RunningServer, running_server

MODELS = ROOT / "models"


@pytest.fixture(scope="session")
def serving() -> Iterator[RunningServer]:
    """The real server on the published versions and the built page."""
    with running_server(MODELS, ROOT / "web/dist") as server:
        yield server


@pytest.fixture(scope="module")
def page(playwright: Playwright, serving: RunningServer) -> Iterator[VerifyPage]:
    """verify.html, in a Chromium of this module's own."""
    browser = launch(playwright)
    yield VerifyPage(browser, serving.url, "digits")
    browser.close()


@pytest.fixture(scope="session")
def digits() -> Contract:
    """The contract of the current digits."""
    return read_contract(digits_folder() / "contract.json")


def digits_folder() -> Path:
    """Where the current digits lie."""
    return (MODELS / read_index(MODELS / "index.json").models["digits"].contract.file).parent
