"""The report: whether the page says what the evidence says, alone and whole, in a real browser."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from PIL import Image
from playwright.sync_api import Browser, Page, Playwright

from export.browser import launch
from export.commands.report import report as command
from export.contract import read_index
from export.details import MOST_LABELS, detail
from export.errors import Refused, SetupError
from export.report import page, report
from export.report.charts import charts
from export.report.confusion import confusion, reliability
from export.report.summary import verdict
from export.report.tables import limit_rows, offers
from export.report.version import Reported, read_version
from export.report.worst import worst_groups
from export.stages.publish import publish
from export.stages.rollback import rollback
from export.workspace import ROOT
from tests.export import by_hand

NAME = by_hand.NAME
WHY = "rounder <circles> & more"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions; the second is the current one."""
    folder = tmp_path_factory.mktemp("published")
    models = folder / "models"
    (models / NAME).mkdir(parents=True)
    for seed, why in ((1, "a first try"), (0, WHY)):
        made = by_hand.verified(folder / "cache", models / NAME, seed=seed)
        publish(models, made, by_hand.tensors(), by_hand.provenance(), by="Ada", why=why)
    return models


@pytest.fixture(scope="module")
def reported(published: Path) -> Reported:
    return read_version(published, NAME)


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    started = launch(playwright)
    yield started
    started.close()


def opened(browser: Browser, folder: Path, html: str, **looks: Any) -> tuple[Page, list[str]]:
    """The page from a file, and all that it asked for beside itself."""
    file = folder / "report.html"
    file.write_text(html)
    tab = browser.new_page(**looks)
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: asked.append(message.text))
    tab.goto(file.as_uri())
    return tab, [url for url in asked if url != file.as_uri() and not url.startswith("data:")]


def with_labels(reported: Reported, count: int) -> Reported:
    """As if it told `count` labels apart."""
    random = np.random.default_rng(0)
    right = random.integers(count, size=500)
    scores = random.random((500, count)) + 2 * np.eye(count)[right]
    one = detail(
        reported.used, "chromium-wasm-1-thread", "labelled data", [str(i) for i in range(500)],
        random.random(500), lambda _: ("a", "b"), probabilities=scores / scores.sum(1)[:, None],
        labels=right,
    )  # fmt: skip
    labels = [f"label number {i}" for i in range(count)]
    contract = reported.contract.model_copy(update={"labels": labels})
    return replace(reported, contract=contract, details=(one,))


def missing_one(reported: Reported) -> Reported:
    """As if q8 had missed a limit."""
    changed = [
        m.model_copy(update={"value": 0.5, "passed": False})
        if (m.what, m.variant, m.where) == ("label_agreement", "q8", "chromium-wasm-1-thread")
        else m
        for m in reported.evidence.measurements
    ]
    return replace(
        reported, evidence=reported.evidence.model_copy(update={"measurements": changed})
    )


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_asks_for_nothing_and_fits_every_window(
    browser: Browser, reported: Reported, tmp_path: Path, width: int, scheme: str
) -> None:
    looks = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    tab, asked = opened(browser, tmp_path, page(reported), **looks)
    assert asked == []
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(16, 19, 21)")
    pictures = tab.locator(".worst img")
    assert pictures.count() > 0
    assert all(pictures.nth(i).evaluate("i => i.naturalWidth > 0") for i in range(pictures.count()))
    tab.close()


def test_nothing_of_another_origin_and_no_script_is_in_it(reported: Reported) -> None:
    html = page(reported)
    assert not re.search(r"https?:|//[a-z]|<script|url\(|@import|<link|\bon[a-z]+=", html)
    assert str(Path.home()) not in html


def test_many_labels_still_fit_a_phone(
    browser: Browser, reported: Reported, tmp_path: Path
) -> None:
    html = page(with_labels(reported, MOST_LABELS))
    tab, asked = opened(browser, tmp_path, html, viewport={"width": 390, "height": 800})
    assert asked == []
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    assert tab.locator(".matrix tbody tr").count() == MOST_LABELS
    tab.close()


def test_what_people_see_first_is_the_verdict(
    browser: Browser, reported: Reported, tmp_path: Path
) -> None:
    tab, _ = opened(browser, tmp_path, page(reported))
    agreed = min(
        m.value
        for m in reported.evidence.measurements
        if (m.what, m.variant) == ("label_agreement", "q8") and "wasm" in m.where
    )
    assert tab.get_by_role("heading", level=1).inner_text() == (
        f"In the browser it answers as PyTorch 2.13.0 does: {agreed * 100:.2f} % of 400 answers"
        " are the same."
    )
    assert "22 of 22 limits held" in tab.locator("header").inner_text()
    tab.close()


def test_a_missed_limit_is_said_first_and_stands_first(
    browser: Browser, reported: Reported, tmp_path: Path
) -> None:
    missed = missing_one(reported)
    assert not verdict(missed).holds
    assert [row.passed for row in limit_rows(missed)].count(False) == 1
    tab, _ = opened(browser, tmp_path, page(missed))
    assert tab.get_by_role("heading", level=1).inner_text() == "It misses 1 of its 22 limits."
    first = tab.locator(".limits tbody tr").first.inner_text()
    assert "✗" in first
    assert "50.00 %" in first
    tab.close()


def test_bars_are_as_long_as_what_they_stand_for(reported: Reported) -> None:
    size, right, time = charts(reported).variants
    fp32, q8 = (v.size_bytes for v in reported.contract.variants if v.name in ("fp32", "q8"))
    assert [bar.share for bar in size.bars if bar.variant == "q8"] == [pytest.approx(q8 / fp32)]
    assert [bar.share * 1.6 for bar in time.bars] == pytest.approx([1.0, 1.6, 0.55])
    assert time.mark == pytest.approx(1 / 1.6)
    for bar in right.bars:
        assert bar.low is not None
        assert bar.high is not None
        assert 0 <= bar.low <= bar.share <= bar.high <= 1


def test_a_histogram_has_every_input_and_its_limit_in_place(reported: Reported) -> None:
    found = charts(reported)
    fp32 = found.histograms[0]
    told = [int(re.match(r"[\d,]+", column.words)[0].replace(",", "")) for column in fp32.columns]  # type: ignore[index]
    assert sum(told) == by_hand.LABELLED
    assert len(fp32.columns) == len(found.ticks) - 1
    assert fp32.limit is not None
    assert found.ticks[round(fp32.limit)] == "10⁻⁵"
    assert found.histograms[2].limit is None  # of q8 the recipe limits no difference


def test_the_matrix_is_that_of_the_details(reported: Reported) -> None:
    one = reported.detail("q8", "labelled data", labelled=True)
    told = confusion(reported)
    assert one is not None
    assert told is not None
    assert [[cell.count for cell in row] for row in told.rows] == one.confusion
    wrong = sum(cell.count for row in told.rows for cell in row if not cell.right)
    assert one.confusion is not None
    assert wrong == sum(map(sum, one.confusion)) - sum(one.confusion[i][i] for i in range(3))
    assert told.mixed


def test_too_many_labels_have_a_curve_alone(reported: Reported) -> None:
    many = with_labels(reported, MOST_LABELS + 1)
    assert confusion(many) is None
    assert reliability(many) is not None
    assert "How sure, and how often right" in page(many)


def test_how_sure_it_is_stands_against_how_right(reported: Reported) -> None:
    told = reliability(reported)
    one = reported.detail("q8", "labelled data", labelled=True)
    assert told is not None
    assert one is not None
    assert one.reliability is not None
    assert [point.accuracy for point in told.points] == [b.accuracy for b in one.reliability]
    assert "sure" in told.sentence


def test_worst_golden_examples_are_pictures_of_them(reported: Reported) -> None:
    known = {example.id: example for example in reported.contract.examples}
    group = worst_groups(reported)[0]
    assert group.shown
    for one in group.shown:
        assert one.picture is not None
        kind, data = one.picture.split(",", 1)
        assert kind == "data:image/png;base64"
        picture = Image.open(io.BytesIO(base64.b64decode(data)))
        with Image.open(reported.folder / known[one.id].input.file) as original:
            assert picture.size == original.size
            assert np.array_equal(np.array(picture.convert("L")), np.array(original.convert("L")))


def test_an_answer_that_became_another_is_marked(reported: Reported) -> None:
    one = reported.detail("q8", "labelled data")
    assert one is not None
    worst = [
        first.model_copy(update={"judge": "round square 0.6", "got": got})
        for first, got in zip(one.worst, ("round square 0.5", "square 0.5"), strict=False)
    ]
    changed = replace(reported, details=(one.model_copy(update={"worst": worst}),))
    assert [shown.changed for shown in worst_groups(changed)[0].shown] == [False, True]


def test_what_is_not_offered_has_its_reason(reported: Reported) -> None:
    told = offers(reported)
    assert told.rows[1].cells == ["offered", "offered", "not verified"]
    (reason,) = told.reasons
    assert reason.startswith("fp16 on webgpu: fp16 was not measured")


def test_the_record_is_there_and_text_is_no_markup(
    browser: Browser, published: Path, tmp_path: Path
) -> None:
    shutil.copytree(published, tmp_path / "models")
    rollback(tmp_path / "models", NAME, 1, by="<b>Grace</b>", why="2 misses squares")
    tab, _ = opened(browser, tmp_path, report(tmp_path / "models", NAME))
    rows = tab.get_by_role("heading", name="Record").locator("xpath=..").locator("tbody tr")
    told = [row.replace("\t", " ") for row in rows.all_inner_texts()]
    assert len(told) == 3
    assert "rolled back to 1 <b>Grace</b> 2 misses squares" in told[0]
    assert WHY in told[1]
    tab.close()


@pytest.mark.parametrize("name", [*read_index(ROOT / "models/index.json").models])
def test_every_published_model_has_a_report(browser: Browser, name: str, tmp_path: Path) -> None:
    html = report(ROOT / "models", name)
    tab, asked = opened(browser, tmp_path, html)
    assert asked == []
    assert "Holds" in tab.locator("header").inner_text()
    assert html == report(ROOT / "models", name)
    tab.close()


def test_without_details_the_rest_is_told(
    browser: Browser, reported: Reported, tmp_path: Path
) -> None:
    tab, _ = opened(browser, tmp_path, page(replace(reported, details=())))
    headings = tab.get_by_role("heading", level=2).all_inner_texts()
    assert headings == [
        "Variants", "Limits", "Place by place", "What is offered where", "Record",
        "Made and measured with",
    ]  # fmt: skip
    tab.close()


def run(models: Path, *more: str) -> Result:
    return CliRunner().invoke(command, [NAME, "--models", str(models), *more])


def test_the_command_writes_the_version_that_was_asked_for(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(published).output == f"Wrote {NAME}-2.html\n"
    told = json.loads(run(published, "--version", "1", "--out", "one.html", "--json").output)
    assert told == {"file": "one.html", "size_bytes": Path("one.html").stat().st_size}
    assert "version 1" in Path("one.html").read_text()
    assert "version 2" in Path(f"{NAME}-2.html").read_text()


def test_a_file_among_the_versions_is_not_written(published: Path) -> None:
    out = published / NAME / "2/report.html"
    assert isinstance(run(published, "--out", str(out)).exception, SetupError)
    assert not out.exists()


def test_evidence_that_was_changed_is_refused(published: Path, tmp_path: Path) -> None:
    shutil.copytree(published, tmp_path / "models")
    path = tmp_path / "models" / NAME / "2/evidence.json"
    path.write_text(path.read_text().replace("0.97", "0.99"))
    with pytest.raises(Refused, match=r"evidence\.json: not the bytes"):
        report(tmp_path / "models", NAME)
    out = tmp_path / "r.html"
    done = run(tmp_path / "models", "--out", str(out), "--json")
    assert done.exit_code == 1
    assert json.loads(done.output)["error"]["code"] == "refused"
    assert not out.exists()


@pytest.mark.parametrize(("name", "version"), [("circles", None), (NAME, 9)])
def test_what_is_not_published_is_told(published: Path, name: str, version: int | None) -> None:
    with pytest.raises(SetupError, match="published: "):
        report(published, name, version)
