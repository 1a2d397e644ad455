"""`likewise init`: a recipe drafted from a model's file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from export.workspace import Workspace


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--name", help="Of the new folder below models/.  [default: from the file]")
@click.option(
    "--models", type=click.Path(path_type=Path, file_okay=False), default=Workspace().models,
    envvar="LIKEWISE_MODELS", help="Folder of recipes and published versions.  [default: models]",
)  # fmt: skip
@click.option(
    "--work", type=click.Path(path_type=Path, file_okay=False), default=Workspace().work,
    envvar="LIKEWISE_WORK", help="Folder of caches; may be deleted.  [default: .likewise]",
)  # fmt: skip
@click.option("--trust", is_flag=True, help="Load a pickle, which can run any code.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON, for machines.")
def init(
    model: Path, name: str | None, models: Path, work: Path, trust: bool, as_json: bool
) -> None:
    """Draft models/NAME/recipe.toml for a trained MODEL: a file, or a folder.

    Known are ONNX, Keras, TensorFlow, TFLite, TorchScript, torch.export and scikit-learn files, and
    folders in the layout of Hugging Face. What only a person knows is left as a TODO line.
    """
    from export.drafting import initialise, look, new_folder
    from export.sample import SourceContext

    context = SourceContext(
        {}, work, work / "environments", trust, say=lambda text: click.echo(text, err=True)
    )
    model = model.absolute()  # "." has no name
    chosen = name or _name_of(model)
    folder = new_folder(models, chosen)  # before the long look
    recipe, todo = initialise(folder, look(model, context))
    if as_json:
        click.echo(json.dumps({"name": chosen, "recipe": str(recipe), "todo": todo}, indent=1))
        return
    click.echo(f"Wrote {recipe}. Before `likewise build {chosen}`:")
    for line in todo:
        click.echo(f"  - {line}")


def _name_of(model: Path) -> str:
    """A name for the folder, from the file's: lower case, hyphens."""
    stem = model.name if model.is_dir() else model.stem
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in stem.lower()).strip("-")
    return name if name[:1].isalpha() else f"model-{name}".strip("-")
