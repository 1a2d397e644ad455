"""The inputs on which the page's variant is furthest from the judge, shown as what they are."""

from __future__ import annotations

import base64
import io
import json
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageOps

from export.contract import Example
from export.evidence import Detail, Worst
from export.evidence_words import WHERE, difference, one_line, size
from export.report.version import Reported

SIDE = 192  # pixels of a thumbnail, twice its size on the page
SMALL = 64  # pixels: a picture of few pixels is shown with hard edges
MOST_CHARACTERS = 160


@dataclass(frozen=True)
class Shown:
    """One input. `picture` is a data URI, `text` what stands in its place."""

    id: str
    title: str
    picture: str | None
    hard: bool
    text: str
    judge: str
    got: str
    difference: str
    changed: bool


@dataclass(frozen=True)
class Group:
    """The worst of one set of data."""

    title: str
    note: str
    shown: list[Shown]
    pictured: bool


def worst_groups(reported: Reported) -> list[Group]:
    """Golden examples as what they are, then labelled data, of which the version has no copy."""
    groups = []
    for data in ("golden examples", "labelled data"):
        one = reported.detail(reported.used, data)
        if one is not None and one.worst:
            groups.append(_group(reported, one))
    return groups


def _group(reported: Reported, one: Detail) -> Group:
    examples = {example.id: example for example in reported.contract.examples}
    shown = [_shown(reported, item, examples.get(item.id)) for item in one.worst]
    note = f"{one.variant}, {one.count:,} {one.data}, {WHERE[one.where]}"
    pictured = any(item.picture or item.text for item in shown)
    return Group(f"Of the {one.data}", note, shown, pictured)


def _shown(reported: Reported, item: Worst, example: Example | None) -> Shown:
    picture, hard = _picture(reported.folder, example) if example else (None, False)
    text = _text(reported.folder, example) if example and picture is None else ""
    labelled = reported.contract.decision.kind == "scores"
    return Shown(
        item.id, example.title if example else item.id, picture, hard, text, item.judge, item.got,
        difference(item.difference), labelled and _label(item.judge) != _label(item.got),
    )  # fmt: skip


def _label(words: str) -> str:
    """Of "tabby cat 0.831" the label."""
    return words.rsplit(" ", 1)[0]


def _picture(folder: Path, example: Example) -> tuple[str | None, bool]:
    if not example.media_type.startswith("image/"):
        return None, False
    with Image.open(folder / example.input.file) as opened:
        image = ImageOps.exif_transpose(opened).convert("RGBA")
    hard = max(image.size) <= SMALL
    image.thumbnail((SIDE, SIDE))
    ground = Image.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    kept = io.BytesIO()
    kind = "PNG" if hard or example.media_type == "image/png" else "JPEG"
    ground.save(kept, kind, optimize=True)
    data = base64.b64encode(kept.getvalue()).decode()
    return f"data:image/{kind.lower()};base64,{data}", hard


def _text(folder: Path, example: Example) -> str:
    data = (folder / example.input.file).read_bytes()
    match example.media_type:
        case "text/plain":
            return _cut(data.decode(errors="replace"))
        case "application/json":
            return _row(data)
        case "audio/wav":
            return f"sound, {size(len(data))}"
        case _:
            return f"{size(len(data))} of data"


def _row(data: bytes) -> str:
    values = json.loads(data)
    if not isinstance(values, dict):
        return _cut(str(values))
    return _cut(", ".join(f"{name} {value}" for name, value in values.items()))


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS].rstrip()} …"
