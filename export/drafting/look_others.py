"""Looking at PyTorch, scikit-learn and Keras files, as a build loads them: none runs its code."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from export.drafting.looked import Looked, Port
from export.errors import SourceError

IMAGE_CHANNELS = (1, 3)


def look_at_torch(path: Path) -> Looked:
    """A program of torch.export, with its shapes; or TorchScript, which tells names alone."""
    import torch

    inputs, outputs, notes = _program(path) if path.suffix == ".pt2" else _script(path)
    return Looked(
        kind="torchscript" if path.suffix != ".pt2" else "torch", file=path.name,
        files={path.name: path}, inputs=inputs, outputs=outputs,
        framework=f"PyTorch {torch.__version__.split('+')[0]}", notes=notes,
    )  # fmt: skip


def look_at_sklearn(path: Path, *, trust: bool) -> Looked:
    """An estimator in a .skops or (trusted) .joblib file: its columns and classes."""
    import sklearn

    from export.sources.from_sklearn import load_file, refuse_other

    estimator = load_file(path, trust=trust)
    refuse_other(path.name, estimator)
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
    """A .keras file: every input and output by its name, with its shape."""
    from export.sources.from_keras import load_file, port_names

    model = load_file(path)
    if not getattr(model, "inputs", None):  # built layer by layer, without an Input
        raise SourceError(
            f"{path}: does not tell the shape of its input; call the model once, or begin it with "
            "keras.Input, then save it again"
        )
    outputs = port_names(model, "output") or [f"output_{i}" for i in range(len(model.outputs))]
    return Looked(
        kind="keras", file=path.name, files={path.name: path},
        inputs=tuple(Port(str(t.name), str(t.dtype), tuple(t.shape)) for t in model.inputs),
        outputs=tuple(
            Port(name, str(t.dtype), tuple(t.shape), _layer_maker(t))
            for name, t in zip(outputs, model.outputs, strict=True)
        ),
        framework="Keras 3",
    )  # fmt: skip


def _layer_maker(tensor: Any) -> str:
    """The activation that a layer ends with, else the layer's kind: Softmax, Dense."""
    layer = tensor._keras_history.operation
    activation = getattr(getattr(layer, "activation", None), "__name__", "linear")
    return str(layer.__class__.__name__ if activation == "linear" else activation.capitalize())


Told = tuple[tuple[Port, ...], tuple[Port, ...], tuple[str, ...]]


def _script(path: Path) -> Told:
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module: Any = torch.jit.load(path, map_location="cpu")  # type: ignore[no-untyped-call]
    except Exception as error:
        raise SourceError(
            f"{path}: PyTorch cannot load it as TorchScript ({_first(error)}). A file of weights, "
            "or a pickled module, is no network without its code: let a function of source.py "
            'build it ([source] kind = "torch", entry = "source:model", file = the weights)'
        ) from error
    given = [one for one in module.forward.schema.arguments if one.name != "self"]
    if odd := [one for one in given if not _is_tensor(one) and not one.has_default_value()]:
        raise SourceError(_asks_for_more(path, module, given, odd[0]))
    asked = [one for one in given if not one.has_default_value()]
    notes = ["The file does not tell its shapes: check them, and fill in those of the training."]
    if left := [one.name for one in given if one.has_default_value()]:
        notes.append(f"Left out, since forward has defaults for them: {', '.join(left)}")
    shapes = [_first_shape(module)] if len(asked) == 1 else [None] * len(asked)
    returned = _returned(module.forward.schema.returns)
    last = _last_shape(module) if returned == 1 else None
    return (
        tuple(Port(one.name, "float32", s) for one, s in zip(asked, shapes, strict=True)),
        tuple(Port(f"output_{i}", "float32", last) for i in range(returned)),
        tuple(notes),
    )


def _first(error: Exception) -> str:
    """What PyTorch complains of, without what it says of it besides."""
    return str(error).splitlines()[0].split(". ")[0]


def _is_tensor(argument: Any) -> bool:
    return str(argument.type) == "Tensor"


def _asks_for_more(path: Path, module: Any, given: list[Any], odd: Any) -> str:
    """What else can be built: a part whose forward takes tensors alone."""
    told = ", ".join(f"{one.name}: {one.type}" for one in given)
    parts = [
        name for name, part in module.named_children()
        if all(
            one.name == "self" or _is_tensor(one) or one.has_default_value()
            for one in part.forward.schema.arguments
        )
    ]  # fmt: skip
    part = f"; its part {' or '.join(parts)} takes tensors alone" if parts else ""
    return (
        f"{path}: forward({told}) asks for {odd.name}, and a page gives tensors alone. Save "
        f"torch.jit.script of a module whose forward gives {odd.name} itself{part}"
    )


def _returned(returns: Any) -> int:
    (only,) = returns
    return len(only.type.elements()) if only.type.kind() == "TupleType" else 1


def _first_shape(module: Any) -> tuple[int | None, ...] | None:
    """Of a network that begins with a convolution over pictures, or with a linear layer."""
    first = next((p for p in module.parameters() if p.ndim > 1), None)
    if first is not None and first.ndim == 4 and first.shape[1] in IMAGE_CHANNELS:
        return (None, int(first.shape[1]), None, None)
    return None


def _last_shape(module: Any) -> tuple[int | None, ...] | None:
    """Of a network that ends with a linear layer and its bias."""
    weights = list(module.parameters())[-2:]
    if [w.ndim for w in weights] != [2, 1] or len(weights[0]) != len(weights[1]):
        return None
    return (None, len(weights[1]))


def _program(path: Path) -> Told:
    import torch

    try:
        program = torch.export.load(path)
    except Exception as error:
        raise SourceError(f"{path}: PyTorch cannot load it: {_first(error)}") from error
    signature = program.graph_signature
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    inputs = [_node_port(str(name), str(name), values) for name in signature.user_inputs]
    outputs = [
        _node_port(f"output_{i}", str(name), values)
        for i, name in enumerate(signature.user_outputs)
    ]
    return tuple(inputs), tuple(outputs), ()


def _node_port(ours: str, name: str, values: dict[str, Any]) -> Port:
    value = values[name]
    shape = tuple(size if isinstance(size, int) else None for size in value.shape)
    return Port(ours, str(value.dtype).removeprefix("torch."), shape)
