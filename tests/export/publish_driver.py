"""Publishes in child processes that die, are interrupted, or find no room; run by test_publish.py.

    python -m tests.export.publish_driver WAY FOLDER

WAY is `kill` or `interrupt`: at each step that touches models/; `cut` or `no-room`: when a file
grows beyond a size; `full`: on a disk that fills (which needs mounts of its own).
Leaves a folder of models for each case, and prints one JSON object a case.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from export.errors import SetupError
from export.stages.publish import publish
from tests.export import by_hand

WRITING = {
    "open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "shutil.rmtree",
}  # fmt: skip
SIZES = (0, 1, 500, 10_000, 60_000)
"""The last is beyond every file of a version, and below index.json: its `why` is that long."""
LONG = "because " * 12_000
DISK_KB, STEP_KB = 1024, 16


def base(models: Path) -> None:
    """A folder of models where version 1 is published."""
    (models / by_hand.NAME).mkdir(parents=True)
    ready(models, models.parent / "cache", LONG)()


def ready(models: Path, cache: Path, why: str = "next") -> Callable[[], None]:
    """All is verified; to be called to publish it."""
    made = by_hand.verified(cache, models / by_hand.NAME)

    def publish_it() -> None:
        publish(models, made, by_hand.tensors(), by_hand.provenance(), by="Ada", why=why)

    return publish_it


def at_each_step(folder: Path, act: Callable[[], None]) -> None:
    """`act` at the first step in models/, at the second, and so on, until one publication ends."""
    for number in range(1000):
        models = copied(folder, number)
        publish_it = ready(models, folder / "cache")
        status = in_child(partial(watch, models, number, act), publish_it)
        tell(models, status=status)
        if status == 0:
            return


def watch(models: Path, number: int, act: Callable[[], None]) -> None:
    """Call `act` before step `number`; the many example files are all alike, and left out."""
    left = [number]

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event not in WRITING or not isinstance(args[0], str | os.PathLike):
            return
        path = os.fspath(args[0])
        reads = event == "open" and not (args[2] & (os.O_WRONLY | os.O_RDWR))
        if reads or not path.startswith(f"{models}/") or "/examples/" in path:
            return
        left[0] -= 1
        if left[0] < 0:
            left[0] = 1000
            act()

    sys.addaudithook(hook)


def at_each_size(folder: Path, *, dies: bool) -> None:
    for number, size in enumerate(SIZES):
        models = copied(folder, number)
        publish_it = ready(models, folder / "cache")
        status = in_child(partial(limit, size, dies=dies), publish_it)
        tell(models, status=status, size=size)


def limit(size: int, *, dies: bool) -> None:
    """No file may grow beyond `size`: the write fails half done, or the process dies in it."""
    if dies:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def on_a_full_disk(folder: Path) -> None:
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_KB}k", "none", str(disk)]
    subprocess.run(mount, check=True)
    models = disk / "models"
    base(models)
    publish_it = ready(models, folder / "cache")
    for left_kb in range(0, DISK_KB, STEP_KB):
        before = state(models)
        filler = disk / "filler"
        free = max(0, shutil.disk_usage(disk).free - left_kb * 1024)
        filler.write_bytes(bytes(free))
        try:
            publish_it()
        except SetupError as error:
            tell(models, said=str(error), same=state(models) == before)
            continue
        finally:
            filler.unlink()
        tell(models, said="published", same=False)
        return


def state(models: Path) -> dict[str, bytes]:
    """Every file below models/ but the lock."""
    files = (path for path in models.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(models)): path.read_bytes() for path in files}


def copied(folder: Path, number: int) -> Path:
    if not (folder / "base").exists():
        base(folder / "base")
    target = folder / f"{number:03}"
    shutil.copytree(folder / "base", target)
    return target


def in_child(*acts: Callable[[], None]) -> int:
    """How a child process that did it ended: 0, the signal, or 1 for an error."""
    child = os.fork()
    if child == 0:
        try:
            for act in acts:
                act()
        except BaseException as error:  # a child must never return into the parent's code
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def tell(models: Path, **facts: object) -> None:
    print(json.dumps({"models": str(models), **facts}), flush=True)  # noqa: T201


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    way, where = sys.argv[1], Path(sys.argv[2])
    match way:
        case "kill":
            at_each_step(where, die)
        case "interrupt":
            at_each_step(where, interrupt)
        case "cut" | "no-room":
            at_each_size(where, dies=way == "cut")
        case "full":
            on_a_full_disk(where)
