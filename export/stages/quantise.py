"""quantise: the smaller variants, made from the fp32 file."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from export.contract import VariantName
from export.decode.pixels import Pixels
from export.errors import RecipeError
from export.graph_names import INPUT, PREFIX
from export.stages.export import joined, strip
from export.stages.results import FILE_NAMES, Exported


def make_quantised(exported: Exported, folder: Path, calibration: Pixels) -> None:
    """Write the variants on offer into `folder`. `calibration`: uint8 [samples, h, w, channels]."""
    sourced = exported.sourced
    recipe, labels = sourced.recipe, len(sourced.labels)
    wanted = recipe.file.variants
    makers: dict[VariantName, Callable[[], onnx.ModelProto]] = {
        "fp32": lambda: onnx.load(exported.path),
        "fp16": lambda: joined(recipe, to_fp16(onnx.load(exported.core)), labels),
        "q8": lambda: to_q8(exported.path, calibration, wanted.keep_fp32),
    }
    for variant in wanted.offer:
        model = makers[variant]()
        strip(model)
        onnx.save(model, folder / FILE_NAMES[variant])


def to_fp16(core: onnx.ModelProto) -> onnx.ModelProto:
    """Half-precision weights and arithmetic, float32 at both ends.

    Of the bare network only: pixels, softmax and top-k stay in float32. (onnxconverter-common 1.16
    does not come to an end when told to leave out nodes at the graph's input.)
    """
    from onnxconverter_common import float16

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one for each small weight; verify measures what they do
        converted: onnx.ModelProto = float16.convert_float_to_float16(
            core, keep_io_types=True, op_block_list=[*float16.DEFAULT_OP_BLOCK_LIST, "Cast"]
        )
    return converted


def to_q8(fp32: Path, calibration: Pixels, keep_fp32: list[str]) -> onnx.ModelProto:
    """Static QDQ: unsigned 8-bit activations, signed 8-bit weights per channel."""
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    logging.getLogger().setLevel(logging.ERROR)  # it advises its own pre-processing, done here
    with tempfile.TemporaryDirectory() as scratch:
        prepared, quantised = Path(scratch) / "prepared.onnx", Path(scratch) / "quantised.onnx"
        quant_pre_process(str(fp32), str(prepared), skip_symbolic_shape=True)
        graph = onnx.load(prepared).graph
        quantize_static(
            str(prepared), str(quantised), Batches(calibration),
            quant_format=QuantFormat.QDQ, per_channel=True,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod.MinMax,
            nodes_to_exclude=kept(graph, keep_fp32),
        )  # fmt: skip
        return onnx.load(quantised)


def kept(graph: onnx.GraphProto, keep_fp32: list[str]) -> list[str]:
    """Names of the nodes that stay in float: all that was joined in, and what the recipe keeps."""
    convolutions = [node for node in graph.node if node.op_type == "Conv"]
    channels = {tensor.name: tensor.dims[0] for tensor in graph.initializer if tensor.dims}
    groups = {
        "first-layer": [node.name for node in convolutions[:1]],
        "depthwise": [
            node.name for node in convolutions if 1 < _group(node) == channels.get(node.input[1])
        ],
    }
    known = {node.name for node in graph.node}
    names = [name for name in known if name.startswith(PREFIX)]
    for wanted in keep_fp32:
        if wanted not in groups and wanted not in known:
            raise RecipeError(
                f'variants.keep_fp32 names "{wanted}"; give "first-layer", "depthwise" or one of '
                + ", ".join(sorted(known - set(names)))
            )
        names += groups.get(wanted, [wanted])
    return names


def _group(node: onnx.NodeProto) -> int:
    return next((int(a.i) for a in node.attribute if a.name == "group"), 1)


class Batches:
    """The calibration data as ONNX Runtime's quantiser reads it."""

    def __init__(self, pixels: Pixels) -> None:
        self._parts: Iterator[Pixels] = iter(np.array_split(pixels, -(-len(pixels) // 16)))

    def get_next(self) -> dict[str, Any] | None:
        """The next batch, or None at the end."""
        part = next(self._parts, None)
        return None if part is None else {INPUT: part}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while (batch := self.get_next()) is not None:
            yield batch

    def __next__(self) -> dict[str, Any]:
        batch = self.get_next()
        if batch is None:
            raise StopIteration
        return batch
