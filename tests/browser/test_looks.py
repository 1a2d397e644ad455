"""The page fits small screens, the dark, and people who want no motion."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, Visit
from tests.browser.visitor import DIGITS, bars, draw, open_model

VIEWS = ("#/", "#/digits", "#/digits/evidence")


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    wider: int = page.evaluate(
        "() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
    )
    return wider


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_scrolls_sideways(visit: Visit, site: Site, width: int) -> None:
    page = visit.page(viewport={"width": width, "height": 720})
    open_model(page, site.url)
    draw(page, DIGITS["7"])
    expect(bars(page).first).to_be_visible()
    assert overflow(page) == 0
    for view in VIEWS:
        page.goto(f"{site.url}/{view}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert overflow(page) == 0


def test_on_a_phone_the_answer_is_in_sight_of_the_pad(visit: Visit, site: Site) -> None:
    page = visit.page(viewport={"width": 390, "height": 844})
    open_model(page, site.url)
    draw(page, DIGITS["7"])
    expect(bars(page).first).to_be_in_viewport()
    assert page.evaluate("() => scrollY") == 0


def ground(page: Page) -> str:
    colour: str = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    return colour


def test_the_theme_follows_the_device_and_the_choice_is_remembered(
    visit: Visit, site: Site
) -> None:
    page = visit.page(color_scheme="dark")
    page.goto(site.url)
    dark = ground(page)
    theme = page.get_by_role("button", name="Theme")
    expect(theme).to_have_accessible_name("Theme: as the device")
    theme.click()
    expect(theme).to_have_accessible_name("Theme: light")
    light = ground(page)
    assert light != dark
    page.reload()
    expect(theme).to_have_accessible_name("Theme: light")
    assert ground(page) == light


def test_the_pad_gives_the_model_the_same_pixels_in_both_themes(visit: Visit, site: Site) -> None:
    scores = []
    for scheme in ("light", "dark"):
        page = visit.page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
        open_model(page, site.url)
        draw(page, DIGITS["7"])
        expect(bars(page).first).to_be_visible()
        # The last stroke's answer is there when it has been announced.
        expect(page.get_by_role("status").filter(has_text=" %")).to_be_attached()
        scores.append(bars(page).all_inner_texts())
    assert scores[0] == scores[1]


def test_reduced_motion_means_none(visit: Visit, site: Site) -> None:
    page = visit.page(reduced_motion="reduce")
    open_model(page, site.url)
    draw(page, DIGITS["7"])
    expect(bars(page).first).to_be_visible()
    duration = (
        bars(page)
        .first.locator("rect.score")
        .evaluate("node => getComputedStyle(node).transitionDuration")
    )
    assert duration == "0s"


def test_all_that_can_be_pressed_is_44_pixels_high(visit: Visit, site: Site) -> None:
    page = visit.page(viewport={"width": 390, "height": 844})
    open_model(page, site.url)
    for button in page.get_by_role("button").all():
        box = button.bounding_box()
        if box is not None and button.inner_text() != "Skip to the content":
            assert box["height"] >= 44, button.inner_text()
            assert box["width"] >= 44, button.inner_text()
