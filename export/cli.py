"""The command `likewise`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from export.console import ConsoleReport, JsonReport, built_json, built_text, error_json
from export.errors import LikewiseError, Refused
from export.pipeline import build as build_model
from export.workspace import Workspace

_PATHS = Workspace()
PIPED_WIDTH = 140  # columns of what is written to a file
models_option = click.option(
    "--models", type=click.Path(path_type=Path, file_okay=False), default=_PATHS.models,
    envvar="LIKEWISE_MODELS", help="Folder of recipes and published versions.  [default: models]",
)  # fmt: skip
web_option = click.option(
    "--web", type=click.Path(path_type=Path, file_okay=False), default=_PATHS.web,
    envvar="LIKEWISE_WEB", help="The built page.  [default: web/dist]",
)  # fmt: skip
work_option = click.option(
    "--work", type=click.Path(path_type=Path, file_okay=False), default=_PATHS.work,
    envvar="LIKEWISE_WORK", help="Folder of caches; may be deleted.  [default: .likewise]",
)  # fmt: skip
by_option = click.option(
    "--by", default="", envvar="LIKEWISE_PUBLISHER", help="Who does this; goes into the record."
)
why_option = click.option("--why", default="", help="What for; goes into the record.")
json_option = click.option("--json", "as_json", is_flag=True, help="Answer in JSON, for machines.")


# Commands with files of their own, imported when they are called: some bring half a second of onnx.
COMMANDS = ("check", "init", "inspect", "report", "rollback", "versions")


class LikewiseGroup(click.Group):
    """Errors that a user can act on are told in one line, never as a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return sorted({*super().list_commands(ctx), *COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, from its own file when it has one."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"export.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except LikewiseError as error:
            click.echo(f"{error.code}: {error}", err=True)
            sys.exit(1)


@click.group(
    cls=LikewiseGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="likewise")
def main() -> None:
    """From a trained model to a web page that runs it on the visitor's own device, with evidence.

    \b
    Begin with a recipe, models/NAME/recipe.toml (docs/add-a-model.md), then:
      likewise build NAME      export, quantise, verify in a real browser, publish
      likewise serve           look at it
    """


@main.command()
@click.argument("name")
@models_option
@web_option
@work_option
@click.option(
    "--trust", is_flag=True,
    help="Load a model that is a pickle: it can run any code. Only for files of people you trust.",
)  # fmt: skip
@by_option
@why_option
@json_option
def build(
    name: str, models: Path, web: Path, work: Path, trust: bool, by: str, why: str, as_json: bool
) -> None:
    """Build model NAME from its recipe and publish it, if every limit of the recipe holds.

    Stages: source, export, check, quantise, verify, gate, publish. What did not change is taken
    from the cache. A refused or interrupted build leaves models/ as it was.

    \b
    Exit code: 0 published or unchanged, 1 refused or failed, 130 interrupted.
    """
    from export.browser import open_page
    from server.process import running_server

    @contextlib.contextmanager
    def serving(folder: Path) -> Iterator[str]:
        with running_server(folder, workspace.web) as server:
            yield server.url

    workspace = Workspace(models.resolve(), web.resolve(), work.resolve())
    console = Console(stderr=as_json)
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    report = JsonReport() if as_json else ConsoleReport(console)
    if not as_json:
        console.print(f"[bold]{name}[/]")
    try:
        page = open_page(serving)
        built = build_model(workspace, name, page, report, trust=trust, by=by, why=why)
    except LikewiseError as error:
        _quiet(report)
        if as_json:
            click.echo(error_json(error, report.last if isinstance(report, JsonReport) else None))
        else:
            _tell_error(console, name, error)
        sys.exit(1)
    except KeyboardInterrupt:
        _quiet(report)
        click.echo(f"Interrupted; models/{name} is as it was.", err=True)
        sys.exit(130)
    click.echo(built_json(built) if as_json else built_text(built))


@main.command()
@models_option
@web_option
@click.option("--host", default="127.0.0.1", envvar="LIKEWISE_HOST", show_default=True)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    envvar="LIKEWISE_PORT",
    show_default=True,
    help="0: any free one.",
)
@json_option
def serve(models: Path, web: Path, host: str, port: int, as_json: bool) -> None:
    """Serve the page, the published versions and the Open Inference Protocol v2."""
    from server.config import from_environment
    from server.process import serve as serve_forever

    config = replace(from_environment(), models=models, web=web, host=host, port=port)
    serve_forever(config, json=as_json)


def _quiet(report: ConsoleReport | JsonReport) -> None:
    if isinstance(report, ConsoleReport):
        report.quiet()


def _tell_error(console: Console, name: str, error: LikewiseError) -> None:
    if isinstance(error, Refused):
        count = len(error.reasons)
        console.print(f"  [bold red]refused[/]   {count} {'reason' if count == 1 else 'reasons'}")
        for reason in error.reasons:
            console.print(f"            {reason}", highlight=False, markup=False, soft_wrap=True)
        console.print(f"Nothing was published; models/{name} is as it was.")
    else:
        console.print(
            f"{error.code}: {error}", style="red", highlight=False, markup=False, soft_wrap=True
        )
