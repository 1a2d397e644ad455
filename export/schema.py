"""The JSON Schemas of a version's JSON files and of index.json, for every other language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from export.contract import Contract, Index
from export.evidence import Details, Evidence

FILES: dict[str, type[BaseModel]] = {
    "contract.schema.json": Contract,
    "index.schema.json": Index,
    "evidence.schema.json": Evidence,
    "details.schema.json": Details,
}


def write_schemas(folder: Path) -> list[Path]:
    """Write the schemas into `folder`; returns the paths."""
    paths = []
    for name, model in FILES.items():
        path = folder / name
        schema = _untitled(model.model_json_schema(mode="serialization"))
        schema["title"] = model.__name__
        path.write_text(json.dumps(schema, indent=1) + "\n")
        paths.append(path)
    return paths


def _untitled(node: Any) -> Any:
    """Without pydantic's titles: the generator would make a named type of each property."""
    if isinstance(node, dict):
        return {
            k: _untitled(v) for k, v in node.items() if not (k == "title" and isinstance(v, str))
        }
    return [_untitled(item) for item in node] if isinstance(node, list) else node


if __name__ == "__main__":
    write_schemas(Path(__file__).parent.parent / "web" / "src" / "shared")
