"""Which Chromium the browser tests drive."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from playwright.sync_api import Playwright

SYSTEM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def executable(playwright: Playwright) -> str:
    """LIKEWISE_BROWSER, else Playwright's own download, else a Chromium of the system."""
    named = os.environ.get("LIKEWISE_BROWSER")
    if named:
        return named
    own = playwright.chromium.executable_path
    if Path(own).exists():
        return own
    found = next(filter(None, map(shutil.which, SYSTEM)), None)
    if found is None:
        raise FileNotFoundError(
            "no Chromium: install one (apt-get install chromium, or playwright install chromium)"
            " or name it in LIKEWISE_BROWSER"
        )
    return found
