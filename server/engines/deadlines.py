"""Deadlines for runs that nothing else can stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(eq=False)
class Deadline:
    """One run's deadline; `passed` once the run was told to stop."""

    due: float
    stop: Callable[[], None]
    passed: bool = False


class Deadlines:
    """Stops runs after `timeout_s`, from one thread: one for each run would cost more than a run.

    All have the same time, so a later one is never due before an earlier one, and the thread
    only needs waking when it waits for none.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._running: set[Deadline] = set()
        self._changed = threading.Condition()
        self._asleep = False
        self._thread: threading.Thread | None = None

    @contextmanager
    def after(self, stop: Callable[[], None]) -> Iterator[Deadline]:
        """Within the block, `stop` is called when the time is up."""
        deadline = Deadline(time.monotonic() + self._timeout_s, stop)
        with self._changed:
            self._running.add(deadline)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            elif self._asleep:
                self._changed.notify()
        try:
            yield deadline
        finally:
            with self._changed:
                self._running.discard(deadline)

    def _watch(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for deadline in [d for d in self._running if d.due <= now]:
                    deadline.passed = True
                    deadline.stop()
                    self._running.discard(deadline)
                soonest = min((d.due for d in self._running), default=None)
                self._asleep = soonest is None
                self._changed.wait(None if soonest is None else soonest - now)
