"""What a visitor does on the page, and where to read what it says; by role and label."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from playwright.sync_api import Locator, Page, expect

Point = tuple[float, float]
Drawing = Sequence[Sequence[Point]]

# First use compiles 14 MB of wasm, on a loaded machine with two cores.
SLOW_MS = 60_000

# Paths as a hand draws them, in parts of the pad's side.
DIGITS: Mapping[str, Drawing] = {
    "0": [
        [
            (0.52, 0.18), (0.38, 0.24), (0.31, 0.42), (0.31, 0.6), (0.38, 0.76), (0.5, 0.82),
            (0.62, 0.76), (0.69, 0.6), (0.69, 0.42), (0.63, 0.26), (0.52, 0.18),
        ]
    ],
    "1": [[(0.53, 0.18), (0.52, 0.4), (0.5, 0.6), (0.49, 0.82)]],
    "7": [[(0.3, 0.22), (0.48, 0.21), (0.7, 0.22), (0.6, 0.42), (0.52, 0.6), (0.44, 0.82)]],
}  # fmt: skip


def open_model(page: Page, site: str, name: str = "digits") -> None:
    """Go to a model's page and wait until it can answer."""
    page.goto(f"{site}/#/{name}")
    expect(device(page)).to_be_visible(timeout=SLOW_MS)


def pad(page: Page) -> Locator:
    return page.get_by_role("img", name="Drawing pad")


def draw(page: Page, drawing: Drawing, *, scale: float = 1, at: Point = (0.5, 0.5)) -> None:
    """Draw with the mouse, shrunk by `scale` and with the middle of the pad moved to `at`."""
    # A tab behind another one gets its mouse a second late.
    page.bring_to_front()
    pad(page).scroll_into_view_if_needed()
    box = pad(page).bounding_box()
    assert box is not None
    for stroke in drawing:
        points = [
            (
                box["x"] + box["width"] * (at[0] + (x - 0.5) * scale),
                box["y"] + box["height"] * (at[1] + (y - 0.5) * scale),
            )
            for x, y in stroke
        ]
        page.mouse.move(*points[0])
        page.mouse.down()
        for point in points[1:]:
            page.mouse.move(*point, steps=5)
        page.mouse.up()


def answer(page: Page) -> Locator:
    return page.get_by_role("region", name="Answer")


def bars(page: Page) -> Locator:
    return page.get_by_role("list", name="Answers, best first").get_by_role("listitem")


def device(page: Page) -> Locator:
    return page.get_by_role("region", name="On this device")


def told(page: Page, term: str) -> str:
    """What the panel "On this device" says about `term`."""
    row = device(page).get_by_text(term, exact=True)
    return row.locator("xpath=following-sibling::dd").inner_text()


def expect_best(page: Page, label: str) -> None:
    """The best bar carries this label."""
    expect(bars(page).first).to_have_text(re.compile(rf"^\s*{re.escape(label)}\b"), timeout=SLOW_MS)


def expect_refused(page: Page, code: str) -> Locator:
    """A refusal with this code is shown; gives the note."""
    note = page.get_by_role("alert")
    expect(note).to_contain_text(f"Code: {code}", timeout=SLOW_MS)
    return note


def wait_until_offline_works(page: Page) -> None:
    """Model and page are stored whole."""
    row = device(page).get_by_text("Works offline", exact=True)
    expect(row.locator("xpath=following-sibling::dd")).to_have_text("yes", timeout=SLOW_MS)


def isolated(page: Page) -> bool:
    return page.evaluate("() => crossOriginIsolated") is True
