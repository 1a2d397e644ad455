"""Public failure cases of checking and of browsers: the right value, or the plain refusal."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from export.inspection.examine import examining
from export.inspection.file_check import file_reasons
from export.inspection.reason import Before
from export.inspection.shipped import RawError, RawPage, WebBackend, attempt
from export.runtime import Session
from export.tensors import Answers, Tensors
from tests.conformance.in_page import PageThread, page_thread

CASES = Path(__file__).parents[1] / "cases"
BACKENDS: tuple[WebBackend, ...] = ("wasm", "webgpu")
Expected = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def in_page() -> Iterator[PageThread]:
    with page_thread() as thread:
        yield thread


def expected(case: str) -> Expected:
    with np.load(CASES / case / "expected.npz") as file:
        return {name: file[name] for name in file.files}


def codes(path: Path, before: Before) -> list[str]:
    return [reason.code for reason in file_reasons(path) if reason.before == before]


def everywhere(in_page: PageThread, model: Path, feeds: Tensors) -> dict[str, Answers]:
    """The answers of the native runtime and of the shipped wasm in Chromium."""

    def run(page: RawPage) -> Answers:
        page.open(model, "wasm")
        return page.run(feeds)

    return {"native": Session(model).run_batch(feeds), "wasm": in_page(run)}


def _opens(page: RawPage, model: Path, backend: WebBackend) -> bool:
    try:
        page.open(model, backend)
    except RawError:
        return False
    return True


# check-external-data-escape


@pytest.mark.parametrize(("file", "path"), [("model", "../secret.bin"), ("abs", "/etc/hostname")])
def test_weights_outside_the_folder_are_refused_by_tensor_and_path(file: str, path: str) -> None:
    model = CASES / "check-external-data-escape" / "sub" / f"{file}.onnx"
    (reason,) = (r for r in file_reasons(model) if r.before == "running")
    assert reason.code == "external-data-escape"
    assert reason.message.startswith(f"{file}.onnx: w: its bytes would be read from {path}")


def test_nothing_outside_the_folder_is_copied_on_the_way_to_a_browser() -> None:
    model = CASES / "check-external-data-escape" / "sub" / "model.onnx"
    secret = (CASES / "check-external-data-escape" / "secret.bin").read_bytes()
    with examining(model) as (found, whole):
        assert found.refused
        assert found.native.loads is None
        assert whole == model
        assert secret not in whole.read_bytes()


# check-too-new-for-browser


@pytest.mark.parametrize("file", ["ir14", "opset27"])
def test_what_no_shipped_runtime_loads_is_refused_before_it_is_run(file: str) -> None:
    model = CASES / "check-too-new-for-browser" / f"{file}.onnx"
    assert codes(model, "running") == ["too-new"]
    number = file.removeprefix("ir").removeprefix("opset")
    assert number in file_reasons(model)[0].message


def test_the_limits_are_those_of_the_shipped_browser_runtime(in_page: PageThread) -> None:
    """What is refused before it is tried is what the browser would refuse, and no more."""

    def loaded(page: RawPage, model: Path) -> set[bool]:
        return {_opens(page, model, backend) for backend in BACKENDS}

    for model in sorted((CASES / "check-too-new-for-browser").glob("*.onnx")):
        tried = in_page(partial(loaded, model=model))
        assert tried == {codes(model, "running") == []}, model.name


@pytest.mark.parametrize("file", ["ir9", "ir10", "ir13", "opset22", "opset26"])
def test_what_loads_everywhere_gives_the_right_value_everywhere(
    file: str, in_page: PageThread
) -> None:
    right = expected("check-too-new-for-browser")
    model = CASES / "check-too-new-for-browser" / f"{file}.onnx"
    for answers in everywhere(in_page, model, {"x": right["x"]}).values():
        assert np.array_equal(answers["y"], right["y"])


@pytest.mark.parametrize(("file", "told"), [("ir9", []), ("ir10", []), ("ir11", ["too-new"]),
                                            ("opset22", ["too-new"])])  # fmt: skip
def test_what_is_newer_than_what_is_published_is_said(file: str, told: list[str]) -> None:
    assert codes(CASES / "check-too-new-for-browser" / f"{file}.onnx", "publishing") == told


# check-weights-listed-as-inputs


@pytest.mark.parametrize("file", ["ir3", "ir8"])
def test_weights_listed_as_inputs_are_told_and_never_asked_for(
    file: str, in_page: PageThread
) -> None:
    model = CASES / "check-weights-listed-as-inputs" / f"{file}.onnx"
    right = expected("check-weights-listed-as-inputs")
    (reason,) = file_reasons(model)
    assert (reason.code, reason.before) == ("weights-as-inputs", "publishing")
    assert "2 in all, first W" in reason.message
    with examining(model) as (found, _):
        assert [set(feeds) for feeds in found.feeds] == [{"x"}, {"x"}]
    for answers in everywhere(in_page, model, {"x": right["x"]}).values():
        assert np.allclose(answers["y"].astype(np.float64), right["y"], rtol=1e-5, atol=1e-6)


# run-no-detections-zero-size


@pytest.mark.parametrize("scores", ["low", "high"])
def test_a_picture_with_nothing_in_it_has_an_answer_of_size_zero(
    scores: str, in_page: PageThread
) -> None:
    right = expected("run-no-detections-zero-size")
    model = CASES / "run-no-detections-zero-size" / "model.onnx"
    feeds = {"boxes": right["boxes"], "scores": right[scores]}
    for answers in everywhere(in_page, model, feeds).values():
        if scores == "low":
            assert answers["sel"].shape == (0, 3)
            assert answers["det"].shape == (0, 4)
            assert not answers["total"].any()
        else:
            assert np.array_equal(answers["sel"][:, 2], [0, 2])


def test_no_boxes_at_all_can_be_given(in_page: PageThread) -> None:
    model = CASES / "run-no-detections-zero-size" / "model.onnx"
    feeds: Tensors = {"boxes": np.zeros((1, 0, 4), np.float32),
                      "scores": np.zeros((1, 1, 0), np.float32)}  # fmt: skip
    for answers in everywhere(in_page, model, feeds).values():
        assert answers["sel"].shape == (0, 3)


# web-float16-io, web-int64-ids, web-string-tensors


def test_half_precision_goes_in_and_out_and_overflows_as_it_must(in_page: PageThread) -> None:
    right = expected("web-float16-io")
    model = CASES / "web-float16-io" / "model.onnx"
    for answers in everywhere(in_page, model, {"x": right["x"]}).values():
        assert answers["y"].dtype == np.float16
        assert np.array_equal(answers["y"], right["y"])
        assert np.isinf(answers["y"][2])


def test_large_integers_keep_every_digit(in_page: PageThread) -> None:
    right = expected("web-int64-ids")
    feeds = {"ids": right["ids"], "big": right["big"]}
    for answers in everywhere(in_page, CASES / "web-int64-ids" / "model.onnx", feeds).values():
        assert np.array_equal(answers["k"], right["k"])
        assert answers["big2"].tolist() == [18014398509481986, -18014398509481986]
        assert np.allclose(answers["y"].astype(np.float64), right["y"], rtol=1e-6, atol=1e-7)


def test_strings_are_neither_trimmed_nor_normalised(in_page: PageThread) -> None:
    right = expected("web-string-tensors")
    model = CASES / "web-string-tensors" / "model.onnx"
    feeds: Tensors = {"s": right["s"].astype(np.object_)}
    for answers in everywhere(in_page, model, feeds).values():
        assert answers["k"].tolist() == [10, 11, 12, 13, 14, -1, -1, -1]
    empty: Tensors = {"s": np.zeros(0, np.object_)}
    for answers in everywhere(in_page, model, empty).values():
        assert answers["k"].shape == (0,)


# browser-bundle-choice


@pytest.mark.parametrize(
    ("file", "loads", "runs", "says"),
    [
        ("encoder_ml", False, None, "LabelEncoder"),
        ("strings_ml", False, None, "LabelEncoder"),
        ("resize_antialias", True, False, "antialias"),
        ("float16_io", True, False, "f16"),
        ("int8_dynamic", True, True, ""),
    ],
)
def test_which_runtime_takes_a_model_is_found_by_running_it_there(
    file: str, loads: bool, runs: bool | None, says: str, in_page: PageThread
) -> None:
    with examining(CASES / "browser-bundle-choice" / f"{file}.onnx") as (found, model):
        wasm = in_page(lambda page: attempt(page, found, model, "wasm"))
        webgpu = in_page(lambda page: attempt(page, found, model, "webgpu"))
    assert (wasm.loads, wasm.runs, wasm.agrees) == (True, True, True), wasm.why
    if file == "float16_io" and webgpu.runs:
        return  # an adapter with shader-f16
    assert (webgpu.loads, webgpu.runs) == (loads, runs), webgpu.why
    assert says in (webgpu.why.message if webgpu.why else "")


def test_the_encoder_gives_the_right_value_in_wasm(in_page: PageThread) -> None:
    right = expected("browser-bundle-choice")
    model = CASES / "browser-bundle-choice" / "encoder_ml.onnx"
    for answers in everywhere(in_page, model, {"X": right["x"]}).values():
        assert np.array_equal(answers["variable"].astype(np.float64), right["y"])


# export-small-model-split-in-two


def test_weights_beside_the_model_are_put_in_for_the_browser(
    in_page: PageThread, tmp_path: Path
) -> None:
    folder = shutil.copytree(CASES / "export-small-model-split-in-two", tmp_path / "model")
    with examining(folder / "model.onnx") as (found, whole):
        assert [r.code for r in found.reasons] == ["external-data"]
        assert whole != found.path
        assert in_page(lambda page: attempt(page, found, whole, "wasm")).agrees
    assert not whole.exists()
