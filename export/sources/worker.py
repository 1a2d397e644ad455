"""A framework in a process and an environment of its own, asked by lines of JSON."""

from __future__ import annotations

import json
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from export.errors import SourceError
from export.tensors import Array


class Worker:
    """Starts when it is made, ends with it or with this process."""

    def __init__(self, python: Path, script: Path, *arguments: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="likewise-worker-")
        self._scratch = Path(self._folder.name)
        with (self._scratch / "stderr").open("w") as stderr:
            self._process = subprocess.Popen(
                [python, script, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=stderr, text=True,
            )  # fmt: skip
        weakref.finalize(self, _end, self._process, self._folder)

    def ask(self, **request: Any) -> dict[str, Any]:
        """The reply to one request. SourceError with the framework's reason, when it has none."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise SourceError("the framework's process has no pipes")
        try:
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            told = (self._scratch / "stderr").read_text(errors="replace").strip().splitlines()
            raise SourceError(f"the framework's process ended: {(told or ['it said nothing'])[-1]}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise SourceError(reply["error"])
        return reply

    def infer(self, given: Sequence[Array]) -> list[Array]:
        """Answers to one batch, arrays in the worker's order."""
        inputs, answers = self._scratch / "given.npz", self._scratch / "answers.npz"
        arrays: dict[str, Any] = {f"input_{i}": values for i, values in enumerate(given)}
        np.savez(inputs, **arrays)
        self.ask(do="infer", given=str(inputs), answers=str(answers))
        with np.load(answers) as stored:
            return [stored[f"output_{i}"] for i in range(len(stored.files))]


def _end(process: subprocess.Popen[str], folder: tempfile.TemporaryDirectory[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()
    try:
        process.wait(timeout=10)  # the end of its stdin ends it
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    folder.cleanup()
