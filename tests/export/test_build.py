"""The whole way with a small recipe: real server, real Chromium, real files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from export.contract import read_contract, read_index
from export.workspace import ROOT
from tests.export.conftest import Workshop

STAGES = ("source", "export", "quantise", "verify")  # those that write


def test_a_published_version_holds_what_its_contract_says(built_once: Workshop) -> None:
    entry = read_index(built_once.models / "index.json").models["tiny"]
    contract = read_contract(built_once.models / entry.contract.file)
    folder = built_once.models / "tiny/1"
    listed = {ref.file: ref for ref in contract.files()}
    found = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert found == {*listed, "contract.json"}
    assert contract.best == {"cpu": "q8", "wasm": "q8", "webgpu": "q8"}
    assert {v.name: v.backends["wasm"].status for v in contract.variants} == {
        "fp32": "passed",
        "q8": "passed",
    }


def test_evidence_holds_every_value_beside_its_limit(built_once: Workshop) -> None:
    evidence = json.loads((built_once.models / "tiny/1/evidence.json").read_text())
    judged = [m for m in evidence["measurements"] if m["limit"] is not None]
    assert judged
    assert all(m["passed"] for m in judged)
    places = {m["where"] for m in judged if m["variant"] == "fp32"}
    assert places >= {"python-cpu", "chromium-wasm-1-thread", "chromium-wasm-2-threads"}
    equal = [m for m in evidence["measurements"] if m["what"] == "differing_input_bytes"]
    assert len(equal) >= 4
    assert all(m["value"] == 0 for m in equal)


def test_an_unchanged_recipe_is_not_built_again(workshop: Workshop) -> None:
    before = workshop.state()
    started = time.monotonic()
    assert workshop.built()["outcome"] == "unchanged"
    assert time.monotonic() - started < 10  # it takes about a second; building takes a minute
    assert workshop.state() == before


def test_an_unchanged_recipe_needs_no_framework(workshop: Workshop) -> None:
    command = workshop.command("--json")[1:]
    loaded = subprocess.run(
        [workshop.command()[0], "-X", "importtime", *command],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=True,
    ).stderr  # fmt: skip
    assert " torch\n" not in loaded
    assert " onnx\n" not in loaded


def test_missed_limits_are_all_named_and_nothing_is_published(workshop: Workshop) -> None:
    workshop.change(
        "[limits.q8]\nlabel_agreement = 0.9", "[limits.q8]\nmax_difference = 1e-9\nsize_mb = 0.001"
    )
    before = workshop.state()
    done = workshop.build("--json")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "refused"
    for place in ("python-cpu", "chromium-wasm-1-thread", "chromium-wasm-2-threads"):
        assert any("q8 max difference" in r and place in r and "above the limit 1e-09" in r
                   for r in error["reasons"])  # fmt: skip
    assert any("q8 size mb" in reason for reason in error["reasons"])
    assert not any("chromium-webgpu" in reason for reason in error["reasons"])  # left out there
    assert workshop.state() == before


def test_a_changed_limit_that_holds_publishes_the_next_version(workshop: Workshop) -> None:
    workshop.change("label_agreement = 0.9", "label_agreement = 0.8")
    built = workshop.built()
    assert (built["outcome"], built["version"]) == ("published", 2)
    entry = read_index(workshop.models / "index.json").models["tiny"]
    assert (entry.version, entry.versions) == (2, [1, 2])
    assert (workshop.models / "tiny/1/contract.json").exists()


def test_wrong_preprocessing_is_refused_before_anything_is_measured(workshop: Workshop) -> None:
    workshop.change('channels = "grey"', 'channels = "grey"\nmean = [0.5]')
    before = workshop.state()
    done = workshop.build()
    assert done.returncode == 1
    assert "differs from the framework's" in done.stdout
    assert workshop.state() == before


def test_an_error_in_source_py_is_told_with_its_line(workshop: Workshop) -> None:
    source = workshop.models / "tiny/source.py"
    source.write_text(source.read_text().replace("net = model(context).eval()", "net = nothing"))
    done = workshop.build()
    assert done.returncode == 1
    assert "source.py: reference failed in line" in done.stdout
    assert "name 'nothing' is not defined" in done.stdout


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_build_leaves_models_as_they_were_and_the_next_works(
    workshop: Workshop, how: signal.Signals, stage: str
) -> None:
    source = workshop.models / "tiny/source.py"
    source.write_text(source.read_text() + "\n# changed, so that every stage runs anew\n")
    before = workshop.state()
    process = subprocess.Popen(
        workshop.command(), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
        # Children of a shell's background job inherit that SIGINT is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while not list((workshop.work / "cache/tiny" / stage).glob(".*")):  # its unfinished folder
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, how)
    process.wait(60)
    assert workshop.state() == before
    if stage == STAGES[-1]:  # a whole build takes long, and it is the same for all
        assert workshop.built()["version"] == 2
        assert not list((workshop.work / "cache/tiny").glob("*/.*"))


@pytest.mark.parametrize("stage", STAGES)
def test_without_room_a_build_says_so_and_leaves_models_as_they_were(
    workshop: Workshop, stage: str
) -> None:
    """The folder of one stage lies on a disk of its own that is full."""
    alone = ("unshare", "--user", "--map-root-user", "--mount")
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], check=False).returncode:
        pytest.skip("a disk of its own needs unshare and user namespaces")
    source = workshop.models / "tiny/source.py"
    source.write_text(source.read_text() + "\n# changed, so that every stage runs anew\n")
    before = workshop.state()
    full = workshop.work / "cache/tiny" / stage
    script = 'mount -t tmpfs -o size=4k tmpfs "$0" && exec "$@"'
    done = subprocess.run(
        [*alone, "sh", "-c", script, str(full), *workshop.command("--json")],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    message = json.loads(done.stdout)["error"]["message"]
    assert message.startswith(f"{stage}: {workshop.work}")
    assert "No space left on device; make room" in message
    assert workshop.state() == before


# Ends the process at one step of the publication, as a power cut would.
DIE = """
import os, pathlib, sys
step, method = sys.argv.pop(1), sys.argv.pop(1)
original = getattr(pathlib.Path, method)
def dying(self, *more):
    if (step == "index" and str(more[0]).endswith("index.json")) or (
        step == "version" and ".incoming-" in self.name and self.is_dir()
    ):
        os._exit(9)
    return original(self, *more)
setattr(pathlib.Path, method, dying)
from export.cli import main
main()
"""


@pytest.mark.parametrize(("step", "method"), [("version", "rename"), ("index", "replace")])
def test_a_publication_cut_off_leaves_the_version_before_and_the_next_build_works(
    workshop: Workshop, step: str, method: str
) -> None:
    workshop.change("label_agreement = 0.9", "label_agreement = 0.8")
    index = (workshop.models / "index.json").read_bytes()
    command = workshop.command()[3:]
    died = subprocess.run(
        [sys.executable, "-c", DIE, step, method, *command], cwd=ROOT, timeout=300, check=False
    )
    assert died.returncode == 9
    assert (workshop.models / "index.json").read_bytes() == index
    assert workshop.built()["version"] == 2
    assert (workshop.models / "tiny/2/contract.json").exists()
    assert not list(workshop.models.rglob(".incoming-*"))


def test_a_lost_index_costs_no_published_version(workshop: Workshop) -> None:
    before = (workshop.models / "tiny/1/model.onnx").read_bytes()
    (workshop.models / "index.json").unlink()
    assert workshop.built()["version"] == 2
    assert (workshop.models / "tiny/1/model.onnx").read_bytes() == before


def test_an_id_that_is_no_file_name_is_refused(workshop: Workshop) -> None:
    source = workshop.models / "tiny/source.py"
    source.write_text(source.read_text().replace("Sample(path.stem,", 'Sample("../" + path.stem,'))
    done = workshop.build("--json")
    assert done.returncode == 1
    assert "is to be a file name" in json.loads(done.stdout)["error"]["message"]
