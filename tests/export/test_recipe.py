"""What a wrong recipe.toml is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from export.errors import RecipeError
from export.recipe import read_recipe
from export.workspace import ROOT

WRONG = [
    ('kind = "drawing"', 'kind = "drawin"', "input: Input tag 'drawin'"),
    ("top_k  = 3", "top_k  = 0", "output.top_k"),
    ("top_k  = 3", "topk = 3", "output.topk"),
    ("size     = [28, 28]", "size     = [28]", "input.tensor.size"),
    ("size     = [28, 28]", "", "a drawing has tensor.size"),
    ('channels = "grey"', 'channels = "RGB"', 'a drawing has tensor.channels = "grey"'),
    ('channels = "grey"', 'channels = "grey"\nscale = "one"', 'give a number or "1/255"'),
    ('channels = "grey"', 'channels = "grey"\nstd = [0.0]', "input.tensor.std.0"),
    ('channels = "grey"', 'channels = "grey"\nmean = [1, 2]', "mean has 2 values; give 1 or 1"),
    ('kind = "drawing"', 'kind = "drawing"\nbackground = "pink"', "give white, black, grey or"),
    ('kind = "drawing"', 'kind = "drawing"\nbackground = [1, 2, 300]', "each 0 to 255"),
    ('kind = "drawing"', 'kind = "drawing"\ncrop = { centre = 9 }', "input.crop: Extra inputs"),
    ('kind = "drawing"', 'kind = "drawing"\ncolour_profile = "to-srgb"', "input.colour_profile"),
    ('offer = ["fp32", "q8"]', 'offer = ["q8"]', "name fp32"),
    ('entry     = "source:model"', 'entry     = "model"', "source.entry"),
    ("max_difference  = 1e-5", "max_diference = 1e-5", "limits.fp32.max_diference"),
    ('licence     = "MIT"', "", "licence: Field required"),
    (
        'licence     = "MIT"',
        'licence = " "',
        "is blank, and the model card has to say it",
    ),
    ("[output]", "[output", "not valid TOML"),
]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "tests/export/tiny", tmp_path / "tiny")
    return tmp_path / "tiny/recipe.toml"


@pytest.mark.parametrize(("old", "new", "told"), WRONG)
def test_a_wrong_recipe_names_file_field_and_remedy(
    tiny: Path, old: str, new: str, told: str
) -> None:
    text = tiny.read_text()
    assert old in text
    tiny.write_text(text.replace(old, new, 1))
    with pytest.raises(RecipeError) as caught:
        read_recipe(tiny.parent.parent, "tiny")
    assert str(tiny) in str(caught.value)
    assert told in str(caught.value)


@pytest.mark.parametrize("name", ["My_Model", "2024", "a/b", "../digits", ""])
def test_a_name_that_cannot_be_a_folder_and_an_address_is_refused(name: str) -> None:
    with pytest.raises(RecipeError, match="small letters, digits and hyphens"):
        read_recipe(ROOT / "models", name)


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(RecipeError, match=r"known models: .*breast-cancer, .*digits, "):
        read_recipe(ROOT / "models", "digit")


@pytest.mark.parametrize(
    "name", sorted(path.parent.name for path in (ROOT / "models").glob("*/recipe.toml"))
)
def test_the_recipes_of_the_repository_hold_fp32_to_the_framework(name: str) -> None:
    recipe = read_recipe(ROOT / "models", name)
    assert recipe.file.limits.of("fp32").max_difference is not None


def test_the_more_special_limit_wins() -> None:
    limits = read_recipe(ROOT / "models", "mobilenet").file.limits
    assert limits.of("q8").label_agreement == 0.95
    assert limits.of("fp32").label_agreement == 1.0
    assert limits.of("fp32", webgpu=True).max_difference == 1e-4
