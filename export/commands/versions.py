"""`likewise versions`: what is published, what was, and who changed it."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from export.cli import PIPED_WIDTH, json_option, models_option
from export.console import json_errors
from export.contract import Event, Index, IndexEntry, read_contract
from export.errors import ContractError
from export.listed import listed_index, listed_model

WRAPPED = {"versions", "variants", "best", "by", "why"}
ACTIONS = {"publish": "published", "rollback": "rolled back to"}


@click.command()
@click.argument("name", required=False)
@models_option
@json_option
def versions(name: str | None, models: Path, as_json: bool) -> None:
    """List the published models; of model NAME every version, and the record of changes."""
    with json_errors(as_json):
        shown = listed_model(models, name) if name else listed_index(models)
    if as_json:
        click.echo(shown.model_dump_json(indent=1))
        return
    console = Console()
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    if isinstance(shown, IndexEntry):
        console.print(f"[bold]{name}[/]  {escape(shown.title)}", highlight=False)
        tables = _versions(models / str(name), shown), _history(shown)
        console.print(tables[0], "", tables[1], sep="\n")
    elif shown.models:
        console.print(_models(shown))
    else:
        console.print("Nothing is published yet; `likewise build NAME` publishes.")


def _models(index: Index) -> Table:
    table = _table("model", "current", "versions", "kind", "when", "what", "by", "why")
    for name, entry in index.models.items():
        numbers = ", ".join(map(str, entry.versions))
        last = _told(entry.history[-1]) if entry.history else (entry.published, "", "", "")
        table.add_row(name, str(entry.version), numbers, entry.kind, *last)
    return table


def _versions(home: Path, entry: IndexEntry) -> Table:
    table = _table("version", "", "built", "variants", "best")
    for version in reversed(entry.versions):
        mark = "current" if version == entry.version else ""
        table.add_row(str(version), mark, *_about(home / str(version)))
    return table


def _about(folder: Path) -> tuple[str, str, str]:
    try:
        contract = read_contract(folder / "contract.json")
    except ContractError as error:  # an old version must not hide the others
        return "", escape(f"not readable: {error}"), ""
    sizes = ", ".join(f"{v.name} {v.size_bytes / 1e6:.2f} MB" for v in contract.variants)
    best = ", ".join(f"{variant} on {backend}" for backend, variant in contract.best.items())
    return contract.provenance.built, sizes, best


def _history(entry: IndexEntry) -> Table:
    table = _table("when", "what", "by", "why")
    for event in reversed(entry.history):
        table.add_row(*_told(event))
    return table


def _told(event: Event) -> tuple[str, str, str, str]:
    when = event.at.replace("T", " ").removesuffix("Z") + " UTC"
    return when, f"{ACTIONS[event.action]} {event.version}", escape(event.by), escape(event.why)


def _table(*titles: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in titles:
        table.add_column(title, overflow="fold", no_wrap=title not in WRAPPED)
    return table
