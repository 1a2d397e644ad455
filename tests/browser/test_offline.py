"""Once opened, the page and its model work with the server gone."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Site
from tests.browser.visitor import (
    DIGITS,
    SLOW_MS,
    draw,
    expect_best,
    isolated,
    open_model,
    told,
    wait_until_offline_works,
)


def test_a_killed_server_is_not_missed(page: Page, own_site: Site) -> None:
    open_model(page, own_site.url)
    draw(page, DIGITS["7"])
    expect_best(page, "7")
    assert isolated(page)
    wait_until_offline_works(page)

    own_site.server.kill()

    for later in (page, page.context.new_page()):
        later.goto(f"{own_site.url}/#/digits")
        later.reload()
        expect(later.get_by_text("Server out of reach")).to_be_visible(timeout=SLOW_MS)
        open_model(later, own_site.url)
        draw(later, DIGITS["7"])
        expect_best(later, "7")
        assert isolated(later)
        assert "from this device's store" in told(later, "Model")
        later.get_by_role("button", name=own_site.sample(7).title, exact=True).click()
        expect_best(later, "7")


def test_gallery_and_evidence_are_there_offline(page: Page, own_site: Site) -> None:
    open_model(page, own_site.url)
    wait_until_offline_works(page)

    own_site.server.kill()

    page.goto(f"{own_site.url}/#/")
    page.reload()
    expect(page.get_by_text("Works offline")).to_be_visible()
    digits = page.get_by_role("listitem").filter(has_text="Handwritten digits")
    digits.get_by_role("link", name="Verified").click()
    expect(page.get_by_role("table").first).to_be_visible()


def test_a_model_never_opened_says_that_it_needs_the_server(page: Page, own_site: Site) -> None:
    page.goto(own_site.url)
    page.evaluate("async () => { await navigator.serviceWorker.ready }")

    own_site.server.kill()

    page.goto(f"{own_site.url}/#/digits")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("Code: offline", timeout=SLOW_MS)


def test_the_second_opinion_says_that_the_server_is_away(page: Page, own_site: Site) -> None:
    open_model(page, own_site.url)
    draw(page, DIGITS["7"])
    expect_best(page, "7")
    own_site.server.kill()
    page.get_by_role("button", name="Ask the server too").click()
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_text("No second opinion.")).to_be_visible()
    expect(page.get_by_text("server-unreachable")).to_be_visible()
    expect_best(page, "7")
