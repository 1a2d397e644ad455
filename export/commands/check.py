"""`likewise check FILE`: whether an ONNX file loads, runs and agrees in the shipped runtimes."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from export.console import json_errors
from export.inspection.examine import Attempt, Examined, examining
from export.inspection.missing import Missing, missing_operators
from export.inspection.reason import Reason
from export.inspection.sandbox import Limits
from export.workspace import Workspace

MARKS = {True: "[green]yes[/]", False: "[red]no[/]", None: "[dim]-[/]"}


@dataclass(frozen=True)
class Checked:
    """All that was found out about one file."""

    found: Examined
    attempts: tuple[Attempt, ...]
    missing: Missing

    @property
    def holds(self) -> bool:
        """Whether the shipped wasm runtime loads it, runs it and agrees with the native one."""
        return any(a.backend == "wasm" and a.loads and a.runs and a.agrees for a in self.attempts)


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--feeds",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="An .npz with a value for each input; random ones otherwise.",
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="NAME=N",
    help="The size of a free dimension; may be repeated.",
)
@click.option(
    "--seconds",
    type=click.IntRange(1, 3600),
    default=60,
    show_default=True,
    help="Processor time that the file may take natively.",
)
@click.option(
    "--memory-mb",
    type=click.IntRange(64, 65536),
    default=4096,
    show_default=True,
    help="Memory that the file may take natively.",
)
@click.option(
    "--web",
    type=click.Path(path_type=Path, file_okay=False),
    default=Workspace().web,
    envvar="LIKEWISE_WEB",
    help="The built page.  [default: web/dist]",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON, for machines.")
def check(
    file: Path, feeds: Path | None, sizes: Sequence[str], seconds: int, memory_mb: int, web: Path,
    as_json: bool,
) -> None:  # fmt: skip
    """Load and run an ONNX FILE in every shipped runtime, and say where it does not.

    The file may be anybody's: it is parsed and first run in a process of its own with little
    memory and time. Weights in other files are taken from its own folder only.

    \b
    Exit code: 0 only when the shipped wasm runtime loads it, runs it and agrees with the native.
    """
    limits = Limits(memory_mb * 2**20, seconds, 2.0 * seconds + 60)
    with json_errors(as_json):
        checked = check_model(file, web, limits, feeds, _named(sizes))
    if as_json:
        click.echo(as_document(checked))
    else:
        tell(Console(), checked)
    sys.exit(0 if checked.holds else 1)


def check_model(
    file: Path, web: Path, limits: Limits, feeds: Path | None = None,
    sizes: dict[str, int] | None = None,
) -> Checked:  # fmt: skip
    """Examine the file natively, then in the browser, unless it was refused before.

    Raises SetupError when there is no built page or no browser.
    """
    from export.inspection.shipped import WEB, attempt, raw_page

    with examining(file, limits=limits, feeds=feeds, sizes=sizes) as (found, model):
        if found.refused:
            first = next(r for r in found.reasons if r.before == "running")
            why = Reason(first.code, f"{file.name}: not opened in a browser: {first.code}")
            browser = [Attempt(WEB, backend, why=why) for backend in ("wasm", "webgpu")]
            return Checked(found, (found.native, *browser), {})
        with raw_page(_serving(web)) as page:
            wasm, webgpu = (attempt(page, found, model, b) for b in ("wasm", "webgpu"))
            attempts = (found.native, wasm, webgpu)
            return Checked(found, attempts, missing_operators(model, attempts, page, limits))


@contextlib.contextmanager
def _serving(web: Path) -> Iterator[str]:
    """The built page alone, by the real server with its real headers."""
    import tempfile

    from server.process import running_server

    with (
        tempfile.TemporaryDirectory(prefix="likewise-check-") as empty,
        running_server(Path(empty), web) as server,
    ):
        yield server.url


def as_document(checked: Checked) -> str:
    """The whole outcome as one JSON document."""
    found = checked.found
    document = {
        "file": found.path.name,
        "holds": checked.holds,
        **found.about,
        "tried_with": found.tried,
        "batches": [next((len(v) for v in one.values() if v.ndim), 1) for one in found.feeds],
        "runtimes": [_as_json(one) for one in checked.attempts],
        "missing_operators": checked.missing,
        "reasons": [asdict(reason) for reason in found.reasons],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)


def tell(console: Console, checked: Checked) -> None:
    """A table of runtimes, what is missing operator by operator, and what stands against it."""
    found = checked.found
    console.print(f"[bold]{found.path.name}[/]  {_summary(found)}", highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("runtime", "backend", "loads", "runs", "agrees"):
        table.add_column(title, no_wrap=True)
    table.add_column("why not", overflow="fold")
    for one in checked.attempts:
        marks = [MARKS[value] for value in (one.loads, one.runs, one.agrees)]
        why = one.why.message.removeprefix(f"{found.path.name}: ") if one.why else ""
        why = _plain(why.removeprefix(f"{one.runtime} {one.backend} ").removeprefix(one.runtime))
        table.add_row(one.runtime, one.backend, *marks, why)
    console.print(table)
    if checked.missing:
        _tell_missing(console, checked.missing)
    for before, title in (("running", "Refused"), ("publishing", "Before it can be published")):
        reasons = [reason for reason in found.reasons if reason.before == before]
        if reasons:
            console.print(f"{title}:")
        for reason in reasons:
            console.print(f"  {reason}", highlight=False, markup=False, soft_wrap=True)


def _tell_missing(console: Console, missing: Missing) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("operator", "missing in"):
        table.add_column(title, no_wrap=True)
    table.add_column("as it says", overflow="fold")
    for operator, places in missing.items():
        for where, why in places.items():
            table.add_row(_plain(operator), where, _plain(why))
    console.print(table)


def _summary(found: Examined) -> str:
    if not found.about:
        return ""
    opsets = ", ".join(f"{_plain(d)} {v}" for d, v in found.about["opsets"].items())
    count = sum(found.about["operators"].values())
    batches = [next((len(v) for v in one.values() if v.ndim), 1) for one in found.feeds]
    tried = (
        f"; run with batches of {' and '.join(map(str, batches))}, {found.tried}" if batches else ""
    )
    return f"{count} nodes, opset {opsets}, IR {found.about['ir']}{tried}"


def _plain(text: str) -> str:
    """A file's words are no markup."""
    return text.replace("[", "\\[")


def _as_json(one: Attempt) -> dict[str, Any]:
    finite = one.difference is None or one.difference < float("inf")
    return {**asdict(one), "difference": one.difference if finite else None}


def _named(sizes: Sequence[str]) -> dict[str, int]:
    named = {}
    for text in sizes:
        name, _, number = text.partition("=")
        if not name or not (number.isascii() and number.isdigit()):
            raise click.BadParameter(f"{text!r} is not NAME=N", param_hint="--size")
        named[name] = int(number)
    return named
