"""Nothing leaves the device before the visitor agrees; then both answers are compared."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, Visit
from tests.browser.visitor import DIGITS, SLOW_MS, draw, expect_best, open_model


def ask(page: Page) -> None:
    page.get_by_role("button", name="Ask the server too").click()


def test_after_consent_the_server_agrees(page: Page, site: Site, visit: Visit) -> None:
    open_model(page, site.url)
    draw(page, DIGITS["7"])
    expect_best(page, "7")

    ask(page)
    dialog = page.get_by_role("dialog", name="Send this input to the server?")
    expect(dialog).to_contain_text("28 × 28 × 1, uint8, 784 bytes")
    expect(dialog).to_contain_text(site.url.removeprefix("http://"))
    assert visit.posts() == []
    dialog.get_by_role("button", name="Send it").click()

    expect(page.get_by_text("The server agrees: 7.")).to_be_visible()
    expect(
        page.get_by_text(re.compile(r"Largest difference of a probability: [\d.]+"))
    ).to_be_visible()
    (post,) = visit.posts()
    body = post.post_data_buffer
    assert body is not None
    assert len(body) == int(post.headers["inference-header-content-length"]) + 784


def test_consent_is_remembered_for_the_model_and_can_be_taken_back(
    page: Page, site: Site, visit: Visit
) -> None:
    open_model(page, site.url)
    draw(page, DIGITS["7"])
    expect_best(page, "7")
    ask(page)
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_text("The server agrees")).to_be_visible(timeout=SLOW_MS)

    page.reload()
    open_model(page, site.url)
    draw(page, DIGITS["1"])
    expect_best(page, "1")
    ask(page)
    expect(page.get_by_text("The server agrees")).to_be_visible(timeout=SLOW_MS)

    page.get_by_role("button", name="Take back permission").click()
    ask(page)
    expect(page.get_by_role("dialog")).to_be_visible()
    assert len(visit.posts()) == 2


def test_declined_nothing_is_sent(page: Page, site: Site, visit: Visit) -> None:
    open_model(page, site.url)
    draw(page, DIGITS["7"])
    expect_best(page, "7")
    for way in ("button", "escape"):
        ask(page)
        expect(page.get_by_role("dialog")).to_be_visible()
        if way == "button":
            page.get_by_role("button", name="Keep it here").click()
        else:
            page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
    expect_best(page, "7")
    assert visit.posts() == []


def test_drawing_on_puts_the_second_opinion_away(page: Page, site: Site) -> None:
    open_model(page, site.url)
    draw(page, DIGITS["7"])
    expect_best(page, "7")
    ask(page)
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_text("The server agrees")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Clear").click()
    draw(page, DIGITS["1"])
    expect_best(page, "1")
    expect(page.get_by_text("The server agrees")).to_be_hidden()
