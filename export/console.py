"""How a build is told: lines and a table for people, one JSON document for machines."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click
from rich.console import Console
from rich.padding import Padding
from rich.status import Status
from rich.table import Table

from export.contract import Contract, VariantName
from export.errors import LikewiseError, Refused
from export.evidence import Evidence, Measurement, What, Where
from export.evidence_words import STATUS
from export.pipeline import Built

COLUMNS: tuple[tuple[str, What], ...] = (
    ("right", "accuracy"),
    ("agree", "label_agreement"),
    ("cosine", "cosine"),
    ("max diff", "max_difference"),
    ("in batch", "batch_difference"),
    ("p", "paired_p_value"),
    ("time", "time_vs_fp32"),
)
FINE = {"max_difference", "batch_difference"}
TIMES = {"median_ms", "p95_ms", "time_vs_fp32"}  # on the golden examples, counted in runs


PLACES: dict[Where, str] = {
    "publication": "publication",
    "python-cpu": "python cpu",
    "chromium-wasm-1-thread": "wasm 1 thread",
    "chromium-wasm-2-threads": "wasm 2 threads",
    "chromium-webgpu": "webgpu",
}


class ConsoleReport:
    """Progress for people: a line a stage, a spinner with words while one runs."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None

    def now(self, stage: str, text: str) -> None:
        """Say what is being done at this moment."""
        if not self._console.is_terminal:
            return
        if self._status is None:
            self._status = self._console.status("")
            self._status.start()
        self._status.update(f"{stage}: {text}")

    def stage(self, name: str, text: str, seconds: float) -> None:
        """One line of a finished stage."""
        self.quiet()
        time = f"{seconds:.0f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
        self._console.print(
            f"  [bold]{name:<9}[/] {text}  [dim]{time}[/]", highlight=False, soft_wrap=True
        )

    def evidence(self, evidence: Evidence) -> None:
        """The table of measurements."""
        self.quiet()
        self._console.print(
            *_decoder_lines(evidence.measurements), sep="\n", highlight=False, soft_wrap=True
        )
        self._console.print(Padding(evidence_table(evidence), (0, 0, 0, 4)))
        for note in evidence.notes:
            self._console.print(f"            [dim]{note}[/]", highlight=False)

    def quiet(self) -> None:
        """Stop the spinner."""
        if self._status is not None:
            self._status.stop()
            self._status = None


class JsonReport:
    """Progress for machines: nothing until the end."""

    def now(self, stage: str, text: str) -> None:
        """Say nothing."""

    def stage(self, name: str, text: str, seconds: float) -> None:
        """Say nothing."""

    def evidence(self, evidence: Evidence) -> None:
        """Keep it for the end."""
        self.last = evidence

    last: Evidence | None = None


def evidence_table(evidence: Evidence) -> Table:
    """A row for each variant and place; a missed limit is marked and named beside its value."""
    measured = {item.what for item in evidence.measurements}
    columns = [(title, what) for title, what in COLUMNS if what in measured]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("variant", "where", "on", *(title for title, _ in columns)):
        table.add_column(title, no_wrap=True)
    rows: dict[tuple[VariantName, Where, str], dict[What, Measurement]] = {}
    for item in evidence.measurements:
        if item.variant and item.where != "publication" and item.what not in TIMES:
            row = (item.variant, item.where, _short(item))
            rows.setdefault(row, {})[item.what] = item
    times = {(m.variant, m.where): m for m in evidence.measurements if m.what == "time_vs_fp32"}
    for (variant, where, data), values in rows.items():
        cells = [_cell(values.get(what)) for _, what in columns[:-1]]
        cells.append(_cell(times.get((variant, where))) if data == "golden" else "")
        count = values["max_difference"].count
        table.add_row(variant, PLACES[where], f"{count:,} {data}", *cells)
    return table


def _decoder_lines(measurements: Sequence[Measurement]) -> list[str]:
    return [
        f"            input tensors, {PLACES[m.where]}: {m.value:.0f} bytes differ"
        f" on {m.count:,} {_short(m)}"
        for m in measurements
        if m.what == "differing_input_bytes"
    ]


def _short(item: Measurement) -> str:
    return "golden" if item.data == "golden examples" else "labelled"


def _cell(item: Measurement | None) -> str:
    if item is None:
        return ""
    text = f"{item.value:.1e}" if item.what in FINE else f"{item.value:.4g}"
    if item.low is not None and item.high is not None:
        text += f" ({item.low:.3g}-{item.high:.3g})"
    if item.passed is False:
        return f"[red]{text} (limit {item.limit:g})[/]"
    return text


def built_text(built: Built) -> str:
    """The closing lines: what is published, and what is not offered where, and why."""
    name = f"{built.contract.name}/{built.contract.version}"
    best = ", ".join(f"{variant} on {backend}" for backend, variant in built.contract.best.items())
    done = "Published" if built.new else "Unchanged since it was published:"
    return "\n".join([f"{done} {name}; best: {best}", *_not_offered(built.contract)])


def _not_offered(contract: Contract) -> Iterator[str]:
    for variant in contract.variants:
        for backend, result in variant.backends.items():
            if result.status != "passed":
                yield f"  {variant.name} on {backend}: {STATUS[result.status]}: {result.why}"


def built_json(built: Built) -> str:
    """The whole outcome as one JSON document."""
    return _json(
        {
            "outcome": "published" if built.new else "unchanged",
            "name": built.contract.name,
            "version": built.contract.version,
            "best": built.contract.best,
            "evidence": built.evidence.model_dump(mode="json"),
        }
    )


@contextlib.contextmanager
def json_errors(as_json: bool) -> Iterator[None]:
    """With --json a command's errors are JSON as well; the command then ends with exit code 1."""
    try:
        yield
    except LikewiseError as error:
        if not as_json:
            raise
        click.echo(error_json(error))
        sys.exit(1)


def error_json(error: LikewiseError, evidence: Evidence | None = None) -> str:
    """The one error shape; a refusal carries all its reasons, and what was measured."""
    document: dict[str, Any] = {"error": {"code": error.code, "message": str(error)}}
    if isinstance(error, Refused):
        document["error"]["reasons"] = list(error.reasons)
    if evidence is not None:
        document["evidence"] = evidence.model_dump(mode="json")
    return _json(document)


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
