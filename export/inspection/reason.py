"""Why a file is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Before = Literal["running", "publishing"]


@dataclass(frozen=True)
class Reason:
    """One thing that is wrong with a file. `code` is stable and kebab-case.

    `before`: what is refused. "running": nothing opens the file any further. "publishing": it may
    be looked at, but as it is no browser gets it.
    """

    code: str
    message: str
    before: Before = "running"

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"
