"""[source]: where the trained model comes from."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from export.contract import Strict

SourceKind = Literal["torch", "torchscript", "sklearn", "keras", "tensorflow", "tflite", "onnx"]
# These are told by a file alone: there is no object that source.py could return.
FILE_KINDS = ("torchscript", "tensorflow", "tflite", "onnx")
Entry = Annotated[str, Field(pattern=r"^source:[A-Za-z_][A-Za-z0-9_]*$")]
FileName = Annotated[
    str,
    Field(
        pattern=r"^(package:[^:]+:)?[^/:][^:]*$",
        description='Beside the recipe, or "package:NAME:PATH" in a package that it requires.',
    ),
]


class SourceSection(Strict):
    """Where the trained model comes from: a function of source.py, or a file."""

    kind: SourceKind
    entry: Entry | None = Field(
        default=None, description="Function that returns the trained model (torch, sklearn, keras)."
    )
    file: FileName | None = Field(
        default=None,
        description="The model's file or folder, where no function returns it. With an entry of"
        " kind torch: the weights (.pth, .pt, .safetensors) of the module that it returns.",
    )
    reference: Entry | None = Field(
        default=None,
        description="Encoded inputs in, answers out, by the training framework's own code. Without"
        " it the framework answers to the tensors that the recipe's decoder gives.",
    )
    requires: list[str] = Field(
        default=[],
        description='"NAME==VERSION#sha256=HEX", "npm:NAME@VERSION#sha256=HEX" or'
        ' "apt:NAME=VERSION#sha256=HEX".',
    )
    inputs: dict[str, str] = Field(
        default={}, description="Our name of a network's input = its name in the file."
    )
    outputs: dict[str, str] = Field(
        default={}, description="Our name of a network's output = its name in the file."
    )

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if self.kind in FILE_KINDS and (self.entry is not None or self.file is None):
            raise ValueError(f'kind = "{self.kind}" has file = "..." and no entry')
        if self.entry is None and self.file is None:
            raise ValueError('give entry = "source:function" or file = "..."')
        if self.entry is not None and self.file is not None and self.kind != "torch":
            raise ValueError(
                'give either entry = "source:function" or file = "..."; both only for kind = '
                '"torch", where the file holds the weights of the module that the entry returns'
            )
        return self
