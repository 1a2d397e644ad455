"""q8: 8-bit weights, and activations by measured ranges (static) or by each input's (dynamic)."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import onnx

from export.errors import RecipeError
from export.quantise.nodes import (
    CONVOLUTIONS,
    PRODUCTS,
    kept,
    layers,
    weight_bytes,
    with_own_weights,
)
from export.quantise.prepared import prepared
from export.tensors import Tensors, batches, stack

Method = Literal["auto", "static", "dynamic"]
Way = Literal["dynamic", "minmax", "percentile"]
"""How activations get their range: of each batch; or calibrated, whole or without the outermost."""

CALIBRATION_BATCH = 8
PERCENTILE = 99.99
HISTOGRAMS = 32  # inputs at most: the histogram of every inner value of one costs a second
# What static ranges pay for beside the layers. Norms and softmax stay in float: they gain no time
# and lose digits. Beside matrix products nothing: sums of a transformer span too much for 8 bits.
BESIDE_CONVOLUTIONS = (
    "Relu", "Clip", "LeakyRelu", "Sigmoid", "Add", "Mul", "MaxPool", "AveragePool",
    "GlobalAveragePool", "Concat", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten",
    "Split", "Pad", "Resize", "Slice",
)  # fmt: skip


class Quantiser:
    """Makes q8 of one joined graph, as often as asked; ranges are measured once a way.

    Weights are unsigned around 128, per channel. Signed ones are wrong on x86 processors without
    VNNI (here: by half of the value): unsigned times signed sums up in 16 bits there, and
    saturates. Dynamic: products of matrices only; a row's answer then depends on its neighbours in
    a batch, which verify measures.
    """

    def __init__(self, fp32: Path, calibration: Sequence[Tensors]) -> None:
        """`calibration`: the graph's inputs; empty where there are none."""
        found = prepared(fp32)
        self.graph, self._model, self._merged = found.model.graph, found.model, found.merged
        self._calibration = calibration
        self._convolutions = weight_bytes(self.graph, CONVOLUTIONS)
        self._products = weight_bytes(self.graph, PRODUCTS)
        self._ranges: dict[Way, str] = {}

    @property
    def convolutional(self) -> bool:
        """Most of the weights are convolutions'."""
        return self._convolutions >= self._products

    def ways(self, method: Method, *, measured: bool) -> list[Way]:
        """What fits this graph, the usual first; only one unless measuring can tell them apart.

        RecipeError for what cannot be.
        """
        if not layers(self.graph):
            raise RecipeError(
                "q8: the graph has no convolution or matrix product with weights to make smaller; "
                "leave q8 out of [variants] offer"
            )
        if method == "auto" and not self.convolutional:
            static = self._static() if self._calibration and measured else []
            return ["dynamic", *static]
        if method == "dynamic":
            self._refuse_dynamic_convolutions()
            return ["dynamic"]
        if not self._calibration:
            raise RecipeError("q8 measures ranges on real data: name [data] calibration")
        return self._static() if measured else ["minmax"]

    def make(
        self, way: Way, keep_fp32: Sequence[str] = (), only: Sequence[str] = ()
    ) -> onnx.ModelProto:
        """The variant with all layers in 8 bits but `keep_fp32`; or with no layers but `only`."""
        excluded = kept(self.graph, keep_fp32, self._merged)
        model = onnx.ModelProto()
        model.CopyFrom(self._model)
        with tempfile.TemporaryDirectory() as scratch:
            given, made = Path(scratch) / "given.onnx", Path(scratch) / "made.onnx"
            if way == "dynamic":
                _unshare_products(model)
                onnx.save(model, given)
                _dynamic(given, made, [*excluded], [*only])
            else:
                onnx.save(model, given)
                self._make_static(given, made, way, excluded, [*only])
            return onnx.load(made)

    def _static(self) -> list[Way]:
        """Percentiles need histograms, which need inputs of one shape."""
        shapes = {tuple(v.shape for v in one.values()) for one in self._calibration}
        return ["minmax", "percentile"] if len(shapes) == 1 else ["minmax"]

    def _refuse_dynamic_convolutions(self) -> None:
        if self.convolutional:
            raise RecipeError(
                f'variants.q8.method = "dynamic": {self._convolutions:,} of '
                f"{self._convolutions + self._products:,} bytes of weights are convolutions', and "
                'these are 3 to 11 times slower with dynamic ranges; set method = "static"'
            )

    def _make_static(
        self, given: Path, made: Path, way: Way, excluded: list[str], only: list[str]
    ) -> None:
        from onnxruntime.quantization import (
            CalibrationMethod,
            QuantFormat,
            QuantType,
            quantize_static,
        )

        beside = BESIDE_CONVOLUTIONS if self.convolutional else ("Gather",)
        method = {"minmax": CalibrationMethod.MinMax, "percentile": CalibrationMethod.Percentile}
        options = {"CalibPercentile": PERCENTILE, "MatMulConstBOnly": True, "WeightSymmetric": True}
        inputs = self._calibration
        if way == "percentile":
            inputs = inputs[:: -(-len(inputs) // HISTOGRAMS)]
            options["CalibStridedMinMax"] = 1  # a batch at a time: all at once would not fit
        ranges = given.with_suffix(".json")
        if way in self._ranges:
            ranges.write_text(self._ranges[way])
        with contextlib.redirect_stdout(io.StringIO()):  # it prints what it does
            quantize_static(
                str(given), str(made), _Batches(inputs),
                quant_format=QuantFormat.QDQ, per_channel=True,
                activation_type=QuantType.QUInt8, weight_type=QuantType.QUInt8,
                op_types_to_quantize=[*CONVOLUTIONS, *PRODUCTS, *beside],
                nodes_to_quantize=only, nodes_to_exclude=excluded,
                calibrate_method=method[way], extra_options=options,
                calibration_cache_path=ranges,
            )  # fmt: skip
        self._ranges[way] = ranges.read_text()


def _dynamic(given: Path, made: Path, excluded: list[str], only: list[str]) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        str(given), str(made), per_channel=True, weight_type=QuantType.QUInt8,
        extra_options={"WeightSymmetric": True},
        op_types_to_quantize=["MatMul", "Gather"],
        nodes_to_quantize=_as_products(only), nodes_to_exclude=_as_products(excluded),
    )  # fmt: skip


def _as_products(names: list[str]) -> list[str]:
    """The quantiser makes a product and a sum of each Gemm, and names them so."""
    return [*names, *(f"{name}_MatMul" for name in names)]


def _unshare_products(model: onnx.ModelProto) -> None:
    """The quantiser turns a Gemm's weight round in its place, whoever else uses it."""
    gemms = [node for node in model.graph.node if node.op_type == "Gemm"]
    with_own_weights(model, [[n.name] for n in gemms], {n.input[1] for n in gemms})


class _Batches:
    """The calibration data as ONNX Runtime's quantiser reads it: equal shapes together."""

    def __init__(self, inputs: Sequence[Tensors]) -> None:
        self._inputs = inputs
        self._positions = list(batches(inputs, CALIBRATION_BATCH))
        self._next: Iterator[list[int]] = iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)

    def set_range(self, start_index: int, end_index: int) -> None:
        """Read these batches next."""
        self._next = iter(self._positions[start_index:end_index])

    def get_next(self) -> dict[str, Any] | None:
        """The next batch, or None at the end."""
        positions = next(self._next, None)
        return None if positions is None else stack([self._inputs[i] for i in positions])
