"""A model answers before it is stored; it is stored whole or not at all."""

from __future__ import annotations

import hashlib
import json
import re
import shutil

from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.conftest import Site
from tests.browser.test_wrong_bytes import stored
from tests.browser.visitor import (
    DIGITS,
    draw,
    expect_best,
    expect_refused,
    open_model,
    told,
    wait_until_offline_works,
)

SAMPLES = re.compile(r"/examples/[^/]+\.png$")


def hold_samples(context: BrowserContext) -> list[Route]:
    """Sample pictures hang until their routes are continued."""
    held: list[Route] = []
    context.route(SAMPLES, lambda route: held.append(route))
    return held


def test_hanging_samples_delay_storing_and_not_the_answer(page: Page, own_site: Site) -> None:
    held = hold_samples(page.context)
    open_model(page, own_site.url)
    draw(page, DIGITS["7"])
    expect_best(page, "7")
    assert held
    assert told(page, "Works offline") == "not yet: the model is being stored"
    assert stored(page) == []

    page.context.unroute(SAMPLES)
    for route in held:
        route.continue_()
    wait_until_offline_works(page)
    expect(page.get_by_text("Works offline").first).to_be_visible()

    own_site.server.kill()
    page.reload()
    open_model(page, own_site.url)
    assert told(page, "Works offline") == "yes"
    draw(page, DIGITS["7"])
    expect_best(page, "7")


def test_leaving_a_model_while_it_is_stored_stores_nothing(page: Page, own_site: Site) -> None:
    hold_samples(page.context)
    open_model(page, own_site.url)
    page.goto(f"{own_site.url}/#/")
    expect(page.get_by_text("Offline once opened").first).to_be_visible()
    assert stored(page) == []
    page.context.unroute(SAMPLES)
    open_model(page, own_site.url)
    wait_until_offline_works(page)


def test_a_server_gone_before_the_runtime_came_is_called_offline(
    page: Page, own_site: Site
) -> None:
    page.add_init_script("delete Navigator.prototype.serviceWorker")
    page.context.route(re.compile(r"\.wasm$"), lambda route: route.abort())
    page.goto(f"{own_site.url}/#/digits")
    expect_refused(page, "offline")
    assert stored(page) == []


def publish_again(site: Site, version: int) -> None:
    """Make a copy of the first version, with a contract of its own, the current one."""
    first, copy = site.models / "digits" / "1", site.models / "digits" / str(version)
    if not copy.exists():
        shutil.copytree(first, copy)
        contract = json.loads((first / "contract.json").read_text())
        (copy / "contract.json").write_text(json.dumps({**contract, "version": version}))
    data = (copy / "contract.json").read_bytes()
    index = json.loads((site.models / "index.json").read_text())
    entry = index["models"]["digits"]
    entry["version"] = version
    entry["versions"] = sorted({*entry["versions"], version})
    entry["contract"] = {
        "file": f"digits/{version}/contract.json",
        "size_bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    (site.models / "index.json").write_text(json.dumps(index))


def contents(page: Page) -> tuple[set[str], set[str]]:
    """Numbers of the versions that are stored, and hashes of all stored files."""
    urls = stored(page)
    versions = {url.split("/")[-2] for url in urls if "/models/" in url}
    return versions, {url.split("/")[-1] for url in urls if "/sha256/" in url}


def test_the_version_stored_last_and_the_one_before_it_stay(page: Page, own_site: Site) -> None:
    hashes = {}
    for version in (1, 2, 3):
        if version > 1:
            publish_again(own_site, version)
        contract = own_site.models / "digits" / str(version) / "contract.json"
        hashes[version] = hashlib.sha256(contract.read_bytes()).hexdigest()
        page.goto("about:blank")
        open_model(page, own_site.url)
        wait_until_offline_works(page)
    versions, files = contents(page)
    assert versions == {"2", "3"}
    assert hashes[1] not in files
    assert {hashes[2], hashes[3]} <= files

    publish_again(own_site, 2)
    page.goto("about:blank")
    open_model(page, own_site.url)
    assert told(page, "Works offline") == "yes"
    own_site.server.kill()
    page.reload()
    open_model(page, own_site.url)
    expect(page.get_by_role("link", name="Verified, version 2")).to_be_visible()
    draw(page, DIGITS["7"])
    expect_best(page, "7")
