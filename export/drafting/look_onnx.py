"""Looking at .onnx files, and at folders in the layout of Hugging Face and Transformers.js."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto

from export.contract import Filter
from export.drafting.looked import Looked, PictureFacts, Port, sums_to_one
from export.errors import SourceError
from export.inspection.examine import refuse_hostile

DTYPES: dict[int, str] = {
    TensorProto.FLOAT: "float32", TensorProto.INT64: "int64", TensorProto.INT32: "int32",
    TensorProto.UINT8: "uint8", TensorProto.BOOL: "bool", TensorProto.STRING: "string",
}  # fmt: skip
# Pillow's numbers, as preprocessor_config.json writes them.
RESAMPLE: dict[int, Filter] = {1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box"}
MODEL_FILES = ("onnx/model.onnx", "model.onnx")
SHAPING = {"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Cast"}
MAX_JSON_BYTES = 20_000_000


def look_at_onnx(path: Path) -> Looked:
    """A single file; weights in files beside it are carried along."""
    tried = refuse_hostile(path).outputs
    model = read_graph(path)
    beside = {
        entry.value
        for tensor in model.graph.initializer
        for entry in tensor.external_data
        if entry.key == "location"
    }
    weights = {name: path.parent / name for name in sorted(beside)}
    inputs, outputs = ports(model)
    summing = {name for one in tried[:1] for name, values in one.items() if sums_to_one(values)}
    return Looked(
        kind="onnx", file=path.name, files={path.name: path, **weights}, inputs=inputs,
        outputs=tuple(
            replace(port, made_by="Softmax" if port.name in summing else _maker(model, port.name))
            for port in outputs
        ),
        framework="ONNX",
    )  # fmt: skip


def look_at_folder(folder: Path) -> Looked:
    """config.json, preprocessor_config.json, tokenizer.json and onnx/model.onnx."""
    found = next((name for name in MODEL_FILES if (folder / name).is_file()), None)
    if found is None:
        raise SourceError(f"{folder}: no {' or '.join(MODEL_FILES)} in it; name a model's file")
    model = look_at_onnx(folder / found)
    config = _json(folder / "config.json")
    tokenizer = "tokenizer.json" if (folder / "tokenizer.json").is_file() else None
    longest = _json(folder / "tokenizer_config.json").get("model_max_length")
    limit = config.get("max_position_embeddings")
    files = {"model.onnx" if n == Path(found).name else n: p for n, p in model.files.items()}
    if tokenizer:
        files[tokenizer] = folder / tokenizer
    names = config.get("id2label") or {}
    return Looked(
        kind="onnx", file="model.onnx", files=files, inputs=model.inputs, outputs=model.outputs,
        framework=f"ONNX, {config.get('model_type', 'of no named type')}",
        labels=tuple(str(names[key]) for key in sorted(names, key=int)),
        picture=_picture(_json(folder / "preprocessor_config.json")),
        tokenizer=tokenizer,
        max_tokens=_sensible(longest) or _sensible(limit),
    )  # fmt: skip


def read_graph(path: Path) -> onnx.ModelProto:
    """The graph without its external weights; SourceError when it is no ONNX file."""
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as error:  # protobuf's and onnx's errors share no base
        raise SourceError(f"{path}: not an ONNX file: {str(error).splitlines()[0]}") from error
    if not model.graph.node and not model.graph.output:
        raise SourceError(f"{path}: an ONNX file without a graph")
    return model


def ports(model: onnx.ModelProto) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """What a user gives and gets: weights that are listed as inputs are none."""
    weights = {tensor.name for tensor in model.graph.initializer}
    given = [value for value in model.graph.input if value.name not in weights]
    return tuple(map(_port, given)), tuple(map(_port, model.graph.output))


def _port(value: onnx.ValueInfoProto) -> Port:
    tensor = value.type.tensor_type
    kind = DTYPES.get(tensor.elem_type) or TensorProto.DataType.Name(tensor.elem_type).lower()
    if not tensor.HasField("shape"):
        return Port(value.name, kind, None)
    sizes = tuple(
        d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in tensor.shape.dim
    )
    return Port(value.name, kind, sizes)


def _maker(model: onnx.ModelProto, name: str) -> str:
    """The last operator that changes an output's values."""
    makers = {output: node for node in model.graph.node for output in node.output}
    for _ in range(len(makers)):
        node = makers.get(name)
        if node is None or node.op_type not in SHAPING:
            break
        name = node.input[0]
    return makers[name].op_type if name in makers else ""


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    if path.stat().st_size > MAX_JSON_BYTES:
        raise SourceError(f"{path}: {path.stat().st_size} bytes, limit {MAX_JSON_BYTES}")
    try:
        value = json.loads(path.read_text())
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise SourceError(f"{path}: a JSON object was expected")
    return value


def _picture(told: dict[str, Any]) -> PictureFacts | None:
    if not told:
        return None
    size, crop = told.get("size"), told.get("crop_size")
    side = _side(size, "shortest_edge", "height", "width")
    scaled = told.get("do_normalize", True)
    factor = float(told.get("rescale_factor", 1 / 255)) if told.get("do_rescale", True) else 1.0
    return PictureFacts(
        filter=RESAMPLE.get(told.get("resample", 2), "bilinear"),
        short_side=side,
        crop=_side(crop, "height", "width") if told.get("do_center_crop") else None,
        scale="1/255" if abs(factor - 1 / 255) < 1e-9 else repr(factor),
        mean=tuple(told.get("image_mean") or (0.0,)) if scaled else (0.0,),
        std=tuple(told.get("image_std") or (1.0,)) if scaled else (1.0,),
    )


def _side(value: Any, *keys: str) -> int | None:
    if isinstance(value, dict):
        return next((int(value[key]) for key in keys if key in value), None)
    return int(value) if isinstance(value, int | float) else None


def _sensible(value: Any) -> int | None:
    """Tokenizers without a limit write 1e30."""
    return int(value) if isinstance(value, int | float) and 1 <= value <= 100_000 else None
