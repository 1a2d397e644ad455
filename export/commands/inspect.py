"""`likewise inspect FILE`: what is in an ONNX file, without running it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import onnx
from rich.console import Console
from rich.table import Table

from export.console import json_errors
from export.drafting.look_onnx import ports, read_graph
from export.drafting.looked import Port

MOST_LAYERS = 15
BYTES: dict[int, float] = {
    onnx.TensorProto.FLOAT: 4, onnx.TensorProto.FLOAT16: 2, onnx.TensorProto.BFLOAT16: 2,
    onnx.TensorProto.DOUBLE: 8, onnx.TensorProto.INT64: 8, onnx.TensorProto.INT32: 4,
    onnx.TensorProto.INT8: 1, onnx.TensorProto.UINT8: 1, onnx.TensorProto.BOOL: 1,
    onnx.TensorProto.INT4: 0.5, onnx.TensorProto.UINT4: 0.5,
}  # fmt: skip


@dataclass(frozen=True)
class Layer:
    """A node with weights: how many bytes they have."""

    name: str
    operator: str
    size_bytes: int


@dataclass(frozen=True)
class Inside:
    """What an ONNX file says of itself."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    operators: dict[str, int]
    layers: tuple[Layer, ...]
    opsets: dict[str, int]
    ir: int
    size_bytes: int
    """Of the file itself, without weights in other files."""


@click.command("inspect")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Every layer, not the largest alone.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON, for machines.")
def inspect(file: Path, everything: bool, as_json: bool) -> None:
    """Show what is in an ONNX FILE: inputs, outputs, operators, bytes by layer, opset.

    The file is parsed only. Which of the shipped runtimes loads it, and whether they agree, is told
    by `likewise check FILE`.
    """
    with json_errors(as_json):
        found = look_inside(file)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=1))
        return
    console = Console()
    opsets = ", ".join(f"{domain} {version}" for domain, version in found.opsets.items())
    console.print(
        f"[bold]{file.name}[/]  {found.size_bytes / 1e6:.2f} MB, opset {opsets}, IR {found.ir}",
        highlight=False,
    )
    console.print(_ports(found), _operators(found), _layers(found, everything), sep="\n")


def look_inside(path: Path) -> Inside:
    """Parse a file; SourceError when it is no ONNX file."""
    model = read_graph(path)
    inputs, outputs = ports(model)
    return Inside(
        inputs, outputs,
        dict(Counter(_operator(node) for node in model.graph.node).most_common()),
        tuple(sorted(_weighted(model.graph), key=lambda layer: -layer.size_bytes)),
        {item.domain or "ai.onnx": item.version for item in model.opset_import},
        model.ir_version, path.stat().st_size,
    )  # fmt: skip


def _weighted(graph: onnx.GraphProto) -> list[Layer]:
    sizes = {tensor.name: _size(tensor) for tensor in graph.initializer}
    taken: set[str] = set()
    layers = []
    for node in graph.node:
        mine = {name for name in node.input if name in sizes} - taken
        taken |= mine
        if mine:
            name = node.name or (node.output[0] if node.output else "")
            layers.append(Layer(name, _operator(node), sum(sizes[one] for one in mine)))
    return layers


def _size(tensor: onnx.TensorProto) -> int:
    count = 1
    for size in tensor.dims:
        count *= size
    return int(count * BYTES.get(tensor.data_type, 1))


def _operator(node: onnx.NodeProto) -> str:
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


def _ports(found: Inside) -> Table:
    table = _table("", "name", "type", "shape")
    for what, values in (("input", found.inputs), ("output", found.outputs)):
        for port in values:
            shape = "unknown" if port.shape is None else str([s or "?" for s in port.shape])
            table.add_row(what, port.name, port.dtype, shape)
    return table


def _operators(found: Inside) -> Table:
    table = _table("operator", "nodes")
    for name, count in found.operators.items():
        table.add_row(name, f"{count:,}")
    return table


def _layers(found: Inside, everything: bool) -> Table:
    total = sum(layer.size_bytes for layer in found.layers) or 1
    shown = found.layers if everything else found.layers[:MOST_LAYERS]
    table = _table("layer", "operator", "weights", "share")
    for layer in shown:
        share = f"{layer.size_bytes / total:.1%}"
        table.add_row(layer.name, layer.operator, f"{layer.size_bytes / 1e6:.3f} MB", share)
    if rest := len(found.layers) - len(shown):
        table.add_row(f"and {rest} more (--all)", "", "", "")
    return table


def _table(*titles: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in titles:
        table.add_column(title, overflow="fold")
    return table
