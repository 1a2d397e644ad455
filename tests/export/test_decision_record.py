"""decision.md: whether it says what the evidence says, and of what changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from export.contract import Event, VariantName
from export.decision_record import Before, decision_record
from export.evidence_words import room
from export.stages.publish import publish
from export.stages.results import Verified
from tests.export import by_hand

EVENT = Event(action="publish", version=2, at="2026-01-02T03:04:05Z", by="Ada", why="more squares")


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Verified:
    folder = tmp_path_factory.mktemp("decision")
    return by_hand.verified(folder / "cache", folder / by_hand.NAME)


def before(folder: Path, **changed: Any) -> Before:
    """Version 1, which was published."""
    (folder / "models" / by_hand.NAME).mkdir(parents=True)
    made = by_hand.verified(folder / "old", folder / "models" / by_hand.NAME, **changed)
    contract = publish(folder / "models", made, by_hand.tensors(), by_hand.provenance())
    return Before(contract, made.measured.evidence)


def record(verified: Verified, was: Before | None = None, event: Event = EVENT) -> str:
    return decision_record(verified, by_hand.provenance(), event, was)


def section(text: str, title: str) -> str:
    return text.split(f"## {title}\n")[1].split("\n## ")[0]


def test_it_says_who_decided_when_and_why(verified: Verified) -> None:
    first = record(verified).splitlines()
    assert first[0] == "# Decision: shapes/2 is published"
    assert first[2] == "2026-01-02T03:04:05Z, by Ada. Why: more squares."


def test_what_was_not_said_is_told_as_such(verified: Verified) -> None:
    text = record(verified, event=EVENT.model_copy(update={"by": "", "why": ""}))
    assert "by nobody who gave a name. Why: not said." in text


def test_every_limit_is_there_with_its_worst_value(verified: Verified) -> None:
    found = verified.measured.evidence.measurements
    limits = {(m.what, m.variant, m.limit) for m in found if m.limit is not None}
    rows = [line for line in section(record(verified), "Limits held").splitlines() if "|" in line]
    assert len(rows) - 2 == len(limits)
    (agreement,) = [row for row in rows if row.startswith("| Same answer as the judge | q8 ")]
    least = min(m.value for m in found
                if (m.what, m.variant) == ("label_agreement", "q8"))  # fmt: skip
    assert f"| at least 90.00 % | {least * 100:.2f} % |" in agreement
    assert f"| {(least - 0.9) * 100:.2f} points |" in agreement
    assert "22 of 22 limits held" in record(verified)


@pytest.mark.parametrize(
    ("what", "rule", "value", "limit", "told"),
    [
        ("accuracy", "at least", 0.993, 0.985, "0.80 points"),
        ("accuracy_loss_points", "at most", -0.5, 0.5, "1.00 points"),
        ("max_difference", "at most", 2.5e-6, 1e-5, "25 % used"),
        ("differing_input_bytes", "at most", 0, 0, "none needed"),
    ],
)
def test_by_how_much_a_limit_held(
    verified: Verified, what: str, rule: str, value: float, limit: float, told: str
) -> None:
    item = verified.measured.evidence.measurements[0]
    changed = {"what": what, "rule": rule, "value": value, "limit": limit}
    assert room(item.model_copy(update=changed)) == told


def test_what_is_not_offered_has_its_reason(verified: Verified) -> None:
    told = section(record(verified), "What is not offered, and why")
    assert "- fp16 on webgpu: not verified: fp16 was not measured on WebGPU: this adapter" in told
    assert "- q4: the recipe does not ask for it." in told
    assert "- q8 keeps in float32: `node_conv_1`." in told


def test_many_kept_nodes_are_counted(verified: Verified) -> None:
    kept: dict[VariantName, list[str]] = {"q8": [f"node_{i}" for i in range(200)]}
    quantised = replace(verified.measured.quantised, kept=kept)
    text = record(replace(verified, measured=replace(verified.measured, quantised=quantised)))
    assert "`node_5` and 194 more" in text
    assert "node_6" not in text


def test_the_first_version_has_none_before(verified: Verified) -> None:
    assert section(record(verified), "Compared with the version before") == (
        "This is the first version.\n"
    )


def test_the_version_before_is_beside_it(verified: Verified, tmp_path: Path) -> None:
    told = section(record(verified, before(tmp_path, seed=1)), "Compared with the version before")
    assert told.startswith("Before: shapes/1, built 2026-01-01.\n")
    rows = [line for line in told.splitlines() if line.startswith("| q8 ")]
    assert len(rows) == 4
    old, new = (cell.strip() for cell in rows[1].strip("|").split("|")[2:])
    assert old != new


def test_a_limit_that_was_loosened_is_told(verified: Verified, tmp_path: Path) -> None:
    stricter = {
        "all": {"label_agreement": 0.95}, "fp32": {"max_difference": 1e-5},
        "q8": {"accuracy_loss_points": 2.0, "size_vs_fp32": 0.5},
    }  # fmt: skip
    told = record(verified, before(tmp_path, limits=stricter))
    assert "- Limit of Same answer as the judge, q8: 95.00 % before, 90.00 % now." in told
    assert "Limit of Right answers lost" not in told


def test_another_best_and_another_judge_are_told(verified: Verified, tmp_path: Path) -> None:
    was = before(tmp_path)
    contract = was.contract.model_copy(update={"best": {"cpu": "fp32", "wasm": "q8"}})
    evidence = was.evidence.model_copy(update={"judge": "PyTorch 2.12.0"})
    told = record(verified, Before(contract, evidence))
    assert "- Best on cpu: fp32 before, q8 now." in told
    assert "Best on wasm" not in told
    assert "- Best on webgpu: none before, q8 now." in told
    assert "- The judge was PyTorch 2.12.0." in told


def test_equal_evidence_gives_equal_bytes_in_under_120_lines(
    verified: Verified, tmp_path: Path
) -> None:
    was = before(tmp_path, seed=1)
    text = record(verified, was)
    assert text == record(verified, was)
    assert len(text.splitlines()) < 120


def test_what_people_wrote_is_no_markup(verified: Verified) -> None:
    text = record(verified, event=EVENT.model_copy(update={"why": "a\n# b | <b>c</b> `d`"}))
    assert "Why: a # b \\| \\<b>c\\</b> \\`d\\`." in text
