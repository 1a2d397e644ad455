"""Sample sets from files beside the recipe: rows, lines, globs, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from export.data import read_set
from export.errors import LikewiseError, RecipeError, SourceError
from export.recipe import Recipe, RecipeFile
from export.sample import Sample
from export.samples import check_samples

LABELS = ["no", "yes"]
COLUMNS = [{"name": n, "title": n, "type": "number"} for n in ("width", "height")]
TABLE = {"kind": "table", "columns": COLUMNS}
TEXT = {"kind": "text", "tokenizer": "tokenizer.json"}
IMAGE = {"kind": "image", "tensor": {"size": [8, 8]}}


def read(folder: Path, given: dict[str, Any], named: str) -> list[Sample]:
    file = RecipeFile.model_validate({
        "title": "t", "description": "d", "task": "any", "licence": "MIT",
        "source": {"kind": "onnx", "file": "model.onnx"}, "input": given,
        "output": {"kind": "scores", "labels": "labels.txt"},
        "data": {"about": "none", "examples": named}, "limits": {},
    })  # fmt: skip
    return read_set(Recipe("sets", folder, file), None, named, LABELS)


def test_a_row_is_one_sample_and_its_label_no_column(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("width,height,label\n1.5,2,yes\n3,4,no\n")
    samples = read(tmp_path, TABLE, "rows.csv")
    assert [json.loads(sample.data) for sample in samples] == [
        {"width": "1.5", "height": "2"},
        {"width": "3", "height": "4"},
    ]
    assert [sample.label for sample in samples] == [1, 0]
    assert [sample.id for sample in samples] == ["line-2", "line-3"]


def test_rows_need_no_labels(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("width,height\n1,2\n")
    assert [sample.label for sample in read(tmp_path, TABLE, "rows.csv")] == [None]


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes("\ufeffwidth,height\r\n1,2\r\n".encode())
    (sample,) = read(tmp_path, TABLE, "rows.csv")
    assert json.loads(sample.data) == {"width": "1", "height": "2"}


def test_an_unknown_label_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("width,height,label\n1,2,yes\n1,2,maybe\n")
    with pytest.raises(SourceError, match=r"rows\.csv, line 3: the label 'maybe' is none of"):
        read(tmp_path, TABLE, "rows.csv")


@pytest.mark.parametrize("row", ["1", "1,2,yes,4"])
def test_a_row_of_another_length_is_told_with_its_line(tmp_path: Path, row: str) -> None:
    (tmp_path / "rows.csv").write_text(f"width,height,label\n1,2,no\n{row}\n")
    with pytest.raises(SourceError, match=r"rows\.csv, line 3: "):
        read(tmp_path, TABLE, "rows.csv")


def test_each_line_of_a_text_file_is_one_text(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("Grüße\n\n  \nsecond, line\n", encoding="utf-8")
    samples = read(tmp_path, TEXT, "texts.txt")
    assert [sample.data.decode() for sample in samples] == ["Grüße", "second, line"]
    assert [sample.id for sample in samples] == ["line-1", "line-4"]


def test_a_csv_of_texts_has_a_column_text_and_labels(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text('text,label\n"one, two",yes\n"two\nlines",no\n')
    samples = read(tmp_path, TEXT, "texts.csv")
    assert [sample.data for sample in samples] == [b"one, two", b"two\nlines"]
    assert [sample.label for sample in samples] == [1, 0]


def test_a_csv_of_texts_without_a_column_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("sentence\nhello\n")
    with pytest.raises(SourceError, match="text"):
        read(tmp_path, TEXT, "texts.csv")


def test_a_glob_takes_files_in_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "examples/folder.jpg").mkdir(parents=True)
    for name in ("b two.jpg", "a.jpg", "c.png"):
        (tmp_path / "examples" / name).write_bytes(name.encode())
    samples = read(tmp_path, IMAGE, "examples/*.jpg")
    assert [sample.data for sample in samples] == [b"a.jpg", b"b two.jpg"]
    assert [sample.id for sample in samples] == ["a", "b-two"]
    assert [sample.title for sample in samples] == ["a", "b two"]
    check_samples("examples", samples, len(LABELS))


def test_texts_may_be_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("two\nlines")
    assert [sample.data for sample in read(tmp_path, TEXT, "*.txt")] == [b"two\nlines"]


@pytest.mark.parametrize(
    ("given", "named", "kind", "told"),
    [
        (TABLE, "rows.csv", RecipeError, "rows.csv: the recipe's"),
        (TEXT, "texts.txt", RecipeError, "texts.txt: the recipe's"),
        (IMAGE, "examples/*.jpg", RecipeError, "no file is called so"),
        (IMAGE, "source:examples", RecipeError, "there is no source.py"),
    ],
)
def test_what_is_missing_is_told(
    tmp_path: Path, given: dict[str, Any], named: str, kind: type[LikewiseError], told: str
) -> None:
    with pytest.raises(kind, match=told):
        read(tmp_path, given, named)


def test_an_empty_table_is_refused_as_nothing_to_compare(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("width,height\n")
    with pytest.raises(SourceError, match="no sample"):
        check_samples("examples", read(tmp_path, TABLE, "rows.csv"), len(LABELS))


def test_a_file_in_another_encoding_is_told_where(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_bytes("ab Grüße".encode("latin-1"))
    with pytest.raises(SourceError, match=r"texts\.txt: byte 5 is no UTF-8"):
        read(tmp_path, TEXT, "texts.txt")
