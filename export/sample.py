"""What source.py works with: samples of real data, and the packages that the recipe requires."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sample:
    """One encoded input (a whole PNG or WAV file, a text, a row as JSON), and its right label.

    Of the golden examples, those `shown` are offered as samples in the page, and each visitor's
    device fetches them; the others are only for proving.
    """

    id: str
    data: bytes
    label: int | None = None
    title: str = ""
    shown: bool = True


@dataclass(frozen=True)
class SourceContext:
    """Handed to every function of source.py.

    `packages` maps each required package's name to its unpacked folder. `cache` is a folder that
    lives as long as source.py and `requires` stay the same: trained weights belong there.
    `environments` holds Python environments of frameworks that cannot share this one; `trust` says
    that files which can run code may be loaded; `say` tells what a long wait is for.
    """

    packages: Mapping[str, Path]
    cache: Path
    environments: Path = Path(".likewise/environments")
    trust: bool = False
    say: Callable[[str], None] = lambda _: None
