"""The gallery lists what is published, and the keyboard alone is enough."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from export.contract import read_index
from export.evidence import Evidence
from tests.browser.conftest import Site
from tests.browser.visitor import (
    SLOW_MS,
    answer,
    device,
    expect_best,
    open_model,
    wait_until_offline_works,
)


def tab_to(page: Page, name: str, *, most: int = 40) -> None:
    """Press Tab until what bears this accessible name has the focus."""
    target = page.get_by_role("button", name=name).or_(page.get_by_role("link", name=name)).first
    for _ in range(most):
        page.keyboard.press("Tab")
        if target.count() and target.evaluate("node => node === node.getRootNode().activeElement"):
            return
    raise AssertionError(f"{name} is not reached by {most} tabs")


def test_every_published_model_has_a_card(page: Page, site: Site) -> None:
    page.goto(site.url)
    models = read_index(site.models / "index.json").models
    for entry in models.values():
        card = page.get_by_role("listitem").filter(
            has=page.get_by_role("link", name=entry.title, exact=True)
        )
        expect(card).to_contain_text(entry.description)
        expect(card).to_contain_text(f"version {entry.version}")
        expect(card.get_by_role("link", name="Verified")).to_be_visible()


def test_the_card_says_when_the_model_works_offline(page: Page, site: Site) -> None:
    page.goto(site.url)
    expect(page.get_by_text("Offline once opened").first).to_be_visible()
    open_model(page, site.url)
    wait_until_offline_works(page)
    page.get_by_role("link", name="Likewise, all models").click()
    expect(page.get_by_text("Works offline")).to_be_visible(timeout=SLOW_MS)


def test_no_published_model_shows_the_command_that_builds_one(page: Page, own_site: Site) -> None:
    (own_site.models / "index.json").write_text('{"schema_version": 2, "models": {}}')
    page.goto(own_site.url)
    expect(page.get_by_text("likewise build digits")).to_be_visible()


def test_the_keyboard_alone_leads_from_the_gallery_to_an_answer(page: Page, site: Site) -> None:
    contract = site.contract()
    page.goto(site.url)
    expect(page.get_by_role("link", name=contract.title, exact=True)).to_be_visible()
    tab_to(page, contract.title)
    page.keyboard.press("Enter")
    expect(device(page)).to_be_visible(timeout=SLOW_MS)
    tab_to(page, site.sample(7).title)
    page.keyboard.press("Enter")
    expect_best(page, "7")
    expect(answer(page).get_by_role("status").first).to_have_text(re.compile("7, "))


def test_the_title_follows_the_route(page: Page, site: Site) -> None:
    page.goto(site.url)
    expect(page).to_have_title("Likewise: trained models on your own device")
    page.goto(f"{site.url}/#/digits")
    expect(page).to_have_title(f"{site.contract().title} | Likewise")
    page.goto(f"{site.url}/#/digits/evidence")
    expect(page).to_have_title(f"Evidence: {site.contract().title} | Likewise")
    page.goto(f"{site.url}/#/no/such/page")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")


def test_an_unknown_model_is_refused_in_words(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/#/no-such-model")
    expect(page.get_by_role("alert")).to_contain_text("no-such-model")


def test_evidence_shows_every_measurement_beside_its_limit(page: Page, site: Site) -> None:
    evidence = Evidence.model_validate_json((site.folder() / "evidence.json").read_bytes())
    page.goto(f"{site.url}/#/digits/evidence")
    glance = page.get_by_role("table", name="Variants side by side")
    for variant in site.contract().variants:
        expect(glance.get_by_role("columnheader", name=variant.name)).to_be_visible()
        own = [m for m in evidence.measurements if m.variant == variant.name]
        table = page.get_by_role("table", name=f"Measurements of {variant.name}")
        if not table.is_visible():
            page.get_by_text(f"{variant.name} model", exact=False).first.click()
        expect(table.get_by_role("cell", name=re.compile("^(yes|no|told)$"))).to_have_count(
            len(own)
        )
