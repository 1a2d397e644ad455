"""Settings of the server, all from the environment; docs/settings.md is their manual."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from export.errors import SetupError


@dataclass(frozen=True)
class Config:
    """Where things lie and how much the server takes on. Paths are absolute."""

    models: Path
    web: Path
    host: str = "127.0.0.1"
    port: int = 8000
    threads: int = 16
    max_body_mb: int = 64
    max_batch: int = 64
    infer_threads: int = 1
    infer_at_once: int = 1
    infer_timeout_s: int = 30

    @property
    def max_body_bytes(self) -> int:
        """Limit of a request's body, as sent and as unpacked."""
        return self.max_body_mb * 1_000_000


def from_environment(environ: Mapping[str, str] = os.environ) -> Config:
    """Config from LIKEWISE_* variables. SetupError names every wrong one at once."""
    wrong: list[str] = []

    def number(name: str, default: int, low: int, high: int) -> int:
        text = environ.get(name, str(default))
        if text.isascii() and text.isdigit() and low <= int(text[:12]) <= high:
            return int(text)
        wrong.append(f"{name} is {text!r}; it must be a whole number from {low} to {high}")
        return default

    config = Config(
        models=Path(environ.get("LIKEWISE_MODELS", "models")).absolute(),
        web=Path(environ.get("LIKEWISE_WEB", "web/dist")).absolute(),
        host=environ.get("LIKEWISE_HOST", "127.0.0.1"),
        port=number("LIKEWISE_PORT", 8000, 0, 65535),
        threads=number("LIKEWISE_THREADS", 16, 1, 256),
        max_body_mb=number("LIKEWISE_MAX_BODY_MB", 64, 1, 2000),
        max_batch=number("LIKEWISE_MAX_BATCH", 64, 1, 4096),
        infer_threads=number("LIKEWISE_INFER_THREADS", 1, 1, 256),
        infer_at_once=number("LIKEWISE_INFER_AT_ONCE", cores(), 1, 256),
        infer_timeout_s=number("LIKEWISE_INFER_TIMEOUT_S", 30, 1, 3600),
    )
    if wrong:
        raise SetupError("\n".join(wrong))
    return config


def cores() -> int:
    """Cores that this process may use, which in a container are fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
