"""Publishing, all or nothing: killed, interrupted or without room at any moment; and the record."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from export.contract import Contract, IndexEntry, read_index
from export.errors import Refused, SetupError
from export.evidence import Details, Evidence
from export.stages import publish as stage
from export.stages.publish import INCOMING, JOURNAL, LOCK, publish
from export.stages.rollback import rollback, whole
from export.workspace import ROOT
from tests.export import by_hand
from tests.export.publish_driver import LONG, SIZES, state

NAME = by_hand.NAME


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder where one recipe lies, and nothing is published."""
    models = tmp_path / "models"
    (models / NAME).mkdir(parents=True)
    return models


def publish_next(models: Path, *, by: str = "", why: str = "", **changed: Any) -> Contract:
    made = by_hand.verified(models.parent / "cache", models / NAME, **changed)
    return publish(models, made, by_hand.tensors(), by_hand.provenance(), by=by, why=why)


def entry(models: Path) -> IndexEntry:
    return read_index(models / "index.json").models[NAME]


def driven(way: str, folder: Path, *before: str) -> list[dict[str, Any]]:
    folder.mkdir()
    command = [*before, sys.executable, "-m", "tests.export.publish_driver", way, str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_and_publish(models: Path) -> int:
    """What is current is whole, and publishing works; gives the version that was current."""
    current = entry(models).version
    assert whole(models / NAME / str(current)).version == current
    new = publish_next(models)
    now = entry(models)
    assert now.version == new.version > current
    folders = {path.name for path in (models / NAME).iterdir()}
    assert folders == {str(version) for version in now.versions}
    assert {p.name for p in models.iterdir()} == {"index.json", LOCK, NAME}
    for version in now.versions:
        whole(models / NAME / str(version))
    assert [event.version for event in now.history] == now.versions
    return current


@pytest.mark.parametrize(("way", "ended"), [("kill", -9), ("interrupt", 1)])
def test_ended_at_any_step_what_is_current_is_whole_and_the_next_publication_works(
    tmp_path: Path, way: str, ended: int
) -> None:
    cases = driven(way, tmp_path / "cases")
    assert [case["status"] for case in cases] == [ended] * (len(cases) - 1) + [0]
    assert len(cases) > 15
    found = [check_and_publish(Path(case["models"])) for case in cases]
    assert found == sorted(found)  # version 1 up to one moment, version 2 from then on
    assert (found[0], found[-2]) == (1, 2)


@pytest.mark.parametrize(("way", "ended"), [("cut", -25), ("no-room", 1)])
def test_a_file_cut_short_is_never_current(tmp_path: Path, way: str, ended: int) -> None:
    cases = driven(way, tmp_path / "cases")
    assert [case["status"] for case in cases] == [ended] * len(SIZES)
    base = state(tmp_path / "cases/base")
    short = [len(data) for data in base.values() if LONG.strip().encode() not in data]
    assert max(short) < SIZES[-1] < len(base["index.json"])  # so that index.json is cut as well
    for case in cases:
        models = Path(case["models"])
        if way == "no-room":  # it could tidy up behind itself
            assert state(models) == base
        assert check_and_publish(models) == 1


def test_on_a_full_disk_models_stays_as_it_was_and_the_error_says_why(tmp_path: Path) -> None:
    alone = ("unshare", "--user", "--map-root-user", "--mount")
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], check=False).returncode:
        pytest.skip("a disk of its own needs unshare and user namespaces")
    *full, last = driven("full", tmp_path / "cases", *alone)
    assert len(full) > 5
    assert all(case["same"] and "No space left on device" in case["said"] for case in full)
    assert last["said"] == "published"


def test_a_kill_while_the_journal_is_written_is_cleared(models: Path) -> None:
    publish_next(models)
    (models / NAME / JOURNAL).touch()
    (models / NAME / f"{INCOMING}2").mkdir()
    assert publish_next(models).version == 2
    assert {path.name for path in (models / NAME).iterdir()} == {"1", "2"}


def test_a_journal_of_a_version_that_is_listed_removes_nothing(models: Path) -> None:
    publish_next(models)
    (models / NAME / JOURNAL).write_text("1")
    publish_next(models)
    assert whole(models / NAME / "1").version == 1


def test_a_version_that_no_journal_names_is_nobodys_to_remove(models: Path) -> None:
    (models / NAME / "1").mkdir()
    (models / NAME / "1/mine.txt").write_text("kept")
    assert publish_next(models).version == 2
    assert (models / NAME / "1/mine.txt").read_text() == "kept"


def test_a_number_is_never_given_twice(models: Path) -> None:
    publish_next(models)
    publish_next(models)
    rollback(models, NAME, 1)
    shutil.rmtree(models / NAME / "2")
    assert publish_next(models).version == 3


def test_the_record_says_who_published_and_why(models: Path) -> None:
    publish_next(models, by="Ada", why="a first try")
    publish_next(models, by="Grace", why="more data")
    rollback(models, NAME, by="Ada", why="worse on squares")
    told = [(event.action, event.version, event.by, event.why) for event in entry(models).history]
    assert told == [
        ("publish", 1, "Ada", "a first try"),
        ("publish", 2, "Grace", "more data"),
        ("rollback", 1, "Ada", "worse on squares"),
    ]
    moments = [event.at for event in entry(models).history]
    assert moments == sorted(moments)


def test_a_publication_after_a_rollback_keeps_every_version(models: Path) -> None:
    for _ in range(2):
        publish_next(models)
    rollback(models, NAME, 1)
    assert publish_next(models).version == 3
    assert entry(models).versions == [1, 2, 3]
    assert rollback(models, NAME).version == 1


def test_other_models_stay_as_they_are(models: Path) -> None:
    publish_next(models)
    path = models / "index.json"
    document = json.loads(path.read_text())
    document["models"]["another"] = document["models"][NAME]
    path.write_text(json.dumps(document))
    before = read_index(path).models["another"]
    publish_next(models)
    assert read_index(path).models["another"] == before


def test_two_at_once_come_one_after_the_other(models: Path) -> None:
    made = by_hand.verified(models.parent / "cache", models / NAME)
    ready = [
        threading.Thread(
            target=publish, args=(models, made, by_hand.tensors(), by_hand.provenance())
        )
        for _ in range(3)
    ]
    for one in ready:
        one.start()
    for one in ready:
        one.join()
    assert entry(models).versions == [1, 2, 3]
    assert len(entry(models).history) == 3


def test_one_that_does_not_end_is_not_waited_for_for_ever(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "LOCK_TIMEOUT_S", 0.1)
    with FileLock(models / LOCK), pytest.raises(SetupError, match="another publication or rollb"):
        publish_next(models)


def test_private_text_is_refused_and_nothing_stays(models: Path) -> None:
    publish_next(models)
    before = state(models)
    private = {"about": f"From {Path.home()}/pictures/x.png", "examples": "source:examples"}
    with pytest.raises(Refused, match="private text"):
        publish_next(models, data=private)
    assert state(models) == before


def test_raw_tensors_may_hold_any_bytes(models: Path) -> None:
    made = by_hand.verified(models.parent / "cache", models / NAME)
    given = by_hand.tensors()
    marked = b"site-packages".ljust(64, b"\0")
    given[0]["pixels"].flat[:] = list(marked)
    publish(models, made, given, by_hand.provenance())
    assert entry(models).version == 1


def test_what_is_published_can_be_read_again(models: Path) -> None:
    contract = publish_next(models)
    folder = models / NAME / "1"
    assert Evidence.model_validate_json((folder / "evidence.json").read_bytes()).name == NAME
    assert Details.model_validate_json((folder / "details.json").read_bytes()).name == NAME
    assert whole(folder) == contract
