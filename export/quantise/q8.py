"""q8: 8-bit weights, and activations by measured ranges (static) or by each input's (dynamic)."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import onnx

from export.errors import RecipeError
from export.quantise.nodes import kept, weight_bytes
from export.tensors import Tensors, batches, stack

CONVOLUTIONS = ("Conv", "ConvTranspose")
PRODUCTS = ("MatMul", "Gemm")
CALIBRATION_BATCH = 16


def method_of(fp32: Path) -> Literal["static", "dynamic"]:
    """Static where most weights are convolutions'; products alone are better off dynamic."""
    graph = onnx.load(fp32).graph
    convolutions, products = weight_bytes(graph, CONVOLUTIONS), weight_bytes(graph, PRODUCTS)
    return "static" if convolutions >= products else "dynamic"


def to_q8(
    fp32: Path,
    method: Literal["static", "dynamic"],
    calibration: Sequence[Tensors],
    keep_fp32: Sequence[str],
) -> onnx.ModelProto:
    """The joined graph with 8-bit weights, signed and per channel.

    Static: QDQ with unsigned activations, ranges by MinMax (others need equal batches). Dynamic:
    products of matrices only, since dynamic convolutions are several times slower; a row's answer
    then depends on its neighbours in a batch, which verify measures.
    """
    from onnxruntime.quantization.shape_inference import quant_pre_process

    logging.getLogger().setLevel(logging.ERROR)  # it advises its own pre-processing, done here
    with tempfile.TemporaryDirectory() as scratch:
        prepared, quantised = Path(scratch) / "prepared.onnx", Path(scratch) / "quantised.onnx"
        quant_pre_process(str(fp32), str(prepared), skip_symbolic_shape=True)
        model = onnx.load(prepared)
        excluded = kept(model.graph, keep_fp32)
        del model.graph.value_info[:]  # the quantiser transposes weights, and trips over old shapes
        onnx.save(model, prepared)
        if method == "static":
            _static(prepared, quantised, calibration, excluded)
        else:
            _dynamic(prepared, quantised, excluded)
        return onnx.load(quantised)


def _static(
    prepared: Path, quantised: Path, calibration: Sequence[Tensors], excluded: list[str]
) -> None:
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

    if not calibration:
        raise RecipeError("q8 measures ranges on real data: name [data] calibration")
    quantize_static(
        str(prepared), str(quantised), Batches(calibration),
        quant_format=QuantFormat.QDQ, per_channel=True,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
        calibrate_method=CalibrationMethod.MinMax, nodes_to_exclude=excluded,
    )  # fmt: skip


def _dynamic(prepared: Path, quantised: Path, excluded: list[str]) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        str(prepared), str(quantised), per_channel=True, weight_type=QuantType.QInt8,
        op_types_to_quantize=[*PRODUCTS, "Gather"], nodes_to_exclude=excluded,
    )  # fmt: skip


class Batches:
    """The calibration data as ONNX Runtime's quantiser reads it: equal shapes together."""

    def __init__(self, inputs: Sequence[Tensors]) -> None:
        self._parts: Iterator[Tensors] = (
            stack([inputs[i] for i in positions])
            for positions in batches(inputs, CALIBRATION_BATCH)
        )

    def get_next(self) -> dict[str, Any] | None:
        """The next batch, or None at the end."""
        return next(self._parts, None)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while (batch := self.get_next()) is not None:
            yield batch

    def __next__(self) -> dict[str, Any]:
        batch = self.get_next()
        if batch is None:
            raise StopIteration
        return batch
