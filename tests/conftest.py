"""What tests of every part share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Playwright, sync_playwright


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Started once: a second one beside it is refused."""
    # So that what the service worker asks for is counted too.
    os.environ["PW_EXPERIMENTAL_SERVICE_WORKER_NETWORK_EVENTS"] = "1"
    with sync_playwright() as started:
        yield started
