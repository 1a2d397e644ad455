"""A table's page: a form made of the contract's columns, answered as it changes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Site, visiting
from tests.browser.visitor import SLOW_MS, bars, open_model

FIRST = "Radius, mean"


@pytest.fixture(scope="module")
def opened(browser: Browser, shared_site: Site) -> Iterator[Page]:
    """One opened model for all tests of this file."""
    with visiting(browser, shared_site.url) as visit:
        page = visit.page(viewport={"width": 1280, "height": 1000})
        open_model(page, shared_site.url, "breast-cancer")
        yield page


@pytest.fixture
def table_page(opened: Page) -> Page:
    """The opened model with an empty form."""
    clear = opened.get_by_role("button", name="Clear")
    if clear.is_enabled():
        clear.click()
    expect(bars(opened)).to_have_count(0)
    return opened


def test_a_sample_fills_the_form_and_is_answered(table_page: Page) -> None:
    table_page.get_by_role("button", name="Sample 1", exact=True).click()
    expect(bars(table_page)).to_have_count(2, timeout=SLOW_MS)
    assert float(table_page.get_by_label(FIRST).input_value()) > 5


def test_the_answer_follows_a_change(table_page: Page) -> None:
    table_page.get_by_role("button", name="Sample 1", exact=True).click()
    expect(bars(table_page)).to_have_count(2, timeout=SLOW_MS)
    before = bars(table_page).all_inner_texts()
    for column in ("Radius, worst", "Concave points, worst", "Texture, worst"):
        table_page.get_by_label(column).fill("0" if "malignant" in before[0] else "40")
    expect(bars(table_page).first).not_to_have_text(before[0])


def test_what_is_no_number_is_said_at_its_field(table_page: Page) -> None:
    table_page.get_by_role("button", name="Sample 1", exact=True).click()
    expect(bars(table_page)).to_have_count(2, timeout=SLOW_MS)
    field = table_page.get_by_label(FIRST)
    field.fill("1,5")
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("15")
    expect(field).to_have_attribute("aria-invalid", "false")


def test_a_row_comes_from_a_file(table_page: Page, shared_site: Site) -> None:
    examples = shared_site.models / "breast-cancer/1/examples"
    row = json.loads(sorted(examples.glob("*.json"))[0].read_text())
    text = ",".join(row) + "\n" + ",".join(str(value) for value in row.values()) + "\n"
    table_page.get_by_label("File with a row").set_input_files(
        {"name": "row.csv", "mimeType": "text/csv", "buffer": text.encode()}
    )
    expect(bars(table_page)).to_have_count(2, timeout=SLOW_MS)
    assert float(table_page.get_by_label(FIRST).input_value()) == pytest.approx(row["mean-radius"])


def test_the_gallery_leads_to_it(opened: Page, shared_site: Site) -> None:
    page = opened.context.new_page()
    page.goto(f"{shared_site.url}/#/")
    page.get_by_role("link", name="Breast cancer cell nuclei").first.click()
    expect(page.get_by_role("heading", name="Breast cancer cell nuclei")).to_be_visible()
    page.close()
