"""`likewise versions` and `likewise rollback`: what is told of versions, and going back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click import Command
from click.testing import CliRunner, Result

from export.commands.rollback import rollback
from export.commands.versions import versions
from export.contract import Index, IndexEntry, read_index
from export.errors import Refused, SetupError
from export.stages.publish import publish
from tests.export import by_hand

NAME = by_hand.NAME
WHYS = ("a first try", "more [data]", "smaller")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three versions, by Ada."""
    folder = tmp_path_factory.mktemp("published")
    models = folder / "models"
    (models / NAME).mkdir(parents=True)
    made = by_hand.verified(folder / "cache", models / NAME)
    for why in WHYS:
        publish(models, made, by_hand.tensors(), by_hand.provenance(), by="Ada", why=why)
    return models


@pytest.fixture
def models(tmp_path: Path, published: Path) -> Path:
    """A copy of them."""
    shutil.copytree(published, tmp_path / "models")
    return tmp_path / "models"


def run(command: Command, models: Path, *more: str, **environ: str) -> Result:
    arguments = [*more, "--models", str(models)]
    return CliRunner(env={"LIKEWISE_PUBLISHER": None, **environ}).invoke(command, arguments)


def entry(models: Path) -> IndexEntry:
    return read_index(models / "index.json").models[NAME]


def test_all_models_are_listed_with_their_last_change(models: Path) -> None:
    told = run(versions, models)
    (line,) = [line for line in told.output.splitlines() if line.startswith(NAME)]
    for part in ("3", "1, 2, 3", "drawing", "published 3", "Ada", "smaller"):
        assert part in line


def test_of_one_model_every_version_and_the_record_newest_first(models: Path) -> None:
    run(rollback, models, NAME, "1", "--by", "Grace", "--why", "3 misses squares")
    told = run(versions, models, NAME).output
    (current,) = [line for line in told.splitlines() if "current" in line]
    assert current.startswith("1 ")
    assert "q8 on wasm" in current
    record = [line for line in told.splitlines() if "UTC" in line]
    assert [line.split("UTC")[1].split("  ")[1] for line in record] == [
        "rolled back to 1", "published 3", "published 2", "published 1",
    ]  # fmt: skip
    assert "Grace" in record[0]
    assert "3 misses squares" in record[0]
    assert "more [data]" in record[2]  # square brackets are no markup


def test_a_version_that_cannot_be_read_hides_no_other(models: Path) -> None:
    (models / NAME / "2/contract.json").write_text("{")
    told = run(versions, models, NAME)
    assert told.exit_code == 0
    assert "not readable" in told.output
    assert "current" in told.output


def test_for_machines_it_is_the_index_or_the_models_entry(models: Path) -> None:
    assert Index.model_validate_json(run(versions, models, "--json").output) == read_index(
        models / "index.json"
    )
    told = IndexEntry.model_validate_json(run(versions, models, NAME, "--json").output)
    assert told == entry(models)


def test_a_name_that_nobody_published_is_told_with_those_that_are(models: Path) -> None:
    done = run(versions, models, "circles")
    assert isinstance(done.exception, SetupError)
    assert str(done.exception) == f"circles: nothing of that name is published; published: {NAME}"
    machine = run(versions, models, "circles", "--json")
    assert machine.exit_code == 1
    assert json.loads(machine.output)["error"]["code"] == "not-set-up"


def test_nothing_published_is_said(tmp_path: Path) -> None:
    assert "Nothing is published yet" in run(versions, tmp_path).output


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert isinstance(run(versions, tmp_path / "none").exception, SetupError)


def test_going_back_says_to_what_and_is_recorded(models: Path) -> None:
    done = run(rollback, models, NAME, "2", "--by", "Grace", "--why", "3 is worse")
    assert done.output == f"{NAME}/2 is the current version again\n"
    last = entry(models).history[-1]
    assert (entry(models).version, last.action, last.by, last.why) == (
        2, "rollback", "Grace", "3 is worse",
    )  # fmt: skip


@pytest.mark.parametrize(("environ", "by"), [({}, ""), ({"LIKEWISE_PUBLISHER": "Grace"}, "Grace")])
def test_who_goes_back_is_never_guessed(models: Path, environ: dict[str, str], by: str) -> None:
    run(rollback, models, NAME, USER="somebody", LOGNAME="somebody", **environ)
    assert entry(models).history[-1].by == by


def test_a_refusal_is_an_error_and_for_machines_a_document(models: Path) -> None:
    before = (models / "index.json").read_bytes()
    assert isinstance(run(rollback, models, NAME, "3").exception, Refused)
    machine = run(rollback, models, NAME, "3", "--json")
    assert machine.exit_code == 1
    error = json.loads(machine.output)["error"]
    assert error["code"] == "refused"
    assert error["reasons"] == [f"{NAME}/3 is the current version already"]
    assert (models / "index.json").read_bytes() == before
