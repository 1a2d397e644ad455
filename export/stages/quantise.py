"""quantise: the smaller variants, made from the fp32 file."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from export.contract import VariantName
from export.decode.pixels import Pixels
from export.join import INPUT, PREFIX
from export.stages.export import strip
from export.stages.results import FILE_NAMES


def make_quantised(
    fp32: Path, folder: Path, offer: list[VariantName], calibration: Pixels, keep_fp32: list[str]
) -> None:
    """Write every variant on offer into `folder`. `calibration`: uint8 [samples, h, w, channels]."""
    makers = {
        "fp32": lambda: onnx.load(fp32),
        "fp16": lambda: to_fp16(onnx.load(fp32)),
        "q8": lambda: to_q8(fp32, calibration, keep_fp32),
    }
    for variant in offer:
        model = makers[variant]()
        strip(model)
        onnx.save(model, folder / FILE_NAMES[variant])


def to_fp16(model: onnx.ModelProto) -> onnx.ModelProto:
    """Half-precision weights and arithmetic; pixels, softmax and top-k stay as they are."""
    from onnxconverter_common import float16

    joined = [node.name for node in model.graph.node if node.name.startswith(PREFIX)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one for each small weight; verify measures what they do
        return float16.convert_float_to_float16(
            model,
            keep_io_types=True,
            op_block_list=[*float16.DEFAULT_OP_BLOCK_LIST, "Cast"],
            node_block_list=joined,
        )


def to_q8(fp32: Path, calibration: Pixels, keep_fp32: list[str]) -> onnx.ModelProto:
    """Static QDQ: unsigned 8-bit activations, signed 8-bit weights per channel."""
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    logging.getLogger().setLevel(logging.ERROR)  # it advises its own pre-processing, done here
    with tempfile.TemporaryDirectory() as scratch:
        prepared, quantised = Path(scratch) / "prepared.onnx", Path(scratch) / "quantised.onnx"
        quant_pre_process(str(fp32), str(prepared), skip_symbolic_shape=True)
        joined = [n.name for n in onnx.load(prepared).graph.node if n.name.startswith(PREFIX)]
        quantize_static(
            str(prepared), str(quantised), Batches(calibration),
            quant_format=QuantFormat.QDQ, per_channel=True,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod.MinMax,
            nodes_to_exclude=[*joined, *keep_fp32],
        )  # fmt: skip
        return onnx.load(quantised)


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


