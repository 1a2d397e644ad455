"""check: the file is what the recipe says, and answers as the framework at two batch sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from export.decode.pixels import Pixels
from export.errors import Refused
from export.graph_names import INPUT
from export.parity import check_outputs, compare
from export.runtime import Session
from export.samples import Probabilities
from export.stages.results import Exported

# com.microsoft: operators that onnxruntime-web has too; loading there is what proves it.
DOMAINS = {"", "ai.onnx", "ai.onnx.ml", "com.microsoft"}
MAX_OPSET, MAX_IR = 20, 10  # newer ones do not load in every shipped browser backend
BATCHES = (1, 3)
COARSE = 1e-3  # a wrong graph is off by much more; the recipe's own limits judge the rest


def check(exported: Exported, pixels: Pixels) -> None:
    """Refused with every reason why the exported file must not go on."""
    reasons = check_file(exported.path)
    if reasons:
        raise Refused(reasons)
    session = Session(exported.path)
    height, width, channels = pixels.shape[1:]
    reasons = _check_input(session, [height, width, channels])
    if reasons:
        raise Refused(reasons)
    judge = exported.sourced.examples.probabilities
    for batch in BATCHES:
        chosen = np.arange(batch) % len(pixels)  # few examples are repeated
        _check_batch(exported, session, pixels[chosen], judge[chosen])


def check_file(path: Path) -> list[str]:
    """What is wrong with an ONNX file by itself: form, operators, versions, completeness."""
    model = onnx.load(path, load_external_data=False)
    reasons = []
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # the checker raises several unrelated types
        reasons.append(f"{path.name}: not valid ONNX: {str(error).strip().splitlines()[0]}")
    if model.ir_version > MAX_IR:
        reasons.append(f"{path.name}: IR version {model.ir_version}, limit {MAX_IR}")
    for opset in model.opset_import:
        if opset.domain not in DOMAINS:
            reasons.append(
                f"{path.name}: operators of the domain {opset.domain!r} run in no browser"
            )
        elif opset.domain in ("", "ai.onnx") and opset.version > MAX_OPSET:
            reasons.append(f"{path.name}: opset {opset.version}, limit {MAX_OPSET}")
    outside = [
        t.name for t in model.graph.initializer if t.data_location == onnx.TensorProto.EXTERNAL
    ]
    if outside:
        reasons.append(
            f"{path.name}: {len(outside)} weights lie in another file, first {outside[0]}"
        )
    leaks = [node.name for node in model.graph.node if node.metadata_props or node.doc_string]
    if leaks:
        reasons.append(f"{path.name}: {len(leaks)} nodes carry private metadata, first {leaks[0]}")
    return reasons


def _check_input(session: Session, size: list[int]) -> list[str]:
    kind, shape = session.inputs.get(INPUT, ("missing", []))
    if set(session.inputs) != {INPUT}:
        return [f"inputs {sorted(session.inputs)}, expected only {INPUT!r}"]
    if kind != "tensor(uint8)" or shape[1:] != size or not isinstance(shape[0], str):
        return [f"{INPUT} is {kind} {shape}, expected tensor(uint8) {['batch', *size]}"]
    return []


def _check_batch(
    exported: Exported, session: Session, pixels: Pixels, judge: Probabilities
) -> None:
    batch = len(pixels)
    where = f"{exported.path.name} with {batch} pictures at once"
    try:
        outputs = session.run(pixels)
    except Exception as error:
        raise Refused([f"{where}: does not run: {str(error).splitlines()[0]}"]) from error
    sourced = exported.sourced
    top_k = sourced.recipe.file.output.top_k
    got = check_outputs(where, dict(outputs), batch, len(sourced.labels), top_k)
    found = compare(where, judge, np.asarray(got), COARSE)
    if found.max_difference > COARSE:
        raise Refused([
            f"{where}: a probability differs from the framework's by {found.max_difference:.2g}, "
            f"limit {COARSE}; compare the recipe's [input] with the reference's pre-processing"
        ])  # fmt: skip
