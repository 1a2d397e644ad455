"""Drawing a digit gives that digit."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Site, Visit, visiting
from tests.browser.visitor import (
    DIGITS,
    Point,
    answer,
    bars,
    draw,
    expect_best,
    open_model,
    pad,
)


@pytest.fixture(scope="module")
def opened(browser: Browser, shared_site: Site) -> Iterator[Page]:
    """One opened model for all tests of this file."""
    with visiting(browser, shared_site.url) as visit:
        page = visit.page(viewport={"width": 1280, "height": 900})
        open_model(page, shared_site.url)
        yield page


@pytest.fixture
def drawing_page(opened: Page) -> Page:
    """The opened model with an empty pad."""
    clear = opened.get_by_role("button", name="Clear")
    if clear.is_enabled():
        clear.click()
    expect(bars(opened)).to_have_count(0)
    return opened


@pytest.mark.parametrize(
    ("digit", "scale", "at"),
    [
        ("7", 1, (0.5, 0.5)),
        ("1", 1, (0.5, 0.5)),
        ("0", 1, (0.5, 0.5)),
        ("7", 0.5, (0.3, 0.7)),
        ("1", 0.4, (0.8, 0.3)),
        ("0", 0.4, (0.25, 0.25)),
    ],
)
def test_what_is_drawn_is_answered_wherever_and_however_small(
    drawing_page: Page, digit: str, scale: float, at: Point
) -> None:
    draw(drawing_page, DIGITS[digit], scale=scale, at=at)
    expect_best(drawing_page, digit)


def test_undo_takes_the_last_stroke_back_and_clear_all(drawing_page: Page) -> None:
    draw(drawing_page, [*DIGITS["1"], *DIGITS["7"]])
    expect(pad(drawing_page)).to_have_accessible_name("Drawing pad, 2 strokes")
    drawing_page.keyboard.press("Control+z")
    expect(pad(drawing_page)).to_have_accessible_name("Drawing pad, 1 stroke")
    expect_best(drawing_page, "1")
    drawing_page.get_by_role("button", name="Clear").click()
    expect(answer(drawing_page)).to_contain_text("Draw, and the answer appears here.")
    expect(bars(drawing_page)).to_have_count(0)


def test_only_the_settled_answer_is_announced(drawing_page: Page) -> None:
    draw(drawing_page, DIGITS["7"])
    spoken = answer(drawing_page).get_by_role("status").first
    expect(spoken).to_have_text(re.compile(r"Answer: 7, [\d>\s.]+%"))


def test_what_is_drawn_while_the_model_loads_is_answered(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/#/digits")
    expect(pad(page)).to_be_visible()
    draw(page, DIGITS["7"])
    expect_best(page, "7")


def test_a_finger_draws_as_the_mouse_does(visit: Visit, site: Site) -> None:
    page = visit.page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    open_model(page, site.url)
    box = pad(page).bounding_box()
    assert box is not None
    session = page.context.new_cdp_session(page)
    points = [
        {"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"]}
        for x, y in DIGITS["7"][0]
    ]
    for kind, point in [
        ("touchStart", [points[0]]),
        *[("touchMove", [point]) for point in points[1:]],
        ("touchEnd", []),
    ]:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": point})
    expect_best(page, "7")
    assert page.evaluate("() => scrollY") == 0
