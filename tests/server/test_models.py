"""Version files: what is published, as it lies on disk now."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from export.contract import Contract, sha256
from server.process import running_server
from tests.server.asking import Answer, ask, infer
from tests.server.publishing import copy_version, list_version, publish

PIXELS = {"name": "pixels", "datatype": "UINT8", "shape": [1, 28, 28, 1], "data": [0] * 784}


def flip(path: Path) -> None:
    """Change one byte and nothing else that a stat shows but ctime."""
    times = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def zeros(url: str, **more: object) -> Answer:
    return infer(url, {"inputs": [PIXELS], **more})


def test_every_file_of_the_contract_is_served_as_published(url: str, digits: Contract) -> None:
    for ref in digits.files():
        answer = ask(url, f"/models/digits/{digits.version}/{ref.file}")
        assert (answer.status, sha256(answer.body)) == (200, ref.sha256), ref.file
        assert answer.headers["etag"] == f'"{ref.sha256[:32]}"'
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_the_index_and_contracts_are_always_asked_for_anew(url: str, digits: Contract) -> None:
    for path in ("/models/index.json", f"/models/digits/{digits.version}/contract.json"):
        answer = ask(url, path)
        assert (answer.status, answer.headers["cache-control"]) == (200, "no-cache")
        tag = answer.headers["etag"]
        assert ask(url, path, headers={"If-None-Match": tag}).status == 304


@pytest.mark.parametrize(
    "path",
    [
        "/models",
        "/models/",
        "/models/digits",
        "/models/digits/",
        "/models/digits/recipe.toml",
        "/models/digits/source.py",
        "/models/digits/1",
        "/models/digits/1/",
        "/models/digits/1/notes.txt",
        "/models/digits/1/examples",
        "/models/digits/1/examples/../notes.txt",
        "/models/digits/1/%2e%2e/source.py",
        "/models/digits/1/contract.json/",
        "/models/digits/01x/contract.json",
        "/models/digits/0/contract.json",
        "/models/digits/2/contract.json",
        "/models/digits/99999999999999999999/contract.json",
        "/models/..%2fdigits/1/contract.json",
        "/models/other/1/contract.json",
        "/models/index.json.new",
    ],
)
def test_only_what_a_contract_names_is_served(hostile_url: str, path: str) -> None:
    answer = ask(hostile_url, path)
    assert (answer.status, answer.json["error"]["code"]) == (404, "not-found")


@pytest.fixture(scope="module")
def hostile_url(
    models: Path, digits: Contract, web: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Published: digits/1. Beside it lie a recipe, notes, and an unlisted version and model."""
    own = tmp_path_factory.mktemp("models")
    model = (models / "digits" / str(digits.version) / "model.onnx").read_bytes()
    for name in ("other", "digits"):
        (own / "index.json").unlink(missing_ok=True)
        publish(own, name, model, digits.inputs[0], digits.outputs)
    (own / "digits/1/examples").mkdir()
    copy_version(own, "digits", 1, 2)
    for file in ("digits/recipe.toml", "digits/source.py", "digits/1/notes.txt", "index.json.new"):
        (own / file).write_text("private")
    with running_server(own, web) as server:
        yield server.url


def test_a_named_file_that_is_a_link_to_the_outside_is_not_served(
    own_models: Path, own_url: str, digits: Contract, tmp_path: Path
) -> None:
    (tmp_path / "private.txt").write_text("private")
    file = own_models / "digits" / str(digits.version) / "README.md"
    file.unlink()
    file.symlink_to(tmp_path / "private.txt")
    assert ask(own_url, f"/models/digits/{digits.version}/README.md").status == 404


def test_a_flipped_byte_stops_inference_until_the_file_is_right_again(
    own_models: Path, own_url: str, digits: Contract
) -> None:
    file = own_models / "digits" / str(digits.version) / digits.variant(digits.best["cpu"]).file
    right = zeros(own_url)
    assert right.status == 200
    flip(file)
    wrong = zeros(own_url)
    assert wrong.status == 503
    assert "wrong bytes" in wrong.json["error"]
    assert file.name in wrong.json["error"]
    assert sha256(file.read_bytes()) in wrong.json["error"]
    assert ask(own_url, "/v2/models/digits/ready").status == 503
    assert ask(own_url, "/v2/health/ready").status == 503
    [row] = ask(own_url, "/v2/repository/index", "POST", b"").json
    assert (row["state"], "wrong bytes" in row["reason"]) == ("UNAVAILABLE", True)
    flip(file)
    assert zeros(own_url).json == right.json
    assert ask(own_url, "/v2/health/ready").status == 200


def test_a_flipped_byte_before_the_first_use_is_seen(
    own_models: Path, own_url: str, digits: Contract
) -> None:
    flip(own_models / "digits" / str(digits.version) / digits.variant(digits.best["cpu"]).file)
    assert "wrong bytes" in zeros(own_url).json["error"]


def test_a_flipped_file_is_handed_out_as_it_is_and_may_not_be_kept(
    own_models: Path, own_url: str, digits: Contract
) -> None:
    path = f"/models/digits/{digits.version}/model.onnx"
    file = own_models / "digits" / str(digits.version) / "model.onnx"
    before = ask(own_url, path)
    flip(file)
    after = ask(own_url, path, headers={"If-None-Match": before.headers["etag"]})
    assert (after.status, after.body) == (200, file.read_bytes())
    assert after.headers["etag"] == f'"{sha256(after.body)[:32]}"'
    assert after.headers["cache-control"] == "no-store"
    part = {"Range": "bytes=9-", "If-Range": before.headers["etag"]}
    assert ask(own_url, path, headers=part).status == 200


def test_a_missing_model_file_is_said(own_models: Path, own_url: str, digits: Contract) -> None:
    (own_models / "digits" / str(digits.version) / "model.onnx").unlink()
    answer = zeros(own_url, parameters={"variant": "fp32"})
    assert answer.status == 503
    assert "model.onnx: cannot be read: No such file" in answer.json["error"]


def test_a_changed_contract_is_not_inferred_with(
    own_models: Path, own_url: str, digits: Contract
) -> None:
    path = own_models / "digits" / str(digits.version) / "contract.json"
    path.write_text(path.read_text().replace('"kind": "scores"', '"kind" : "scores"'))
    answer = zeros(own_url)
    assert answer.status == 503
    assert "contract.json: wrong bytes" in answer.json["error"]
    static = ask(own_url, f"/models/digits/{digits.version}/contract.json")
    assert (static.status, static.body) == (200, path.read_bytes())


def test_a_broken_contract_is_said_and_still_handed_out(
    own_models: Path, own_url: str, digits: Contract
) -> None:
    folder = own_models / "digits" / str(digits.version)
    (folder / "contract.json").write_text('{"schema_version": 9}')
    answer = ask(own_url, f"/models/digits/{digits.version}/model.onnx")
    assert (answer.status, answer.json["error"]["code"]) == (503, "bad-contract")
    assert "schema_version" in answer.json["error"]["message"]
    assert ask(own_url, f"/models/digits/{digits.version}/contract.json").status == 200


@pytest.fixture
def neighbour(own_models: Path, digits: Contract, digits_folder: Path) -> Path:
    """The folder of a second model, beside digits."""
    data = (digits_folder / "model.onnx").read_bytes()
    publish(own_models, "neighbour", data, digits.inputs[0], digits.outputs)
    return own_models / "neighbour/1"


def gone(folder: Path) -> str:
    shutil.rmtree(folder)
    return "neighbour/1/contract.json: cannot be read: No such file"


def without_its_contract(folder: Path) -> str:
    (folder / "contract.json").unlink()
    return "neighbour/1/contract.json: cannot be read: No such file"


def with_a_broken_contract(folder: Path) -> str:
    (folder / "contract.json").write_bytes(b'{"name": "\xff')
    return "neighbour/1: 1/contract.json"


def without_its_model(folder: Path) -> str:
    (folder / "model.onnx").unlink()
    return "neighbour/1/model.onnx: cannot be read: No such file"


@pytest.mark.parametrize(
    "harm", [gone, without_its_contract, with_a_broken_contract, without_its_model]
)
def test_a_listed_version_that_is_missing_or_broken_is_unavailable_and_alone_in_it(
    neighbour: Path, own_url: str, digits: Contract, harm: Callable[[Path], str]
) -> None:
    assert ask(own_url, "/v2/health/ready").status == 200
    reason = harm(neighbour)
    for path in ("/v2/health/ready", "/v2/models/neighbour/ready"):
        answer = ask(own_url, path)
        assert (answer.status, reason in answer.json["error"]) == (503, True), answer.json
    refused = infer(own_url, {"inputs": [PIXELS]}, model="neighbour")
    assert (refused.status, reason in refused.json["error"]) == (503, True)
    ours, other = ask(own_url, "/v2/repository/index", "POST", b"").json
    assert (ours["name"], ours["state"]) == ("digits", "READY")
    assert (other["name"], other["version"], other["state"]) == ("neighbour", "1", "UNAVAILABLE")
    assert reason in other["reason"]
    assert ask(own_url, "/v2/models/digits/ready").status == 200
    assert zeros(own_url).json["model_version"] == str(digits.version)


def test_an_old_version_that_is_missing_is_unavailable_and_the_server_ready(
    own_models: Path, own_url: str, digits: Contract
) -> None:
    old, new = digits.version, digits.version + 1
    copy_version(own_models, "digits", old, new)
    list_version(own_models, "digits", new)
    shutil.rmtree(own_models / "digits" / str(old))
    assert ask(own_url, "/v2/health/ready").status == 200
    assert ask(own_url, f"/v2/models/digits/versions/{old}").status == 503
    rows = ask(own_url, "/v2/repository/index", "POST", b"").json
    assert [row["state"] for row in rows] == ["UNAVAILABLE", "READY"]


@pytest.mark.parametrize("file", ["contract.json", "model.onnx"])
def test_files_of_a_version_whose_folder_is_missing_are_said_to_be_unavailable(
    neighbour: Path, own_url: str, file: str
) -> None:
    shutil.rmtree(neighbour)
    answer = ask(own_url, f"/models/neighbour/1/{file}")
    assert (answer.status, answer.json["error"]["code"]) == (503, "wrong-bytes")
    assert "neighbour/1/contract.json" in answer.json["error"]["message"]


def test_a_new_version_and_a_rollback_are_seen_without_a_restart(
    own_models: Path, own_url: str, digits: Contract
) -> None:
    old, new = digits.version, digits.version + 1
    assert zeros(own_url).json["model_version"] == str(old)
    copy_version(own_models, "digits", old, new)
    assert ask(own_url, f"/v2/models/digits/versions/{new}").status == 404
    list_version(own_models, "digits", new)
    assert zeros(own_url).json["model_version"] == str(new)
    assert ask(own_url, "/v2/models/digits").json["versions"] == [str(old), str(new)]
    path = f"/v2/models/digits/versions/{old}/infer"
    body = b'{"inputs": [' + str(PIXELS).replace("'", '"').encode() + b"]}"
    assert ask(own_url, path, "POST", body).json["model_version"] == str(old)
    assert ask(own_url, f"/models/digits/{old}/contract.json").status == 200
    list_version(own_models, "digits", old)
    assert zeros(own_url).json["model_version"] == str(old)


def test_a_model_that_passed_nowhere_here_is_not_run(
    models: Path, digits: Contract, web: Path, tmp_path: Path
) -> None:
    model = (models / "digits" / str(digits.version) / "model.onnx").read_bytes()
    publish(tmp_path, "doubtful", model, digits.inputs[0], digits.outputs, status="unverified")
    with running_server(tmp_path, web) as server:
        answer = infer(server.url, {"inputs": [PIXELS]}, model="doubtful")
        named = infer(
            server.url, {"inputs": [PIXELS], "parameters": {"variant": "fp32"}}, model="doubtful"
        )
    assert (answer.status, "no variant passed" in answer.json["error"]) == (503, True)
    assert (named.status, "passed here: none" in named.json["error"]) == (400, True)
