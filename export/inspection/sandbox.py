"""A job in a process of its own with little memory and time: what a file does there stays there."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Ended = Literal["done", "time", "memory", "crashed"]
Event = dict[str, Any]

EVENTS = "events.jsonl"
MOST_EVENT_BYTES = 2**26
PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(frozen=True)
class Limits:
    """What a job may take, beyond what its imports take."""

    memory_bytes: int = 4 * 2**30
    cpu_s: int = 60
    wall_s: float = 120
    file_bytes: int = 2**31


@dataclass(frozen=True)
class Outcome:
    """What a job said before it ended, and how it ended. `folder` holds the files it made."""

    events: list[Event]
    ended: Ended
    detail: str
    folder: Path

    @property
    def step(self) -> str:
        """The last step that it began."""
        return next((e["step"] for e in reversed(self.events) if "step" in e), "start")

    def said(self, key: str) -> Any:
        """The last value that it gave to this key, or None."""
        return next((e[key] for e in reversed(self.events) if key in e), None)


@contextlib.contextmanager
def sandboxed(job: str, arguments: Mapping[str, Any], limits: Limits) -> Iterator[Outcome]:
    """Run a job of jobs.py to its end, or to the end of its limits. It raises nothing.

    The process starts in an empty folder, inherits no settings and no open file, writes no core,
    and is killed with all that it started. Its results are gone when the context ends.
    """
    with tempfile.TemporaryDirectory(prefix="likewise-sandbox-") as name:
        empty, results = Path(name, "empty"), Path(name, "results")
        empty.mkdir()
        results.mkdir()
        request = {"job": job, "arguments": arguments, "results": str(results),
                   "memory_bytes": limits.memory_bytes, "cpu_s": limits.cpu_s,
                   "file_bytes": limits.file_bytes}  # fmt: skip
        code, late = _run(request, empty, results / "stderr", limits.wall_s)
        yield _outcome(results, code, late)


def _run(request: Event, folder: Path, log: Path, wall_s: float) -> tuple[int, bool]:
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            # -I: nothing is imported from the working folder or because a variable says so.
            [sys.executable, "-I", "-m", "export.inspection.jobs"],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=stderr,
            env=_environment(folder), start_new_session=True, close_fds=True,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )  # fmt: skip
        try:
            process.communicate(json.dumps(request).encode(), timeout=wall_s)
            return process.returncode, False
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL, True
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _environment(folder: Path) -> dict[str, str]:
    kept = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT")
    own = {"HOME": str(folder), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1", "TMPDIR": str(folder)}
    return {**{k: os.environ[k] for k in kept if k in os.environ}, **own}


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _outcome(results: Path, code: int, late: bool) -> Outcome:
    events = _events(results / EVENTS)
    ended, detail = _ending(events, code, late)
    if ended == "crashed" and (log := results / "stderr").is_file():
        lines = log.read_bytes()[-4000:].decode(errors="replace").strip().splitlines()
        detail += f": {lines[-1]}" if lines else ""
    return Outcome(events, ended, detail, results)


def _ending(events: list[Event], code: int, late: bool) -> tuple[Ended, str]:
    if late or code == -signal.SIGXCPU:
        return "time", "the wall time" if late else "the processor time"
    if code == -signal.SIGKILL:
        return "memory", "the system ended it, as it does when memory runs out"
    if any(event.get("memory") for event in events):
        return "memory", str(next(e["memory"] for e in events if "memory" in e))
    if code == 0 and any(event.get("step") == "done" for event in events):
        return "done", ""
    told = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return "crashed", told


def _events(path: Path) -> list[Event]:
    """Whole lines only: the last may have been cut off with the process."""
    if not path.is_file():
        return []
    with path.open("rb") as file:
        lines = file.read(MOST_EVENT_BYTES).split(b"\n")[:-1]
    events = []
    for line in lines:
        with contextlib.suppress(ValueError, RecursionError):
            event = json.loads(line)
            if isinstance(event, dict):
                events.append(event)
    return events
