"""q4: 4-bit weights of matrix products and embeddings; activations stay in float32."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx

from export.errors import RecipeError
from export.quantise.nodes import kept, named, with_constants_as_weights, with_own_weights
from export.repair import without_double_initialisers

PRODUCT, EMBEDDING = "MatMulNBits", "GatherBlockQuantized"


def to_q4(fp32: Path, block_size: int, keep_fp32: Sequence[str]) -> onnx.ModelProto:
    """The joined graph with MatMulNBits and GatherBlockQuantized, in blocks of `block_size`.

    `accuracy_level` is 0: at 4, native and wasm differ. RecipeError where there is nothing to make
    smaller so.
    """
    from onnxruntime.quantization.matmul_nbits_quantizer import (
        DefaultWeightOnlyQuantConfig,
        MatMulNBitsQuantizer,
        QuantFormat,
    )

    model, excluded = _prepared(fp32, keep_fp32)
    opset = {item.domain: item.version for item in model.opset_import}
    config = DefaultWeightOnlyQuantConfig(
        block_size=block_size, is_symmetric=True, accuracy_level=0,
        quant_format=QuantFormat.QOperator, op_types_to_quantize=("MatMul", "Gather"),
    )  # fmt: skip
    quantiser = MatMulNBitsQuantizer(model, nodes_to_exclude=excluded, algo_config=config)
    quantiser.process()
    quantised: onnx.ModelProto = quantiser.model.model
    for item in quantised.opset_import:
        # It calls the graph opset 21 without changing what that changes; its own operators, the
        # only ones that see 4 bits, are in no opset.
        item.version = opset.get(item.domain, item.version)
    if not any(node.op_type in (PRODUCT, EMBEDDING) for node in quantised.graph.node):
        raise RecipeError(
            "q4: the graph has no matrix product or embedding with weights to make smaller; leave "
            "q4 out of [variants] offer"
        )
    without_double_initialisers(quantised)
    return quantised


def _prepared(fp32: Path, keep_fp32: Sequence[str]) -> tuple[onnx.ModelProto, list[str]]:
    """Each Gemm as a product and a sum, and what the quantiser is to leave alone."""
    from onnxruntime.quantization.onnx_model import ONNXModel

    model = onnx.load(fp32)
    named(model)
    with_constants_as_weights(model)
    excluded = kept(model.graph, keep_fp32)
    gemms = [node for node in model.graph.node if node.op_type == "Gemm"]
    # A Gemm's weight is turned round in its place, and an embedding's has another layout.
    with_own_weights(model, [[node.name] for node in gemms], {n.input[1] for n in gemms})
    with_own_weights(model, [[n.name for n in model.graph.node if n.op_type == "Gather"]])
    wrapped = ONNXModel(model)
    wrapped.replace_gemm_with_matmul()
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    excluded += [f"{name}_MatMul" for name in excluded]
    excluded += [
        node.name
        for node in model.graph.node
        if node.op_type == "Gather" and not _embedding(weights.get(node.input[0]))
    ]
    return model, excluded


def _embedding(weight: onnx.TensorProto | None) -> bool:
    """A table of float32 rows; the quantiser would take any constant for one."""
    return weight is not None and weight.data_type == onnx.TensorProto.FLOAT and (
        len(weight.dims) == 2
    )  # fmt: skip
