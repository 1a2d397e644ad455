"""Before the network: uint8 NHWC pixels to float, scale, mean, deviation, layout."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from export.graph_names import INPUT, PREFIX
from export.joining.piece import Piece
from export.recipe.inputs import DrawingSection, ImageSection, InputSection, TensorSection


def before(section: InputSection) -> Piece | None:
    """From the decoder's tensor to the network's "input"; None: they are the same."""
    if not isinstance(section, ImageSection | DrawingSection):
        return None
    tensor = section.tensor
    height, width = section.size()
    shape: list[int | str] = ["batch", height, width, 1 if tensor.channels == "grey" else 3]
    order = [0, 3, 1, 2] if tensor.layout == "NCHW" else [0, 1, 2, 3]
    piece = Piece(
        inputs=[helper.make_tensor_value_info(INPUT, TensorProto.UINT8, shape)],
        outputs=[
            helper.make_tensor_value_info("input", TensorProto.FLOAT, [shape[a] for a in order])
        ],
    )
    value = piece.step("Cast", [INPUT], "float", to=TensorProto.FLOAT)
    if tensor.channels == "BGR":
        reverse = piece.constant("bgr_value", np.array([2, 1, 0], np.int64))
        value = piece.step("Gather", [value, reverse], "bgr", axis=3)
    value = _scaled(piece, value, tensor)
    mean = piece.constant("mean_value", np.array(tensor.mean, np.float32))
    value = piece.step("Sub", [value, mean], "mean")
    deviation = piece.constant("deviation_value", np.array(tensor.std, np.float32))
    value = piece.step("Div", [value, deviation], "deviation")
    piece.node("Transpose", [value], "input", perm=order)
    piece.nodes[-1].name = f"{PREFIX}layout"
    return piece


def _scaled(piece: Piece, value: str, tensor: TensorSection) -> str:
    """ "1/255" divides, as the framework does: a product with the rounded 1/255 differs."""
    upper, _, lower = str(tensor.scale).partition("/")
    if lower and float(upper) == 1.0:
        divisor = piece.constant("scale_value", np.array(float(lower), np.float32))
        return piece.step("Div", [value, divisor], "scale")
    factor = piece.constant("scale_value", np.array(tensor.scale_value(), np.float32))
    return piece.step("Mul", [value, factor], "scale")
