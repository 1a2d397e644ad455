"""Looking at PyTorch, scikit-learn and Keras files, without running what they hold."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from export.drafting.looked import Looked, Port
from export.errors import SourceError

MAX_CONFIG_BYTES = 20_000_000


def look_at_torch(path: Path) -> Looked:
    """TorchScript or a program of torch.export: names of inputs, not always their shapes."""
    import torch

    if path.suffix == ".pt2":
        inputs, count = _program(path)
    else:
        inputs, count = _script(path)
    return Looked(
        kind="torchscript" if path.suffix != ".pt2" else "torch", file=path.name,
        files={path.name: path}, inputs=inputs,
        outputs=tuple(Port(f"output_{i}", "float32", None) for i in range(count)),
        framework=f"PyTorch {torch.__version__.split('+')[0]}",
        notes=("The file does not tell its shapes: fill in those of the training.",),
    )  # fmt: skip


def look_at_sklearn(path: Path, *, trust: bool) -> Looked:
    """An estimator in a .skops or (trusted) .joblib file: its columns and classes."""
    import sklearn

    from export.sources.from_sklearn import load_file

    estimator = load_file(path, trust=trust)
    names = tuple(str(name) for name in getattr(estimator, "feature_names_in_", ()))
    count = int(getattr(estimator, "n_features_in_", len(names) or 1))
    labels = tuple(str(label) for label in getattr(estimator, "classes_", ()))
    output = Port("scores" if labels else "value", "float32", ("batch", len(labels) or 1))
    return Looked(
        kind="sklearn", file=path.name, files={path.name: path},
        inputs=(Port("features", "float32", ("batch", count)),), outputs=(output,),
        framework=f"scikit-learn {sklearn.__version__}", labels=labels, columns=names,
    )  # fmt: skip


def look_at_keras(path: Path) -> Looked:
    """A .keras file: the input shape in its config.json, without loading anything."""
    config = _config(path)
    shape = _find(config, "batch_shape") or _find(config, "batch_input_shape")
    build = _find(config, "build_config")
    if shape is None and isinstance(build, dict):
        shape = build.get("input_shape")
    sizes = tuple(size if isinstance(size, int) else None for size in shape) if shape else None
    last = _layers(config)[-1:] or [{}]
    units = last[0].get("config", {}).get("units")
    activation = str(last[0].get("config", {}).get("activation", ""))
    return Looked(
        kind="keras", file=path.name, files={path.name: path},
        inputs=(Port("input", "float32", sizes),),
        outputs=(Port("output", "float32", (None, units)),),
        framework="Keras 3", ends_with=activation.capitalize(),
    )  # fmt: skip


def _script(path: Path) -> tuple[tuple[Port, ...], int]:
    import warnings

    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module: Any = torch.jit.load(path, map_location="cpu")  # type: ignore[no-untyped-call]
    except Exception as error:
        raise SourceError(
            f"{path}: PyTorch cannot load it: {str(error).splitlines()[0]}"
        ) from error
    schema = module.forward.schema
    names = [argument.name for argument in schema.arguments if argument.name != "self"]
    return tuple(Port(name, "float32", None) for name in names), len(schema.returns)


def _program(path: Path) -> tuple[tuple[Port, ...], int]:
    import torch

    try:
        program = torch.export.load(path)
    except Exception as error:
        raise SourceError(
            f"{path}: PyTorch cannot load it: {str(error).splitlines()[0]}"
        ) from error
    signature = program.graph_signature
    nodes = {node.name: node for node in program.graph.nodes}
    inputs = []
    for name in signature.user_inputs:
        value = nodes[str(name)].meta["val"]
        shape = tuple(size if isinstance(size, int) else None for size in value.shape)
        inputs.append(Port(str(name), str(value.dtype).removeprefix("torch."), shape))
    return tuple(inputs), len(signature.user_outputs)


def _config(path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as opened:
            about = opened.getinfo("config.json")
            if about.file_size > MAX_CONFIG_BYTES:
                raise SourceError(f"{path}: config.json has {about.file_size:,} bytes")
            config: dict[str, Any] = json.loads(opened.read(about))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise SourceError(f"{path}: not a .keras file of Keras 3: {error}") from error
    return config


def _layers(config: dict[str, Any]) -> list[dict[str, Any]]:
    layers = config.get("config", {}).get("layers", [])
    return [layer for layer in layers if isinstance(layer, dict)]


def _find(value: Any, key: str) -> Any:
    """The first value of that key, in any depth."""
    if isinstance(value, dict):
        if value.get(key):
            return value[key]
        value = list(value.values())
    if isinstance(value, list):
        return next((found for item in value if (found := _find(item, key)) is not None), None)
    return None
