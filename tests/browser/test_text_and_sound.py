"""Texts and sounds on the page: given in every way, answered on the device, also offline."""

from __future__ import annotations

import io
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from export.contract import read_contract
from server.process import RunningServer, running_server
from tests.browser.conftest import MODELS, visiting
from tests.browser.visitor import (
    SLOW_MS,
    answer,
    expect_refused,
    open_model,
    wait_until_offline_works,
)
from tests.kinds import publish_all

RATE = 44_100


@pytest.fixture(scope="module")
def server(web: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("kinds")
    publish_all(folder, read_contract(next(MODELS.glob("digits/*/contract.json"))))
    with running_server(folder, web) as server:
        yield server


@pytest.fixture
def page(browser: Browser, server: RunningServer) -> Iterator[Page]:
    with visiting(browser, server.url) as visit:
        yield visit.page(viewport={"width": 1280, "height": 900})


def sound(*loud: float) -> bytes:
    """Half a second of each loudness, stereo, as people have it on their disks."""
    samples = np.repeat(np.array(loud) * 32767, RATE // 2).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(2)
        written.setsampwidth(2)
        written.setframerate(RATE)
        written.writeframes(np.repeat(samples, 2).tobytes())
    return file.getvalue()


def give(page: Page, label: str, name: str, data: bytes) -> None:
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    page.get_by_label(label, exact=True).set_input_files(file)  # type: ignore[arg-type]


def test_a_text_is_answered_while_it_is_typed_by_the_keyboard_alone(
    page: Page, server: RunningServer
) -> None:
    open_model(page, server.url, "wordpiece")
    text = page.get_by_label("Text", exact=True)
    text.focus()
    page.keyboard.type("the running")
    outputs = answer(page).get_by_role("list", name="Outputs")
    expect(outputs).to_contain_text("of_ids", timeout=SLOW_MS)
    before = outputs.inner_text()
    page.keyboard.type(" don't")
    expect(outputs).not_to_have_text(before)
    expect(page.get_by_text("17 characters.")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Clear
    expect(text).to_have_value("")
    expect(answer(page)).to_contain_text("Type a text")


def test_a_text_comes_from_a_file_and_what_is_none_is_said(
    page: Page, server: RunningServer
) -> None:
    open_model(page, server.url, "byte-pairs")
    give(page, "File with a text", "words.txt", "naïve Straße".encode())
    expect(page.get_by_label("Text", exact=True)).to_have_value("naïve Straße")
    expect(answer(page)).to_contain_text("of_ids", timeout=SLOW_MS)
    give(page, "File with a text", "old.txt", "naïve".encode("latin-1"))
    expect(page.get_by_role("alert")).to_contain_text("old.txt: The file is no UTF-8 text.")
    expect(page.get_by_label("Text", exact=True)).to_have_value("naïve Straße")


def test_a_model_of_texts_works_with_the_server_gone(
    browser: Browser, web: Path, tmp_path: Path
) -> None:
    publish_all(tmp_path, read_contract(next(MODELS.glob("digits/*/contract.json"))))
    with running_server(tmp_path, web) as server, visiting(browser, server.url) as visit:
        page = visit.page()
        open_model(page, server.url, "wordpiece")
        wait_until_offline_works(page)
        server.kill()
        page.reload()
        open_model(page, server.url, "wordpiece")
        page.get_by_label("Text", exact=True).fill("running")
        expect(answer(page)).to_contain_text("of_ids", timeout=SLOW_MS)


def test_a_sound_is_played_and_its_loud_part_told(page: Page, server: RunningServer) -> None:
    open_model(page, server.url, "sound")
    give(page, "Sound file", "loud.wav", sound(0, 0.9, 0))
    expect(answer(page)).to_contain_text("Active for 0.5 s of 1.5 s", timeout=SLOW_MS)
    expect(answer(page)).to_contain_text("0.5 to 1.0 s.")
    player = page.get_by_label("loud.wav")
    expect(player).to_be_visible()
    assert player.evaluate("player => new Promise(done => player.readyState > 0"
                           " ? done(player.duration) : (player.onloadedmetadata ="
                           " () => done(player.duration), player.onerror = () => done(-1)))"
                           ) == pytest.approx(1.5, abs=0.01)  # fmt: skip
    give(page, "Sound file", "quiet.wav", sound(0.1))
    expect(answer(page)).to_contain_text("Never at or above 50\u00a0%.")


def test_what_is_no_sound_is_refused_by_name(page: Page, server: RunningServer) -> None:
    open_model(page, server.url, "sound")
    give(page, "Sound file", "song.ogg", b"OggS" + bytes(100))
    expect(expect_refused(page, "bad-input")).to_contain_text("Not a WAV file")
    give(page, "Sound file", "short.wav", sound(0.9)[:-100])
    expect(expect_refused(page, "bad-input")).to_contain_text("cut short")
