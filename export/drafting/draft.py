"""A recipe from what a model's file tells, with a TODO for what only a person knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from export.drafting.looked import Looked, PictureFacts, Port

TODO = "# TODO:"
SOUND_NAMES = ("audio", "waveform", "samples", "speech", "wav", "pcm")
MANY = 3000  # more numbers in a row are sound or a signal, not columns
SMALL_SIDE = 8


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
        *_data(kind, made),
        "",
        "[variants]",
        'offer  = ["fp32", "fp16"]           # add "q8" when there is data to measure it with',
        'prefer = "smallest"                 # or "fastest", "most-accurate"',
        "",
        "[limits.fp32]",
        "max_difference = 1e-4",
        "",
        "[limits.fp16]",
        "max_difference = 0.05",
    )
    return made


def input_kind(looked: Looked) -> str:
    """The kind of decoder that the inputs ask for, as far as names and shapes tell."""
    ports = looked.inputs
    if looked.tokenizer or any(port.name == "input_ids" for port in ports):
        return "text"
    if looked.columns or (len(ports) > 1 and all(_is_column(port) for port in ports)):
        return "table"
    if len(ports) != 1:
        return "tensor"
    (port,) = ports
    if looked.picture or _channels(port) in (3, 4):
        return "image"
    if _channels(port) == 1:
        return "drawing"
    shape = port.shape or ()
    if any(word in port.name.lower() for word in SOUND_NAMES) and len(shape) == 2:
        return "sound"
    if len(shape) == 2 and isinstance(shape[1], int):
        return "sound" if shape[1] >= MANY else "table"
    return "tensor"


def _task(looked: Looked, kind: str) -> str:
    scores = _is_scores(looked)
    named = {
        "image": "image-classification" if scores else "image-feature-extraction",
        "drawing": "image-classification" if scores else "image-feature-extraction",
        "text": "text-classification" if scores else "feature-extraction",
        "sound": "audio-classification" if scores else "audio-feature-extraction",
        "table": "tabular-classification" if scores else "tabular-regression",
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
        free = "" if isinstance(height, int) else f"   {TODO} the file takes any size; which one?"
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
    yield 'kind = "sound"'
    yield f"rate = 16000   {TODO} the sampling rate of the training, in Hz"
    length = (port.shape or (None, None))[1]
    if isinstance(length, int):
        yield f"window_samples = {length}"


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
        shape = [size if size is not None else f"d{i}" for i, size in enumerate(port.shape or ())]
        shape = ["batch", *shape[1:]] if shape else shape
        yield ""
        yield "[[input.tensors]]"
        yield f"name = {_quoted(port.name)}"
        yield f"dtype = {_quoted(port.dtype)}"
        if port.shape is None:
            yield f'shape = ["batch"]   {TODO} all sizes, as ["batch", 3, 224, 224]'
        else:
            yield f"shape = {json.dumps(shape)}"


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
    done = looked.ends_with in ("Softmax", "Sigmoid") or looked.kind == "sklearn"
    activation = "none" if done else "softmax"
    yield f"activation = {_quoted(activation)}" + (
        f"   # the network ends in {looked.ends_with}" if done and looked.ends_with
        else "" if done else f"   {TODO} softmax, sigmoid or none"
    )  # fmt: skip
    told = looked.labels and not all(name.isdigit() for name in looked.labels)
    yield 'labels = "labels.txt"' + (
        "" if told else f"   {TODO} write the {count} names there, one a line, in order"
    )
    yield "top_k = 5"
    names = looked.labels or [f"label {i}" for i in range(count if isinstance(count, int) else 2)]
    made.beside["labels.txt"] = "\n".join(names) + "\n"


def _data(kind: str, made: Draft) -> Iterator[str]:
    patterns = {
        "image": "examples/*", "drawing": "examples/*", "sound": "examples/*.wav",
        "text": "sentences.txt", "table": "rows.csv", "bytes": "examples/*",
    }  # fmt: skip
    what = {
        "image": "put real pictures into examples/", "sound": "put real WAV files into examples/",
        "drawing": "put real drawings (PNG) into examples/",
        "text": "write real texts into sentences.txt, one a line",
        "table": "write real rows into rows.csv, under its header",
    }  # fmt: skip
    pattern = patterns.get(kind, "examples/*")
    if pattern == "sentences.txt":
        made.beside["sentences.txt"] = ""
    told = what.get(kind, "put real inputs into examples/ (.npy, or the v2 protocol's JSON)")
    yield "[data]"
    yield f'about = ""   {TODO} what data the examples are, and their licence'
    yield f"examples = {_quoted(pattern)}   {TODO} {told}: ten or more"
    yield "# Better: labelled data, to measure accuracy and to allow q8: labelled, calibration"


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
        fitting = named or (fitting if looked.ends_with in ("Softmax", "Gemm", "MatMul", "Add")
                            or looked.picture or len(looked.outputs) == 1 else [])  # fmt: skip
    return fitting[0] if fitting else None


def _layout(port: Port) -> str:
    shape = port.shape or ()
    return "NCHW" if len(shape) == 4 and shape[1] in (1, 3, 4) else "NHWC"


def _channels(port: Port) -> int | None:
    """Of something that looks like a picture, else None."""
    shape = port.shape or ()
    if len(shape) != 4 or port.dtype not in ("float32", "uint8"):
        return None
    axis, sides = (1, shape[2:]) if _layout(port) == "NCHW" else (3, shape[1:3])
    fits = all(not isinstance(side, int) or side >= SMALL_SIDE for side in sides)
    channels = shape[axis]
    return channels if isinstance(channels, int) and channels in (1, 3, 4) and fits else None


def _is_column(port: Port) -> bool:
    shape = port.shape or ()
    return len(shape) == 2 and shape[1] == 1 and port.dtype in ("float32", "int64", "string")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
