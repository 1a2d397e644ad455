"""`likewise rollback`: an earlier version becomes the current one again."""

from __future__ import annotations

from pathlib import Path

import click

from export.cli import by_option, json_option, models_option, why_option
from export.console import json_errors


@click.command()
@click.argument("name")
@click.argument("version", type=click.IntRange(1), required=False)
@models_option
@by_option
@why_option
@json_option
def rollback(
    name: str, version: int | None, models: Path, by: str, why: str, as_json: bool
) -> None:
    """Make an earlier VERSION of model NAME the current one; without it, the one before.

    Every file is compared with its hash first. Pages that are open change at their next look at the
    server. `likewise versions NAME` shows what there is, and the record.

    \b
    Exit code: 0 rolled back, 1 refused; the current version is then as it was.
    """
    from export.stages.rollback import rollback as roll_back

    with json_errors(as_json):
        event = roll_back(models, name, version, by=by, why=why)
    if as_json:
        click.echo(event.model_dump_json(indent=1))
    else:
        click.echo(f"{name}/{event.version} is the current version again")
