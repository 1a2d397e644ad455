"""Files that would harm whoever opens them: each refused by the name of its kind, within limits."""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from export.inspection.examine import Examined, examining
from export.inspection.sandbox import Limits, sandboxed
from tests.hostile import make_hostile as hostile

KINDS: dict[str, str] = {name: code for name, (code, _) in hostile.HOSTILE.items()}

LIMITS = Limits(memory_bytes=2**29, cpu_s=4, wall_s=30)
MOST_OWN_MEMORY_KB = 300_000  # more, and the files' bytes were unpacked in this very process
# Refused when published; they may be looked at.
ONLY_NOT_PUBLISHED = {"private-notes", "secrets"}


@dataclass(frozen=True)
class Refusal:
    found: Examined
    seconds: float


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def refusals(folder: Path) -> Iterator[dict[str, Refusal]]:
    """Every file examined, two at a time: most of the time is the start of a process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    made = hostile.make_all(folder)
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(made, pool.map(_examine, made.values()), strict=True))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < MOST_OWN_MEMORY_KB
    yield found


def _examine(path: Path) -> Refusal:
    start = time.monotonic()
    with examining(path, limits=LIMITS) as (found, _):
        return Refusal(found, time.monotonic() - start)


def test_there_are_enough_kinds() -> None:
    assert len(KINDS) >= 30
    assert len(set(KINDS.values())) >= 20


@pytest.mark.parametrize("name", KINDS)
def test_a_hostile_file_is_refused_by_the_name_of_its_kind(
    name: str, refusals: dict[str, Refusal]
) -> None:
    found = refusals[name].found
    codes = [reason.code for reason in found.reasons]
    assert KINDS[name] in codes, [str(reason) for reason in found.reasons]
    assert found.refused == (name not in ONLY_NOT_PUBLISHED)
    assert "crash" not in codes


@pytest.mark.parametrize("name", KINDS)
def test_the_refusal_says_which_file_and_can_be_printed(
    name: str, refusals: dict[str, Refusal]
) -> None:
    for reason in refusals[name].found.reasons:
        assert reason.message.startswith(("model.onnx: ", "and "))
        assert reason.message.isprintable()
        assert len(reason.message) < 600


def test_none_takes_longer_than_its_limits(refusals: dict[str, Refusal]) -> None:
    assert {n: r.seconds for n, r in refusals.items() if r.seconds > LIMITS.wall_s + 5} == {}


def test_what_is_private_is_not_repeated(refusals: dict[str, Refusal]) -> None:
    for refusal in refusals.values():
        told = " ".join(str(reason) for reason in refusal.found.reasons)
        assert hostile.SECRET not in told
        assert "somebody" not in told
        assert "secret, 32 bytes" not in told


def test_nothing_that_was_refused_was_run(refusals: dict[str, Refusal]) -> None:
    run_first = {"runaway-loop", "allocation-bomb", "too-slow"}
    for name, refusal in refusals.items():
        if KINDS[name] not in run_first and name not in ONLY_NOT_PUBLISHED:
            assert refusal.found.native.loads is None
    assert not Path("harmed").exists()


def test_the_process_goes_on_afterwards(refusals: dict[str, Refusal], tmp_path: Path) -> None:
    path = hostile.saved(hostile.good(), tmp_path)
    with examining(path, limits=LIMITS) as (found, _):
        assert found.native.runs
        assert found.reasons == ()
        assert [len(one["x"]) for one in found.feeds] == [1, 3]


def test_no_process_and_no_folder_is_left(refusals: dict[str, Refusal]) -> None:
    own = Path(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/children")
    if own.exists():
        commands = [Path(f"/proc/{p}/cmdline").read_bytes() for p in own.read_text().split()]
        assert not [c for c in commands if b"export.inspection.jobs" in c]


def test_a_job_begins_in_an_empty_folder_with_nothing_of_ours_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module that lies in the working folder would be imported instead of the real one."""
    (tmp_path / "onnx.py").write_text("open('harmed', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    path = hostile.saved(hostile.good(), tmp_path)
    with sandboxed("examine", {"path": str(path)}, LIMITS) as outcome:
        assert outcome.ended == "done", outcome.detail
        results = outcome.folder
    assert not (tmp_path / "harmed").exists()
    assert not results.exists()


def test_a_job_that_ends_its_process_is_told_as_a_crash(tmp_path: Path) -> None:
    with sandboxed("no such job", {}, LIMITS) as outcome:
        assert outcome.ended == "crashed"
        assert "no such job" in outcome.detail


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells which processes there are")
def test_a_job_past_its_wall_time_is_killed(tmp_path: Path) -> None:
    path = hostile.endless_loop(tmp_path)
    start = time.monotonic()
    with sandboxed("examine", {"path": str(path)}, Limits(cpu_s=60, wall_s=3)) as outcome:
        assert outcome.ended == "time"
        assert "wall" in outcome.detail
    assert time.monotonic() - start < 10
