"""The panel says what the runtime says, in every tab."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Site
from tests.browser.visitor import (
    DIGITS,
    draw,
    expect_best,
    isolated,
    open_model,
    told,
    wait_until_offline_works,
)


def test_backend_threads_and_variant_are_told_with_the_reason(page: Page, site: Site) -> None:
    open_model(page, site.url)
    draw(page, DIGITS["7"])
    expect_best(page, "7")
    contract = site.contract()
    best = contract.best["wasm"]
    cores: int = page.evaluate("() => navigator.hardwareConcurrency")
    assert isolated(page)
    assert told(page, "Isolated").startswith("yes")
    assert told(page, "Backend") == "wasm, on the processor (automatic)"
    assert told(page, "Threads") == f"{min(4, cores)} (automatic)"
    assert told(page, "Variant") == f"{best} (automatic)"
    assert best in told(page, "Why these")
    assert re.search(r"[\d.]+\s(kB|MB) downloaded", told(page, "Model"))
    assert re.search(r"[\d.]+\sm?s", told(page, "Loading"))
    assert re.fullmatch(r"[\d.]+\sm?s", told(page, "First answer"))
    assert re.fullmatch(r"[\d.]+\sm?s, median of \d+", told(page, "Usual answer"))
    expect(
        page.get_by_text(re.compile(rf"on this device: wasm, \d+ threads?, {best}"))
    ).to_be_visible()


def test_two_tabs_answer_each_for_itself(page: Page, site: Site) -> None:
    open_model(page, site.url)
    wait_until_offline_works(page)
    other = page.context.new_page()
    open_model(other, site.url)
    draw(page, DIGITS["7"])
    draw(other, DIGITS["1"])
    expect_best(page, "7")
    expect_best(other, "1")
    assert "from this device's store" in told(other, "Model")
