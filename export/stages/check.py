"""check: the file is what the recipe says, and answers as the framework, alone and in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from export.contract import Tensor
from export.errors import Refused
from export.frozen import BATCHES, BY_STEPS, frozen_rows
from export.inspection.file_check import file_reasons
from export.network import network_outputs
from export.parity import check_outputs, compare
from export.runtime import Port, Session
from export.spec import decoded_inputs, judged_outputs, stream_of
from export.stages.results import Exported
from export.streaming import step_count
from export.tensors import Tensors, stack, unstack

COARSE = 1e-3  # a wrong graph is off by much more; the recipe's own limits judge the rest


def tensors_of(path: Path) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The graph's inputs and outputs as a contract tells them."""
    session = Session(path)
    return _told(path, session.inputs.values()), _told(path, session.outputs.values())


def check(exported: Exported, examples: Sequence[Tensors]) -> None:
    """Refused with every reason why the exported file must not go on.

    `examples`: the decoded golden examples, of every length there is among them.
    """
    reasons = [*map(str, file_reasons(exported.path)), *_check_inputs(exported)]
    if reasons:
        raise Refused(reasons)
    session = Session(exported.path, stream_of(exported.sourced.recipe.file.input))
    for positions in _lengths(examples):
        for batch in BATCHES:
            _check_batch(exported, session, examples, positions, batch)


def _told(path: Path, ports: Iterable[Port]) -> tuple[Tensor, ...]:
    ports = list(ports)
    if odd := [port for port in ports if port.dtype is None]:
        raise Refused([
            f"{path.name}: {port.name} is {port.type}, which no browser tensor is; cast it in the "
            "graph" for port in odd
        ])  # fmt: skip
    return tuple(
        Tensor.model_validate({"name": p.name, "dtype": p.dtype, "shape": p.shape}) for p in ports
    )


def _check_inputs(exported: Exported) -> list[str]:
    """What the decoder gives is what the graph takes, with a free batch; outputs as named."""
    section = exported.sourced.recipe.file.input
    stream = stream_of(section)
    states = {state.input for state in stream.states} if stream else set()
    wanted = {tensor.name: tensor for tensor in decoded_inputs(section)}
    there = {tensor.name: tensor for tensor in exported.inputs if tensor.name not in states}
    reasons = []
    if set(wanted) != set(there):
        reasons.append(f"inputs {sorted(there)}, the decoder gives {sorted(wanted)}")
    for name in wanted.keys() & there.keys():
        mine, its = wanted[name], there[name]
        if mine.dtype != its.dtype or not _fits(mine.shape or [], its.shape or [], bool(stream)):
            reasons.append(
                f"{name} is {its.dtype} {its.shape}, the decoder gives {mine.dtype} {mine.shape}"
            )
        elif not isinstance((its.shape or [1])[0], str):
            reasons.append(
                f"{name}: the batch is frozen at {(its.shape or [1])[0]}; export it with a free one"
            )
    names = {tensor.name for tensor in exported.outputs}
    needed = set(judged_outputs(exported.sourced.decision))
    if missing := needed - names:
        reasons.append(f"outputs {sorted(names)}, missing {sorted(missing)}")
    if stream and (lost := {state.output for state in stream.states} - names):
        reasons.append(f"states {sorted(lost)} are no outputs; the network gives "
                       f"{network_outputs(exported.sourced.recipe)}")  # fmt: skip
    return reasons


def _fits(wanted: Sequence[object], there: Sequence[object], stream: bool) -> bool:
    """A size the decoder leaves free must be free in the graph, but for a stream's steps."""
    if len(wanted) != len(there):
        return False
    return all(
        (not isinstance(w, int) and (not isinstance(t, int) or stream)) or w == t
        for w, t in zip(wanted[1:], there[1:], strict=True)
    )


def _over_all_steps(exported: Exported, example: Tensors) -> list[Tensor]:
    """The outputs; of a stream those that are no state, with the steps of all its samples."""
    stream = stream_of(exported.sourced.recipe.file.input)
    if stream is None:
        return list(exported.outputs)
    states = {state.output for state in stream.states}
    steps = step_count(next(iter(example.values())).shape[1], stream)
    told = [t for t in exported.outputs if t.name not in states]
    return [
        t.model_copy(update={
            "shape": [s * steps if i == 1 and isinstance(s, int) else s
                      for i, s in enumerate(t.shape or [])]
        })
        for t in told
    ]  # fmt: skip


def _lengths(examples: Sequence[Tensors]) -> list[list[int]]:
    """Positions by shape: the shortest, the longest and one between, or all of one shape."""
    groups: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for position, one in enumerate(examples):
        groups.setdefault(tuple(v.shape for v in one.values()), []).append(position)
    ordered = [groups[shape] for shape in sorted(groups)]
    return [ordered[i] for i in sorted({0, len(ordered) // 2, len(ordered) - 1})]


def _check_batch(
    exported: Exported, session: Session, examples: Sequence[Tensors], positions: Sequence[int],
    batch: int,
) -> None:  # fmt: skip
    chosen = [positions[i % len(positions)] for i in range(batch)]  # few examples are repeated
    shapes = {name: list(v.shape[1:]) for name, v in examples[chosen[0]].items()}
    where = f"{exported.path.name} with {batch} inputs {shapes} at once"
    sourced = exported.sourced
    try:
        outputs = session.run_batch(stack([examples[i] for i in chosen]))
    except Exception as error:
        raise Refused([f"{where}: does not run: {str(error).splitlines()[0]}"]) from error
    if frozen := frozen_rows(outputs, batch):
        rows = ", ".join(f"{n}: {len(outputs[n]) if outputs[n].ndim else 'none'}" for n in frozen)
        raise Refused([f"{where}: frozen batch: {batch} rows in, rows out: {rows}; {BY_STEPS}"])
    expected = _over_all_steps(exported, examples[chosen[0]])
    check_outputs(where, expected, sourced.decision, outputs, batch)
    judge = [sourced.examples.answers[i] for i in chosen]
    found = compare(where, sourced.decision, judge, unstack(outputs, batch), COARSE)
    scale = max(1.0, *(float(np.abs(v).max()) for one in judge for v in one.values()))
    if found.max_difference > COARSE * scale:
        raise Refused([
            f"{where}: an output differs from the framework's by {found.max_difference:.2g}, "
            f"limit {COARSE * scale:.2g}; compare the recipe's [input] with the training's "
            "pre-processing"
        ])  # fmt: skip
