"""A newer page waits until the visitor asks for it."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.conftest import running_site, visiting
from tests.browser.visitor import (
    DIGITS,
    SLOW_MS,
    draw,
    expect_best,
    open_model,
    wait_until_offline_works,
)


def test_a_newer_page_is_offered_and_taken_when_asked_for(
    browser: Browser, web: Path, tmp_path: Path
) -> None:
    own = Path(shutil.copytree(web, tmp_path / "web"))
    with running_site(own, tmp_path / "models") as site, visiting(browser, site.url) as visit:
        page = visit.page()
        open_model(page, site.url)
        page.evaluate("async () => { await navigator.serviceWorker.ready }")

        for compressed in own.glob("sw.js.*"):
            compressed.unlink()
        with (own / "sw.js").open("a") as script:
            script.write("\n// newer\n")
        page.reload()

        notice = page.get_by_text("A new version of this page is ready.")
        expect(notice).to_be_visible(timeout=SLOW_MS)
        draw(page, DIGITS["7"])
        expect_best(page, "7")
        wait_until_offline_works(page)  # a worker that still serves a request is not replaced
        with page.expect_navigation(timeout=SLOW_MS):
            page.get_by_role("button", name="Use it now").click()
        expect(notice).to_be_hidden()
        open_model(page, site.url)
