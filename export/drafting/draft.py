"""A recipe from what a model's file tells, with a TODO for what only a person knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import get_args

from export.contract import Datatype
from export.drafting.looked import Looked, PictureFacts, Port
from export.errors import SourceError

TODO = "# TODO:"
SOUND_NAMES = ("audio", "waveform", "samples", "speech", "wav", "pcm")
SOUND_FROM = 3000  # numbers in a row: so many are sound or a signal
COLUMNS_TO = 100  # so few are columns
SMALL_SIDE = 8
LINEAR = ("Softmax", "Gemm", "MatMul", "Add", "Dense")  # what scores come out of


@dataclass
class Draft:
    """The recipe's lines, and files to be written beside it (name: text)."""

    lines: list[str] = field(default_factory=list)
    beside: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    def add(self, *lines: str) -> None:
        """Add lines."""
        self.lines += lines

    def text(self) -> str:
        """The whole recipe.toml."""
        return "\n".join(self.lines).strip() + "\n"


def draft(looked: Looked, name: str) -> Draft:
    """The recipe of model `name`."""
    _refuse_types(looked)
    made = Draft()
    kind = input_kind(looked)
    sections = [*_input(looked, kind, made), *_output(looked, kind, made)]
    made.add(
        f"{TODO} a title, one sentence on what it does, and the model's licence",
        f"title       = {_quoted(name.replace('-', ' ').capitalize())}",
        'description = ""',
        f"task        = {_quoted(_task(looked, kind))}",
        'licence     = ""',
        "",
        *_source(looked, made),
        "",
        *sections,
        "",
        *_data(looked, kind, made),
        "",
        *_variants(looked, kind),
        "",
        "# [browser]",
        "# webgpu = false                    # not tried at all: without a GPU it takes minutes",
    )
    return made


def input_kind(looked: Looked) -> str:
    """The kind of decoder that the inputs ask for, as far as names and shapes tell."""
    ports = looked.inputs
    if looked.tokenizer or any(port.name == "input_ids" for port in ports):
        return "text"
    if looked.columns or looked.kind == "sklearn":
        return "table"
    if len(ports) > 1 and all(_is_column(port) for port in ports):
        return "table"
    if len(ports) != 1:
        return "tensor"
    (port,) = ports
    if looked.picture or _channels(port) == 3:
        return "image"
    if _channels(port) == 1:
        return "drawing"
    return _kind_of_row(looked, port)


def _kind_of_row(looked: Looked, port: Port) -> str:
    sizes = _sizes(looked, port)
    if len(sizes) != 1:
        return "tensor"
    (size,) = sizes
    if port.dtype == "int32" and port.name == "bytes" and isinstance(size, int):
        return "bytes"
    if port.dtype != "float32":
        return "tensor"
    if _sounds(port) or (isinstance(size, int) and size >= SOUND_FROM):
        return "sound"
    return "table" if isinstance(size, int) and size <= COLUMNS_TO else "tensor"


def _sizes(looked: Looked, port: Port) -> list[int | str | None]:
    """Of one row, without the ones at its end that the source puts there."""
    sizes = list((port.shape or ())[1:])
    while looked.reshapes and len(sizes) > 1 and sizes[-1] == 1:
        del sizes[-1]
    return sizes


def _sounds(port: Port) -> bool:
    return any(word in port.name.lower() for word in SOUND_NAMES)


def _refuse_types(looked: Looked) -> None:
    """What no recipe can name, told before anything is written."""
    known = get_args(Datatype)
    for port in looked.inputs:
        if port.dtype not in known:
            raise SourceError(
                f"{looked.file}: the input {port.name} is {port.dtype}; given can be "
                f"{', '.join(known)}. Save the model with inputs of one of these types"
            )


def _task(looked: Looked, kind: str) -> str:
    scores = _is_scores(looked)
    named = {
        "image": "image-classification" if scores else "image-feature-extraction",
        "drawing": "image-classification" if scores else "image-feature-extraction",
        "text": "text-classification" if scores else "feature-extraction",
        "sound": "audio-classification" if scores else "audio-feature-extraction",
        "table": "tabular-classification" if scores else "tabular-regression",
        "bytes": "file-type-detection" if scores else "other",
    }
    return named.get(kind, "other")


def _source(looked: Looked, made: Draft) -> Iterator[str]:
    yield "[source]"
    yield f"kind = {_quoted(looked.kind)}                      # {looked.framework}"
    yield f"file = {_quoted(looked.file)}"
    for title, names in (("inputs", made.inputs), ("outputs", made.outputs)):
        pairs = ", ".join(f"{ours} = {_quoted(its)}" for ours, its in names.items())
        if any(ours != its for ours, its in names.items()):
            yield f"{title} = {{ {pairs} }}"
    for note in looked.notes:
        yield f"# {note}"
    yield "# Better: source.py with `reference`, the training's own code from an encoded input to"
    yield "# the answer. It proves the pre-processing below; without it only the network is proven."
    yield '# reference = "source:reference"'


def _input(looked: Looked, kind: str, made: Draft) -> list[str]:
    writers = {
        "image": _image, "drawing": _drawing, "text": _text, "sound": _sound, "table": _table,
        "bytes": _bytes,
    }  # fmt: skip
    return [*writers.get(kind, _tensors)(looked, made), ""]


def _image(looked: Looked, made: Draft) -> Iterator[str]:
    return _picture(looked, "image", made)


def _drawing(looked: Looked, made: Draft) -> Iterator[str]:
    return _picture(looked, "drawing", made)


def _picture(looked: Looked, kind: str, made: Draft) -> Iterator[str]:
    port = looked.inputs[0]
    made.inputs["input"] = port.name
    shape = port.shape or ()
    nchw = _layout(port) == "NCHW"
    height, width = (shape[2:4] if nchw else shape[1:3]) or (None, None)
    facts = looked.picture or PictureFacts()
    told = looked.picture is not None
    side = height if isinstance(height, int) else facts.crop or facts.short_side or 224
    yield "[input]"
    yield f"kind = {_quoted(kind)}"
    short = f", short_side = {facts.short_side}" if facts.crop and facts.short_side else ""
    yield f"resize = {{ filter = {_quoted(facts.filter)}{short} }}" + (
        "" if told else f"   {TODO} the filter that the training resized with"
    )
    if facts.crop:
        yield f"crop = {{ centre = {facts.crop} }}"
    if kind == "drawing":
        yield f'ink = "auto"   {TODO} light-on-dark, dark-on-light or either'
    yield ""
    yield "[input.tensor]"
    if not facts.crop:
        wide = width if isinstance(width, int) else side
        free = (
            ""
            if isinstance(height, int)
            else f"   {TODO} the file tells no size: that of the training"
        )
        yield f"size = [{side}, {wide}]{free}"
    order = '"grey"' if kind == "drawing" else '"RGB"'
    yield f"channels = {order}" + (
        "" if kind == "drawing" else f"   {TODO} or BGR (OpenCV's order)?"
    )
    yield f'layout = "{"NCHW" if nchw else "NHWC"}"'
    if not told:
        yield f"{TODO} what the training did to pixels of 0..255: (x * scale - mean) / std"
    yield f"scale = {_quoted(facts.scale)}"
    yield f"mean = {list(facts.mean)}"
    yield f"std = {list(facts.std)}"


def _text(looked: Looked, made: Draft) -> Iterator[str]:
    names = {port.name for port in looked.inputs}
    made.inputs.update({name: name for name in names})
    yield "[input]"
    yield 'kind = "text"'
    yield f"tokenizer = {_quoted(looked.tokenizer or 'tokenizer.json')}" + (
        "" if looked.tokenizer else f"   {TODO} put the model's tokenizer.json beside this file"
    )
    yield f"max_tokens = {looked.max_tokens or 512}" + (
        "" if looked.max_tokens else f"   {TODO} the longest text that the model was trained on"
    )
    if "attention_mask" not in names:
        yield f'mask = ""   {TODO} remove this line if the model has a mask under another name'
    if "token_type_ids" in names:
        yield 'types = "token_type_ids"'


def _sound(looked: Looked, made: Draft) -> Iterator[str]:
    port = looked.inputs[0]
    made.inputs["samples"] = port.name
    yield "[input]"
    yield 'kind = "sound"' + (
        "" if _sounds(port) else f"   {TODO} only its length says sound; else kind = tensor"
    )
    yield f"rate = 16000   {TODO} the sampling rate of the training, in Hz"
    (length,) = _sizes(looked, port) or (None,)
    if isinstance(length, int):
        yield f"window_samples = {length}"


def _bytes(looked: Looked, made: Draft) -> Iterator[str]:
    (port,) = looked.inputs
    made.inputs["bytes"] = port.name
    count = (port.shape or (None, 0))[-1]
    yield "[input]"
    yield 'kind = "bytes"'
    yield f"{TODO} how many are a file's first bytes, how many its last; {count} in all"
    yield f"first = {count}"
    yield "last = 0"
    yield f"padding = 256   {TODO} the number that stands where a file is too short"


def _table(looked: Looked, made: Draft) -> Iterator[str]:
    single = len(looked.inputs) == 1
    yield "[input]"
    yield 'kind = "table"'
    yield f"matrix = {'true' if single else 'false'}"
    count = (looked.inputs[0].shape or (None, 1))[-1]
    names = list(looked.columns) or [
        f"column-{i + 1}" for i in range(count if isinstance(count, int) else 1)
    ]
    if single:
        made.inputs["features"] = looked.inputs[0].name
    else:
        names = [port.name for port in looked.inputs]
    if not looked.columns and single:
        yield f"{TODO} name the columns, in the order of the training"
    types = {"float32": "number", "int64": "integer", "string": "category"}
    for name, port in zip(names, looked.inputs if not single else [looked.inputs[0]] * len(names),
                          strict=False):  # fmt: skip
        yield ""
        yield "[[input.columns]]"
        yield f"name = {_quoted(name)}"
        yield f"title = {_quoted(name)}"
        what = "number" if single else types.get(port.dtype, "number")
        yield f"type = {_quoted(what)}"
        if what == "category":
            yield f'categories = ["?"]   {TODO} every value that the training knew'
    header = ",".join(names)
    made.beside["rows.csv"] = f"{header}\n"


def _tensors(looked: Looked, made: Draft) -> Iterator[str]:
    yield "[input]"
    yield 'kind = "tensor"'
    for port in looked.inputs:
        made.inputs[port.name] = port.name
        yield ""
        yield "[[input.tensors]]"
        yield f"name = {_quoted(port.name)}"
        yield f"dtype = {_quoted(port.dtype)}"
        yield _shape(port)


def _shape(port: Port) -> str:
    if port.shape is None:
        return f'shape = ["batch"]   {TODO} all sizes of {port.name}, as ["batch", 3, 224, 224]'
    shape = [size if size is not None else f"d{i}" for i, size in enumerate(port.shape)]
    if not shape or (isinstance(shape[0], int) and shape[0] != 1):
        return (
            f"shape = {json.dumps(['batch', *shape[1:]])}   {TODO} the file has {json.dumps(shape)}"
            f": make the first dimension of {port.name} the batch, and save the model anew"
        )
    return f"shape = {json.dumps(['batch', *shape[1:]])}"


def _output(looked: Looked, kind: str, made: Draft) -> Iterator[str]:
    yield "[output]"
    first = looked.outputs[0] if looked.outputs else Port("output", "float32", None)
    if _is_scores(looked):
        yield from _scores(looked, first, made)
    elif kind == "text" and len(first.shape or ()) == 3:
        made.outputs["hidden"] = first.name
        yield 'kind = "embedding"'
        yield f'pooling = "mean"   {TODO} mean, or first ([CLS]), as the training pooled'
    elif kind == "text" and len(first.shape or ()) == 2:
        made.outputs["vector"] = first.name
        yield 'kind = "embedding"'
        yield 'pooling = "none"'
    else:
        names = [port.name for port in looked.outputs]
        made.outputs.update({name: name for name in names})
        yield 'kind = "values"'
        yield f"names = {json.dumps(names)}"


def _scores(looked: Looked, first: Port, made: Draft) -> Iterator[str]:
    scores = _scores_port(looked) or first
    made.outputs["scores"] = scores.name
    count = (scores.shape or (None, None))[-1]
    yield 'kind = "scores"'
    done = scores.made_by in ("Softmax", "Sigmoid")
    if done or looked.kind == "sklearn":
        activation = 'activation = "none"' + (
            f"   # the network ends in {scores.made_by}" if done else ""
        )
    else:
        activation = (
            f'activation = "softmax"   {TODO} or sigmoid; none where the network gives '
            "probabilities itself"
        )
    yield activation
    told = looked.labels and not all(name.isdigit() for name in looked.labels)
    yield 'labels = "labels.txt"' + (
        "" if told else f"   {TODO} write the {count} names there, one a line, in order"
    )
    yield "top_k = 5"
    names = looked.labels or [f"label {i}" for i in range(count if isinstance(count, int) else 2)]
    made.beside["labels.txt"] = "\n".join(names) + "\n"


def _data(looked: Looked, kind: str, made: Draft) -> Iterator[str]:
    patterns = {
        "image": "examples/*", "drawing": "examples/*", "sound": "examples/*.wav",
        "text": "sentences.txt", "table": "rows.csv", "bytes": "examples/*",
    }  # fmt: skip
    what = {
        "image": "put real pictures into examples/", "sound": "put real WAV files into examples/",
        "drawing": "put real drawings (PNG) into examples/",
        "text": "write real texts into sentences.txt, one a line",
        "table": "write real rows into rows.csv, under its header",
        "bytes": "put real files into examples/",
    }  # fmt: skip
    pattern = patterns.get(kind, "examples/*")
    if pattern == "sentences.txt":
        made.beside["sentences.txt"] = ""
    told = what.get(kind, f"put real inputs into examples/ ({_encoded(looked)})")
    yield "[data]"
    yield f'about = ""   {TODO} what data the examples are, and their licence'
    yield f"examples = {_quoted(pattern)}   {TODO} {told}: ten or more"
    yield "# Better: labelled data, to measure accuracy and to allow q8: labelled, calibration"


def _variants(looked: Looked, kind: str) -> Iterator[str]:
    """With limits: of probabilities a thousandth; of other numbers nobody knows the size."""
    why = {
        "torchscript": "where no if or loop is scripted",  # these cannot be halved
        "sound": "where the network computes no spectrum, for which halves are too coarse",
    }
    against = why.get(looked.kind) or why.get(kind)
    size = "" if _is_scores(looked) else "   # of values near 1: larger ones, a larger limit"
    yield "[variants]"
    if against is None:
        yield 'offer  = ["fp32", "fp16"]           # add "q8" when there is data to measure it with'
    else:
        yield f'offer  = ["fp32"]                   # add "fp16" {against}'
    yield 'prefer = "smallest"                 # or "fastest", "most-accurate"'
    yield ""
    yield "[limits.fp32]"
    yield f"max_difference = 1e-3{size}"
    if against is None:
        yield ""
        yield "[limits.fp16]"
        yield f"max_difference = 0.05{size}"


def _encoded(looked: Looked) -> str:
    """How a file of tensors is written; an .npy file holds only one."""
    one = '{"name", "datatype", "shape", "data"}'
    if len(looked.inputs) == 1:
        return f'.npy, or .json as {{"inputs": [{one}]}}'
    return f'.json as {{"inputs": [{one}, ...]}}, all {len(looked.inputs)} in each'


def _is_scores(looked: Looked) -> bool:
    port = _scores_port(looked)
    return port is not None and (looked.kind == "sklearn" or len(looked.outputs) <= 2)


def _scores_port(looked: Looked) -> Port | None:
    """A float output [batch, labels], the best known by name."""
    fitting = [
        port for port in looked.outputs
        if port.dtype == "float32" and len(port.shape or ()) == 2
        and isinstance((port.shape or (0,))[-1], int) and (port.shape or (0,))[-1] != 1
    ]  # fmt: skip
    if looked.labels:
        fitting = [p for p in fitting if (p.shape or (0,))[-1] == len(looked.labels)] or fitting
    else:
        words = ("logit", "prob", "score", "softmax", "class")
        named = [p for p in fitting if any(word in p.name.lower() for word in words)]
        alone = looked.picture or len(looked.outputs) == 1
        fitting = named or [p for p in fitting if alone or p.made_by in LINEAR]
    return fitting[0] if fitting else None


def _layout(port: Port) -> str:
    shape = port.shape or ()
    return "NCHW" if len(shape) == 4 and shape[1] in (1, 3) else "NHWC"


def _channels(port: Port) -> int | None:
    """Of something that looks like a picture, else None."""
    shape = port.shape or ()
    if len(shape) != 4 or port.dtype != "float32":
        return None
    axis, sides = (1, shape[2:]) if _layout(port) == "NCHW" else (3, shape[1:3])
    fits = all(not isinstance(side, int) or side >= SMALL_SIDE for side in sides)
    channels = shape[axis]
    return channels if isinstance(channels, int) and channels in (1, 3) and fits else None


def _is_column(port: Port) -> bool:
    shape = port.shape or ()
    return len(shape) == 2 and shape[1] == 1 and port.dtype in ("float32", "int64", "string")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
