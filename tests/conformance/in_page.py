"""The raw page in a thread of its own: Playwright takes one at a time, and other tests have one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from export.inspection.shipped import RawPage, raw_page
from tests.conformance.__main__ import serving

T = TypeVar("T")

ROOT = Path(__file__).parents[2]
WEB = Path(os.environ.get("LIKEWISE_TEST_WEB", ROOT / "web" / "dist"))


class PageThread:
    """Call it with what is to be done with the page."""

    def __init__(self, pool: ThreadPoolExecutor, page: RawPage) -> None:
        self._pool, self._page = pool, page

    def __call__(self, act: Callable[[RawPage], T]) -> T:
        """What `act` gives or raises."""
        return self._pool.submit(act, self._page).result()


@contextlib.contextmanager
def page_thread() -> Iterator[PageThread]:
    """The page of the built site, open until the context ends."""
    assert (WEB / "raw.html").is_file(), f"{WEB} holds no raw.html: run `npm run build`"
    with ThreadPoolExecutor(1) as pool:
        stack = ExitStack()
        page = pool.submit(stack.enter_context, raw_page(serving(WEB))).result()
        try:
            yield PageThread(pool, page)
        finally:
            pool.submit(stack.close).result()
