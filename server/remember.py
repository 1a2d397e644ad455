"""Values made from files, remembered until the file's stat changes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")

# A file that changed less than this ago may change again within the same tick of its
# timestamps and look the same; what was made of it is not remembered yet.
SETTLED_NS = 1_000_000_000

# ctime is part of the mark: a changed file can be given its old size and mtime, not its ctime.
Mark = tuple[int, int, int, int, int]


class Remembered(Generic[T]):
    """One value per path. Threads may share it."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Mark, T]] = {}
        self._lock = threading.Lock()

    def get(self, path: Path, stat: os.stat_result, make: Callable[[], T]) -> T:
        """The value for `path` in the state that `stat` describes; `stat` comes before `make`."""
        with self._lock:
            known = self._known.get(path)
        if known is not None and known[0] == _mark(stat):
            return known[1]
        settled = time.time_ns() - max(stat.st_ctime_ns, stat.st_mtime_ns) > SETTLED_NS
        value = make()
        if settled:
            with self._lock:
                self._known[path] = (_mark(stat), value)
        return value


def _mark(stat: os.stat_result) -> Mark:
    return (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
