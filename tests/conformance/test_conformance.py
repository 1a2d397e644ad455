"""The operator suite: a sample of it in the browser, and that its counting can be believed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from export.inspection.shipped import RawError
from tests.conformance.__main__ import mismatches, published
from tests.conformance.in_page import PageThread, page_thread
from tests.conformance.judge import CannotLoadError, Open, Opened, Result, judge
from tests.conformance.runtimes import Web, native
from tests.conformance.suite import Case, Value, cases_of, mismatch
from tests.hostile.make_hostile import endless_loop

# One of each fate among them: passed, refused for each reason, wrong in both runtimes.
SAMPLE = (
    "abs", "adam", "add", "concat", "cumsum", "dft", "gather", "if_", "image_decoder", "isnan",
    "loop", "maxunpool", "nonmaxsuppression", "sequenceinsert", "string_concat", "where",
)  # fmt: skip


@pytest.fixture(scope="module")
def sample() -> list[Case]:
    return cases_of(SAMPLE)


@pytest.fixture(scope="module")
def in_page() -> Iterator[PageThread]:
    with page_thread() as thread:
        yield thread


@pytest.fixture(scope="module")
def in_browser(in_page: PageThread, sample: list[Case]) -> dict[str, Result]:
    return in_page(lambda page: {case.name: judge(case, Web(page)) for case in sample})


@pytest.fixture(scope="module")
def natively(sample: list[Case]) -> dict[str, Result]:
    return {case.name: judge(case, native) for case in sample}


def test_the_sample_is_large_enough_and_most_of_it_passes(in_browser: dict[str, Result]) -> None:
    assert len(in_browser) >= 60
    passed = [one for one in in_browser.values() if one.verdict == "passes"]
    assert len(passed) >= 45


def test_nothing_of_the_sample_would_be_published_wrong(
    in_browser: dict[str, Result], natively: dict[str, Result]
) -> None:
    found = {"web": list(in_browser.values()), "native": list(natively.values())}
    assert mismatches(found), "the sample holds cases that are wrong in both runtimes"
    assert published(found) == []


def test_browser_and_native_runtime_pass_the_same_but_for_sequences(
    in_browser: dict[str, Result], natively: dict[str, Result]
) -> None:
    other = {n for n in in_browser if in_browser[n].verdict != natively[n].verdict}
    assert {in_browser[name].code for name in other} <= {"no-tensor"}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("test_adam", "foreign-domain"),
        ("test_image_decoder_decode_png_rgb", "cannot-load"),
        ("test_sequence_insert_at_front", "no-tensor"),
    ],
)
def test_what_the_browser_cannot_run_is_refused_before_it_runs(
    name: str, code: str, in_browser: dict[str, Result]
) -> None:
    assert (in_browser[name].verdict, in_browser[name].code) == ("refused", code)
    assert in_browser[name].why


def test_a_worker_that_hangs_is_replaced_and_the_next_case_runs(
    in_page: PageThread, sample: list[Case], tmp_path: Path
) -> None:
    in_page(lambda page: page.open(endless_loop(tmp_path), "wasm"))
    with pytest.raises(RawError) as raised:
        in_page(lambda page: page.run({"x": np.ones((1, 4), np.float32)}, timeout_ms=1_000))
    assert raised.value.code == "timed-out"
    assert in_page(lambda page: judge(sample[0], Web(page))).verdict == "passes"


def test_bytes_that_are_no_model_are_an_error_and_the_next_case_runs(
    in_page: PageThread, sample: list[Case]
) -> None:
    with pytest.raises(RawError):
        in_page(lambda page: page.open(b"no model", "wasm"))
    assert in_page(lambda page: judge(sample[0], Web(page))).verdict == "passes"


# The counting, on one case with answers made up here.


@pytest.fixture
def case() -> Case:
    return cases_of(["ceil"])[0]


def answering(change: float) -> Open:
    """A runtime that is off by `change` in every value."""

    def opened(case: Case) -> Opened:
        return lambda _inputs: [value + value.dtype.type(change) for value in case.data[0][1]]

    return opened


def test_the_expected_answer_passes(case: Case) -> None:
    assert judge(case, answering(0)).verdict == "passes"


def test_a_wrong_answer_is_a_mismatch_that_verify_catches(case: Case) -> None:
    found = judge(case, answering(1))
    assert found.verdict == "mismatch"
    assert found.caught == "verify: differs by 1, limit 1e-05"
    assert published({"made up": [found]}) == []


def test_a_wrong_answer_that_nothing_catches_is_counted_and_named(case: Case) -> None:
    strict = replace(case, rtol=0.0, atol=1e-9)
    found = judge(strict, answering(-2e-6))
    assert found.verdict == "mismatch"
    assert published({"made up": [found]}) == [found]
    assert "NOT CAUGHT" in mismatches({"made up": [found]})[0]


def test_not_a_number_is_never_within_a_limit(case: Case) -> None:
    found = judge(case, answering(float("nan")))
    assert found.verdict == "mismatch"
    assert "not numbers" in found.caught


def test_an_answer_of_another_shape_or_type_is_a_mismatch(case: Case) -> None:
    (expected,) = case.data[0][1]
    for other in (expected[None], expected.astype(np.float64)):
        found = judge(case, lambda _case, other=other: lambda _inputs: [other])  # type: ignore[misc]
        assert found.verdict == "mismatch"
        assert found.caught.startswith("verify: ")


def test_no_answer_to_load_is_a_refusal_and_none_to_run_a_failure(case: Case) -> None:
    def cannot_load(case: Case) -> Opened:
        raise CannotLoadError("no such operator")

    def cannot_run(case: Case) -> Opened:
        def run(inputs: dict[str, Value]) -> Sequence[Value]:
            raise RuntimeError("out of luck")

        return run

    assert judge(case, cannot_load).verdict == "refused"
    assert judge(case, cannot_run).verdict == "fails"


def test_strings_and_sequences_are_compared_too() -> None:
    assert mismatch([np.array(["a"], object)], [np.array(["b"], object)], 0, 0)
    assert mismatch([[np.ones(2)]], [[np.ones(2), np.ones(2)]], 0, 0)
    assert not mismatch([[np.ones(2)], None], [[np.ones(2)], None], 0, 0)
