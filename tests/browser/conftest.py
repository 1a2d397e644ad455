"""The real page in a real browser, served by the real server from a copy of the real models."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Request

from export.browser import browser_executable
from export.contract import Contract, Example, read_contract, read_index
from server.process import RunningServer, running_server

ROOT = Path(__file__).parents[2]
MODELS = Path(os.environ.get("LIKEWISE_TEST_MODELS", ROOT / "models"))
WEB = Path(os.environ.get("LIKEWISE_TEST_WEB", ROOT / "web" / "dist"))


@dataclass(frozen=True)
class Site:
    """A running server and the folder of models that it serves, free to be changed."""

    url: str
    models: Path
    server: RunningServer

    def contract(self, name: str = "digits") -> Contract:
        entry = read_index(self.models / "index.json").models[name]
        return read_contract(self.models / entry.contract.file)

    def sample(self, label: int) -> Example:
        """The sample of digits that the page offers with this label."""
        return next(e for e in self.contract().examples if e.shown and e.label == label)

    def folder(self, name: str = "digits") -> Path:
        return self.models / name / str(self.contract(name).version)


@pytest.fixture(scope="session")
def web() -> Path:
    """The built page."""
    assert (WEB / "sw.js").is_file(), f"{WEB} holds no built page: run `npm run build`"
    return WEB


@pytest.fixture(scope="session")
def shared_site(web: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(web, tmp_path_factory.mktemp("shared") / "models") as running:
        yield running


@pytest.fixture
def site(shared_site: Site) -> Site:
    """One server for all tests that leave it and its files as they are."""
    return shared_site


@pytest.fixture
def own_site(web: Path, tmp_path: Path) -> Iterator[Site]:
    """A server of this test's own, to be killed, and files to be spoilt."""
    with running_site(web, tmp_path / "models") as running:
        yield running


@contextmanager
def running_site(web: Path, models: Path) -> Iterator[Site]:
    """A server on a copy of the models, made in the folder `models`."""
    shutil.copytree(MODELS, models)
    with running_server(models, web) as server:
        yield Site(server.url, models, server)


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=browser_executable(playwright))
    yield browser
    browser.close()


class Visit:
    """Browser contexts of one test; every request to another origin is aborted and counted."""

    def __init__(self, browser: Browser, site: str) -> None:
        self.requests: list[Request] = []
        self.foreign: list[str] = []
        self._browser, self._site, self._contexts = browser, site, list[BrowserContext]()

    def context(self, **options: Any) -> BrowserContext:
        """A visitor who has never been here, with these settings of Playwright's new_context."""
        context = self._browser.new_context(**options)
        self._contexts.append(context)
        context.on("request", self._count)
        context.route(self._is_foreign, lambda route: route.abort())
        return context

    def page(self, **options: Any) -> Page:
        return self.context(**options).new_page()

    def posts(self) -> list[Request]:
        return [request for request in self.requests if request.method == "POST"]

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _count(self, request: Request) -> None:
        self.requests.append(request)
        if self._is_foreign(request.url):
            self.foreign.append(request.url)

    def _is_foreign(self, url: str) -> bool:
        return not url.startswith((f"{self._site}/", f"blob:{self._site}/", "data:"))


@contextmanager
def visiting(browser: Browser, site: str) -> Iterator[Visit]:
    """A visit that fails at its end when another origin was asked for anything."""
    visit = Visit(browser, site)
    yield visit
    visit.close()
    assert visit.foreign == []


@pytest.fixture
def visit(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """The visitor's browser contexts at the site that the test uses."""
    own = "own_site" in request.fixturenames
    site: Site = request.getfixturevalue("own_site" if own else "site")
    with visiting(browser, site.url) as visit:
        yield visit


@pytest.fixture
def page(visit: Visit) -> Page:
    """A page of a visitor who has never been here, on a desktop."""
    return visit.page(viewport={"width": 1280, "height": 900})
