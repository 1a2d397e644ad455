"""A weight file that is not the verified one is refused by name, and nothing of it stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import Site
from tests.browser.visitor import (
    DIGITS,
    bars,
    draw,
    expect_best,
    expect_refused,
    open_model,
    pad,
    wait_until_offline_works,
)

# What the store holds: whatever cache of this origin is not the page's own shell.
STORED = """async () => {
  const found = [];
  for (const name of await caches.keys()) {
    for (const { url } of await (await caches.open(name)).keys()) found.push([name, url]);
  }
  return found;
}"""


def flip(file: Path, position: int) -> None:
    """Flip one bit in the file, in place."""
    data = bytearray(file.read_bytes())
    data[position] ^= 1
    file.write_bytes(data)


def stored(page: Page) -> list[Any]:
    """Entries of all caches except those of the shell and the index."""
    entries: list[list[str]] = json.loads(json.dumps(page.evaluate(STORED)))
    return [url for cache, url in entries if "shell" not in cache and "index" not in cache]


def test_one_wrong_byte_is_refused_and_the_right_file_is_taken_again(
    page: Page, own_site: Site
) -> None:
    contract = own_site.contract()
    weights = own_site.folder() / contract.variant(contract.best["wasm"]).file
    flip(weights, weights.stat().st_size // 2)

    page.goto(f"{own_site.url}/#/digits")
    expect(pad(page)).to_be_visible()
    draw(page, DIGITS["7"])
    note = expect_refused(page, "wrong-bytes")
    expect(note).to_contain_text(weights.name)
    expect(bars(page)).to_have_count(0)
    assert stored(page) == []

    flip(weights, weights.stat().st_size // 2)
    page.get_by_role("button", name="Try again").click()
    expect_best(page, "7")
    wait_until_offline_works(page)
    assert stored(page) != []


def test_a_spoilt_example_is_refused_but_the_model_answers(page: Page, own_site: Site) -> None:
    example = own_site.sample(0)
    flip(own_site.folder() / example.input.file, -1)
    open_model(page, own_site.url)
    page.get_by_role("button", name=example.title, exact=True).click()
    note = expect_refused(page, "wrong-bytes")
    expect(note).to_contain_text(example.input.file)
