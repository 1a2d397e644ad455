"""The version's README.md: a Hugging Face model card, written from the evidence."""

from __future__ import annotations

from collections.abc import Iterable

from export.contract import Provenance
from export.evidence import Evidence, Measurement
from export.recipe import Recipe


def model_card(recipe: Recipe, version: int, evidence: Evidence, provenance: Provenance) -> str:
    """Markdown with front matter: what it is, what it was measured to be, where it comes from."""
    file = recipe.file
    return "\n".join(
        [
            "---",
            f"license: {file.licence.lower()}",
            f"pipeline_tag: {file.task}",
            "library_name: onnx",
            "tags: [likewise, onnx]",
            "---",
            f"# {file.title}",
            "",
            f"{file.description} Version {version}, built {provenance.built}.",
            "",
            "## Measured",
            f"Compared with: {evidence.judge}.",
            "",
            *_table(evidence.measurements),
            "",
            *(f"- {note}" for note in evidence.notes),
            "",
            "## Data",
            file.data.about,
            "",
            "## Made with",
            ", ".join(f"{tool} {number}" for tool, number in provenance.tools.items()) + ".",
            "",
        ]
    )


def _table(measurements: Iterable[Measurement]) -> list[str]:
    rows = [
        "| variant | where | measured on | what | value | limit |",
        "|---|---|---|---|---:|---:|",
    ]
    for item in measurements:
        limit = "" if item.limit is None else f"{item.rule} {item.limit:g}"
        value = f"{item.value:.4g} {item.unit}".strip()
        rows.append(
            f"| {item.variant or 'decoder'} | {item.where} | {item.count} {item.data} "
            f"| {item.what.replace('_', ' ')} | {value} | {limit} |"
        )
    return rows
