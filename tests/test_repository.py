"""What lies in the repository: published versions, and no one's private text."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import onnx
import pytest

from export.contract import Index, read_contract, read_index, sha256
from export.inspection.file_check import file_reasons
from export.stages.publish import refuse_private
from export.workspace import ROOT

MODELS = ROOT / "models"
PUBLISHED = [
    MODELS / entry.contract.file for entry in read_index(MODELS / "index.json").models.values()
]
# Paths of a home or working folder, and addresses of package registries.
PRIVATE = re.compile(
    rb"/(?:home|root|Users|work)/[a-z]|registry\.npmjs|files\.pythonhosted|pypi\.org/simple"
)


@pytest.fixture(params=PUBLISHED, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def folder(request: pytest.FixtureRequest) -> Path:
    contract: Path = request.param
    return contract.parent


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def test_every_file_is_what_the_contract_says(folder: Path) -> None:
    for ref in read_contract(folder / "contract.json").files():
        data = (folder / ref.file).read_bytes()
        assert (len(data), sha256(data)) == (ref.size_bytes, ref.sha256), ref.file


def test_the_index_names_the_contract_that_is_there() -> None:
    for entry in read_index(MODELS / "index.json").models.values():
        assert sha256((MODELS / entry.contract.file).read_bytes()) == entry.contract.sha256


def test_no_published_file_holds_a_path_or_a_source_line(folder: Path) -> None:
    refuse_private(folder)
    for path in folder.rglob("*"):
        if path.is_file():
            assert not PRIVATE.search(path.read_bytes()), path


def test_every_model_file_is_valid_and_whole(folder: Path) -> None:
    for variant in read_contract(folder / "contract.json").variants:
        assert file_reasons(folder / variant.file) == []
        assert not any(node.metadata_props for node in onnx.load(folder / variant.file).graph.node)


def test_what_is_committed_as_published_stays_small() -> None:
    published = [p for p in tracked() if (p.is_relative_to(MODELS) and p.parts[-2].isdigit())
                 or p.parent.name == "examples"]  # fmt: skip
    assert published
    assert sum(path.stat().st_size for path in published) < 1_500_000


def test_no_tracked_file_holds_a_private_path_or_a_registry() -> None:
    found = [
        path.relative_to(ROOT)
        for path in tracked()
        if path.is_file() and path != Path(__file__) and PRIVATE.search(path.read_bytes())
    ]
    assert found == []


def test_the_schemas_are_those_of_the_contract(tmp_path: Path) -> None:
    from export.schema import write_schemas

    for path in write_schemas(tmp_path):
        assert path.read_text() == (ROOT / "web/src/shared" / path.name).read_text(), path.name


def test_every_link_of_the_documents_leads_somewhere() -> None:
    documents = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{document.name}: {target}"
        for document in documents
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text())
        if not (document.parent / target).exists()
    ]
    assert documents
    assert broken == []


def test_the_committed_index_names_only_committed_versions() -> None:
    shown = subprocess.run(
        ["git", "show", "HEAD:models/index.json"], cwd=ROOT, capture_output=True, check=True
    )
    committed = {str(path.relative_to(MODELS)) for path in tracked() if path.is_relative_to(MODELS)}
    for entry in Index.model_validate_json(shown.stdout).models.values():
        assert entry.contract.file in committed
