"""`likewise report`: a version's evidence as one page to look at, keep and send."""

from __future__ import annotations

import json
from pathlib import Path

import click

from export.cli import json_option, models_option
from export.console import json_errors
from export.errors import SetupError


@click.command()
@click.argument("name")
@click.option(
    "--version", type=click.IntRange(1), help="Which version.  [default: the current one]"
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write.  [default: NAME-VERSION.html, here]",
)  # fmt: skip
@click.option("--open", "show", is_flag=True, help="Open it in your browser.")
@models_option
@json_option
def report(
    name: str, version: int | None, out: Path | None, show: bool, models: Path, as_json: bool
) -> None:
    """Write the evidence of model NAME as one HTML page, with pictures.

    The page holds everything in itself: it can be kept, sent and printed, and asks nothing of the
    network. Every file of the version is compared with its hash first.

    \b
    Exit code: 0 written, 1 refused or failed.
    """
    with json_errors(as_json):
        file = write_report(models, name, version, out)
    if as_json:
        click.echo(json.dumps({"file": str(file), "size_bytes": file.stat().st_size}, indent=1))
    else:
        click.echo(f"Wrote {file}")
    if show:
        click.launch(file.resolve().as_uri())


def write_report(models: Path, name: str, version: int | None, out: Path | None) -> Path:
    """Write the page; SetupError when it cannot be, or would lie among the published versions."""
    from export.report import page
    from export.report.version import read_version

    reported = read_version(models, name, version)
    contract = reported.contract
    file = out or Path(f"{contract.name}-{contract.version}.html")
    if file.resolve().is_relative_to(models.resolve()):
        raise SetupError(f"{file}: lies in {models}, where only publish writes; give another --out")
    try:
        file.write_text(page(reported), encoding="utf-8")
    except OSError as error:
        raise SetupError(f"{file}: cannot be written: {error.strerror}") from error
    return file
