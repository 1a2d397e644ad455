"""`python -m server`: serve without the likewise command. Settings come from the environment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from export.errors import LikewiseError
from server.config import from_environment
from server.process import serve


@click.command()
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--models", type=click.Path(path_type=Path), help="Folder of the published models.")
@click.option("--web", type=click.Path(path_type=Path), help="Folder of the built page.")
@click.option("--json", "as_json", is_flag=True, help="Say the address as a line of JSON.")
def main(
    host: str | None, port: int | None, models: Path | None, web: Path | None, as_json: bool
) -> None:
    """Serve the page, the published models and the inference protocol."""
    try:
        config = from_environment()
        config = replace(
            config,
            host=host or config.host,
            port=config.port if port is None else port,
            models=(models or config.models).absolute(),
            web=(web or config.web).absolute(),
        )
        serve(config, json=as_json)
    except LikewiseError as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
