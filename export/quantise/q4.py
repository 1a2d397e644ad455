"""q4: 4-bit weights of matrix products and embeddings; activations stay in float32."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx

from export.quantise.nodes import kept


def to_q4(fp32: Path, block_size: int, keep_fp32: Sequence[str]) -> onnx.ModelProto:
    """The joined graph with MatMulNBits and GatherBlockQuantized, in blocks of `block_size`.

    `accuracy_level` is 0: at 4, native and wasm differ.
    """
    from onnxruntime.quantization.matmul_nbits_quantizer import (
        DefaultWeightOnlyQuantConfig,
        MatMulNBitsQuantizer,
        QuantFormat,
    )

    model = onnx.load(fp32)
    config = DefaultWeightOnlyQuantConfig(
        block_size=block_size, is_symmetric=True, accuracy_level=0,
        quant_format=QuantFormat.QOperator, op_types_to_quantize=("MatMul", "Gather"),
    )  # fmt: skip
    quantiser = MatMulNBitsQuantizer(
        model, nodes_to_exclude=kept(model.graph, keep_fp32), algo_config=config
    )
    quantiser.process()
    quantised: onnx.ModelProto = quantiser.model.model
    return quantised
