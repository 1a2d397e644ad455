"""Pictures by file, drop and paste; and those that cannot be read exactly are refused in words."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from export.contract import read_index
from tests.browser.conftest import Site
from tests.browser.visitor import (
    DIGITS,
    answer,
    bars,
    draw,
    expect_best,
    expect_refused,
    open_model,
)

# Only the browser can make a DataTransfer with files in it; the page sees a real event.
DELIVER = """([kind, name, type, base64]) => {
  const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], name, { type }));
  const options = { bubbles: true, cancelable: true };
  document.dispatchEvent(kind === 'paste'
    ? new ClipboardEvent('paste', { ...options, clipboardData: data })
    : new DragEvent('drop', { ...options, dataTransfer: data }));
}"""

Give = Callable[[Page, str, bytes], None]


def pick(page: Page, name: str, data: bytes) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a picture").click()
    chooser.value.set_files({"name": name, "mimeType": "image/png", "buffer": data})


def drop(page: Page, name: str, data: bytes) -> None:
    page.evaluate(DELIVER, ["drop", name, "image/png", base64.b64encode(data).decode()])


def paste(page: Page, name: str, data: bytes) -> None:
    page.evaluate(DELIVER, ["paste", name, "image/png", base64.b64encode(data).decode()])


@pytest.fixture
def seven(site: Site) -> bytes:
    """A picture of a 7: the golden example."""
    return Path(site.folder() / site.sample(7).input.file).read_bytes()


@pytest.fixture
def model_page(page: Page, site: Site) -> Page:
    open_model(page, site.url)
    return page


@pytest.mark.parametrize("give", [pick, drop, paste])
def test_a_picture_is_answered_however_it_is_given(
    model_page: Page, give: Give, seven: bytes
) -> None:
    give(model_page, "seven.png", seven)
    expect_best(model_page, "7")
    expect(
        model_page.get_by_role("img", name="seven.png").or_(
            model_page.get_by_role("img", name="Pasted picture")
        )
    ).to_be_visible()


def test_clear_gives_the_pad_back(model_page: Page, seven: bytes) -> None:
    pick(model_page, "seven.png", seven)
    expect_best(model_page, "7")
    model_page.get_by_role("button", name="Clear").click()
    expect(bars(model_page)).to_have_count(0)
    draw(model_page, DIGITS["1"])
    expect_best(model_page, "1")


def truncated_jpeg() -> bytes:
    out = io.BytesIO()
    Image.effect_noise((64, 64), 90).convert("RGB").save(out, "JPEG")
    return out.getvalue()[: len(out.getvalue()) // 2]


def white_png() -> bytes:
    out = io.BytesIO()
    Image.new("L", (28, 28), 255).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("notes.png", b"This is text under a picture's name.\n", "unsupported-picture"),
        ("half.jpg", truncated_jpeg(), "broken-picture"),
        ("white.png", white_png(), "nothing-drawn"),
        ("empty.png", b"", "unsupported-picture"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_why_and_what_now(
    model_page: Page, name: str, data: bytes, code: str, seven: bytes
) -> None:
    pick(model_page, name, data)
    note = expect_refused(model_page, code)
    expect(note).to_contain_text("hoose another picture")
    expect(bars(model_page)).to_have_count(0)
    expect(answer(model_page).get_by_role("button", name="Ask the server too")).to_be_disabled()

    pick(model_page, "seven.png", seven)
    expect_best(model_page, "7")


def test_photographs_get_the_judges_answer(page: Page, site: Site) -> None:
    if "mobilenet" not in read_index(site.models / "index.json").models:
        pytest.skip("mobilenet is not built here: run `make gallery`")
    contract = site.contract("mobilenet")
    open_model(page, site.url, "mobilenet")
    for example in [e for e in contract.examples if e.shown][:3]:
        outputs = np.fromfile(site.folder("mobilenet") / example.outputs[0].file, "<f4")
        page.get_by_role("button", name=example.title, exact=True).click()
        expect_best(page, contract.labels[int(outputs.argmax())])
