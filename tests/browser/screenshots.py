"""Pictures of every state of the page for the README: python -m tests.browser.screenshots [FOLDER].

The real page with the real models, driven as a visitor would; nothing is staged but the speed of
the download.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from export.browser import browser_executable
from tests.browser.conftest import ROOT, WEB, Site, running_site
from tests.browser.test_wrong_bytes import flip
from tests.browser.visitor import (
    DIGITS,
    SLOW_MS,
    Drawing,
    answer,
    bars,
    draw,
    expect_best,
    expect_refused,
    open_model,
    wait_until_offline_works,
)

DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 880}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2}
DARK: dict[str, Any] = {"color_scheme": "dark"}
LOOKS = {"": DESKTOP, "-dark": DESKTOP | DARK, "-phone": PHONE, "-phone-dark": PHONE | DARK}

# Neither a 4 nor a 9 nor an 8: what a model should not be sure of.
DOUBTFUL: tuple[Drawing, ...] = (
    [[(0.3, 0.25), (0.7, 0.75)], [(0.7, 0.25), (0.3, 0.75)], [(0.3, 0.5), (0.7, 0.5)]],
    [[(0.35, 0.2), (0.4, 0.5), (0.62, 0.5)], [(0.65, 0.2), (0.6, 0.8), (0.4, 0.8)]],
    [[(0.3, 0.3), (0.7, 0.3), (0.3, 0.7), (0.7, 0.7)], [(0.5, 0.2), (0.5, 0.8)]],
    [[(0.3, 0.7), (0.4, 0.3), (0.5, 0.7), (0.6, 0.3), (0.7, 0.7)]],
)


class Album:
    """Takes the pictures and keeps them small."""

    def __init__(self, folder: Path, browser: Browser) -> None:
        self._folder, self._browser = folder, browser
        folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def page(self, **options: Any) -> Iterator[Page]:
        context = self._browser.new_context(**options)
        yield context.new_page()
        context.close()

    def take(self, page: Page, name: str, *, whole: bool = False) -> None:
        page.wait_for_timeout(400)  # past every transition
        with Image.open(io.BytesIO(page.screenshot(full_page=whole))) as picture:
            small = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
            small.save(self._folder / f"{name}.png", optimize=True)
        sys.stdout.write(f"{name}.png\n")


def main(folder: Path) -> None:
    """Take all pictures into the folder."""
    with (
        TemporaryDirectory() as scratch,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=browser_executable(playwright)) as browser,
    ):
        album = Album(folder, browser)
        with running_site(WEB, Path(scratch) / "models") as site:
            everyday(album, site)
            refused(album, site)
            downloading(album, site)
            offline(album, site)


def everyday(album: Album, site: Site) -> None:
    """Gallery, empty, answered, not sure, consent, evidence; on a phone and in the dark too."""
    looks = {
        "": DESKTOP,
        "-dark": {**DESKTOP, **DARK},
        "-phone": PHONE,
        "-phone-dark": {**PHONE, **DARK},
    }
    for suffix, options in looks.items():
        with album.page(**options) as page:
            page.goto(site.url)
            expect(page.get_by_role("link", name="Verified").first).to_be_visible()
            album.take(page, f"gallery{suffix}")
            open_model(page, site.url)
            wait_until_offline_works(page)
            album.take(page, f"empty{suffix}")
            draw(page, DIGITS["7"])
            expect_best(page, "7")
            album.take(page, f"answered{suffix}")
            page.get_by_role("button", name="Ask the server too").click()
            album.take(page, f"consent{suffix}")
            page.get_by_role("button", name="Send it").click()
            expect(page.get_by_text("The server agrees")).to_be_visible()
            album.take(page, f"agreed{suffix}", whole=options["viewport"]["width"] > 640)
            doubt(page)
            album.take(page, f"not-sure{suffix}")
            page.goto(f"{site.url}/#/digits/evidence")
            expect(page.get_by_role("table").first).to_be_visible()
            album.take(page, f"evidence{suffix}", whole=options["viewport"]["width"] > 640)


def doubt(page: Page) -> None:
    for drawing in DOUBTFUL:
        page.get_by_role("button", name="Clear").click()
        draw(page, drawing)
        expect(bars(page).first).to_be_visible()
        page.wait_for_timeout(1000)
        if answer(page).get_by_text("Not sure", exact=True).is_visible():
            return


def refused(album: Album, site: Site) -> None:
    """One wrong byte in the weights."""
    contract = site.contract()
    weights = site.folder() / contract.variant(contract.best["wasm"]).file
    flip(weights, 1000)
    for suffix, options in {"": DESKTOP, "-phone": PHONE}.items():
        with album.page(**options) as page:
            page.goto(f"{site.url}/#/digits")
            expect_refused(page, "wrong-bytes")
            album.take(page, f"refused{suffix}")
    flip(weights, 1000)


def downloading(album: Album, site: Site) -> None:
    """The model on its way, over a line that takes some seconds for it."""
    name = "mobilenet" if (site.models / "mobilenet" / "1").is_dir() else "digits"
    with slow_line(site.url) as url, album.page(**DESKTOP) as page:
        page.goto(f"{url}/#/{name}")
        expect(page.get_by_role("progressbar")).to_be_visible(timeout=SLOW_MS)
        page.wait_for_timeout(2000)
        album.take(page, "downloading")


def offline(album: Album, site: Site) -> None:
    """After the server is gone."""
    with album.page(**DESKTOP) as desktop, album.page(**PHONE) as phone:
        for page in (desktop, phone):
            open_model(page, site.url)
            wait_until_offline_works(page)
        site.server.kill()
        for page, suffix in ((desktop, ""), (phone, "-phone")):
            page.reload()
            open_model(page, site.url)
            draw(page, DIGITS["7"])
            expect_best(page, "7")
            expect(page.get_by_text("Server out of reach")).to_be_visible()
            album.take(page, f"offline{suffix}")


@contextmanager
def slow_line(upstream: str, seconds: float = 8) -> Iterator[str]:
    """A proxy before the server that spreads every .onnx file over some seconds."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {k: v for k, v in self.headers.items() if k != "Host"}
            wanted = urllib.request.Request(upstream + self.path, headers=headers)
            with urllib.request.urlopen(wanted) as response:
                body = response.read()
                self.send_response(response.status)
                for key, value in response.headers.items():
                    if key not in ("Transfer-Encoding", "Connection"):
                        self.send_header(key, value)
                self.end_headers()
            parts = 40 if self.path.endswith(".onnx") else 1
            step = -(-len(body) // parts)
            for start in range(0, len(body), step or 1):
                # The browser leaves when the picture is taken.
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(body[start : start + step])
                time.sleep(seconds / parts if parts > 1 else 0)

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
