"""The model card: what Hugging Face reads of it, and what people do."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ModelCard

from export.contract import read_contract, read_index
from export.evidence import Evidence
from export.evidence_words import plain
from export.model_card import model_card
from export.recipe import read_recipe
from export.stages.results import Verified
from export.workspace import ROOT
from tests.export import by_hand

MODELS = ROOT / "models"
INDEX = read_index(MODELS / "index.json")
AWKWARD = 'a: "b" #c\n- d | {e} é \u2028 \x07 😀 \\ & *f*: yes'


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Verified:
    folder = tmp_path_factory.mktemp("card")
    return by_hand.verified(folder / "cache", folder / by_hand.NAME)


def card(verified: Verified, **changed: Any) -> str:
    recipe = by_hand.recipe(Path(), **changed) if changed else verified.measured.quantised.recipe
    return model_card(recipe, 3, verified.measured.evidence, by_hand.provenance())


def read(text: str) -> Any:
    """As Hugging Face reads it."""
    return ModelCard(text).data


def front_matter(text: str) -> dict[str, Any]:
    before, front, _ = text.split("---\n", 2)
    assert before == ""
    values: dict[str, Any] = import_module("yaml").safe_load(front)  # has no types
    return values


def test_hugging_face_reads_licence_task_and_results(verified: Verified) -> None:
    data = read(card(verified))
    assert (data.license, data.library_name, data.pipeline_tag) == (
        "mit", "onnx", "image-classification",
    )  # fmt: skip
    assert data.tags == ["likewise", "onnx", "drawing", "image-classification"]
    accuracies = {r.metric_name: r.metric_value for r in data.eval_results
                  if r.metric_type == "accuracy"}  # fmt: skip
    assert list(accuracies) == [f"Right answers, {v}" for v in ("fp32", "fp16", "q8")]
    measured = [m.value for m in verified.measured.evidence.measurements
                if (m.what, m.variant) == ("accuracy", "q8")]  # fmt: skip
    assert accuracies["Right answers, q8"] == pytest.approx(min(measured))


def test_any_text_is_valid_yaml_and_comes_out_as_it_went_in(verified: Verified) -> None:
    data = {"about": AWKWARD, "examples": "source:examples"}
    text = card(verified, title=AWKWARD, task=AWKWARD, licence=AWKWARD, data=data)
    front = front_matter(text)
    seen = " ".join(AWKWARD.replace("\x07", "").split())
    assert front["tags"][-1] == seen
    assert (front["license"], front["license_name"]) == ("other", seen)
    assert front["model-index"][0]["results"][0]["dataset"]["name"] == seen
    assert read(text).model_name == by_hand.NAME


@pytest.mark.parametrize(
    ("licence", "told"),
    [("MIT", "mit"), ("Apache-2.0", "apache-2.0"), ("CC-BY-4.0", "cc-by-4.0"), ("Mine", "other")],
)
def test_a_licence_is_one_that_hugging_face_knows_or_other(
    verified: Verified, licence: str, told: str
) -> None:
    front = front_matter(card(verified, licence=licence))
    assert front["license"] == told
    assert front.get("license_name") == ("Mine" if told == "other" else None)


def test_a_task_that_is_no_pipeline_is_a_tag(verified: Verified) -> None:
    front = front_matter(card(verified, task="shape-naming"))
    assert "pipeline_tag" not in front
    assert "shape-naming" in front["tags"]


def test_without_labelled_data_no_result_is_claimed(verified: Verified) -> None:
    found = verified.measured.evidence
    golden = [m for m in found.measurements if m.data != "labelled data"]
    text = model_card(
        verified.measured.quantised.recipe, 1,
        found.model_copy(update={"measurements": golden}), by_hand.provenance(),
    )  # fmt: skip
    assert "model-index" not in front_matter(text)
    assert "how often it is right was not measured" in text


def test_it_has_a_section_for_each_question(verified: Verified) -> None:
    text = card(verified)
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings == [
        "How to use it", "Inputs and outputs", "Variants", "Evidence",
        "Intended use and limits", "Data", "Licence", "Made with",
    ]  # fmt: skip
    rows = [line for line in text.splitlines() if line.startswith("| q8 ")]
    assert "`model_quantized.onnx`" in rows[0]
    assert "paired test: p" in text
    assert "22 of 22 limits" in text
    assert "Below 60 % it says that it is not sure" in text


def test_own_scores_are_not_called_right_answers(verified: Verified) -> None:
    data = {"about": "Rated.", "examples": "source:examples", "score": "source:score"}
    text = card(verified, data=data)
    assert "Right answers" not in text
    metrics = front_matter(text)["model-index"][0]["results"][0]["metrics"]
    assert metrics[0]["type"] == "score"


def test_a_streams_states_are_named(verified: Verified) -> None:
    sound = {
        "kind": "sound", "rate": 16000,
        "stream": {"step_samples": 512, "states": [{"input": "state", "output": "stateN"}]},
    }  # fmt: skip
    frames = {"kind": "frames", "frame_seconds": 0.032}
    text = card(verified, input=sound, output=frames)
    assert "`state`, given by `stateN`" in text
    assert '{"samples": samples, "state": state}' in text


@pytest.mark.parametrize("name", [*INDEX.models])
def test_cards_of_published_models_are_read(name: str) -> None:
    recipe = read_recipe(MODELS, name)
    folder = (MODELS / INDEX.models[name].contract.file).parent
    evidence = Evidence.model_validate_json((folder / "evidence.json").read_bytes())
    provenance = read_contract(folder / "contract.json").provenance
    text = model_card(recipe, 1, evidence, provenance)
    assert read(text).eval_results
    assert text == model_card(recipe, 1, evidence, provenance)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a\nb", "a b"), ("# a", "\\# a"), ("1. a", "&#49;. a"), ("2.13.0", "2.13.0"),
        ("node_conv_1", "node_conv_1"), ("_a_", "\\_a\\_"), ("a*b|c<d>", "a\\*b\\|c\\<d>"),
    ],
)  # fmt: skip
def test_text_is_no_markup(text: str, markdown: str) -> None:
    assert plain(text) == markdown
