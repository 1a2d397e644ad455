"""A graph that says it takes any batch and answers for one row only: found by running it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from export.tensors import Answers, Array, Tensors, batches, stack

Run = Callable[[Tensors], Answers]
"""Runs one stacked batch."""

BATCHES = (1, 2, 3)
BY_STEPS = "a loop or a condition over the batch was recorded as it went once; write it without"
TOLERANCE = 1e-3  # a row of another input is off by much more


def batch_check(
    run: Run,
    feeds: Sequence[Tensors],
    *,
    outputs: Collection[str] | None = None,
    sizes: Sequence[int] = BATCHES,
    tolerance: float = TOLERANCE,
) -> list[str]:
    """Why the graph does not answer a batch as it answers its rows alone; none: it does.

    `feeds`: single inputs (leading axis 1), which should differ from each other; each shape (each
    length) among them is tried at every batch size. `outputs`: those with a row for each input,
    all by default. `tolerance`: relative to the largest value of an output.
    """
    wrong: list[str] = []
    for positions in batches(feeds, len(feeds) or 1):
        for size in sizes:
            chosen = [feeds[positions[i % len(positions)]] for i in range(size)]
            if reason := _one_batch(run, chosen, outputs, tolerance):
                wrong.append(reason)
                break  # larger batches of the same shape say the same
    return wrong


def frozen_rows(answers: Answers, rows: int, outputs: Collection[str] | None = None) -> list[str]:
    """The outputs that do not have as many rows as went in."""
    names = [name for name in answers if outputs is None or name in outputs]
    return [n for n in names if answers[n].ndim == 0 or len(answers[n]) != rows]


def _one_batch(
    run: Run, chosen: Sequence[Tensors], outputs: Collection[str] | None, tolerance: float
) -> str | None:
    rows = len(chosen)
    where, given = f"{_rows(rows)} in", _shapes(chosen[0])
    try:
        together = run(stack(chosen))
    except Exception as error:  # runtimes and frameworks raise what they like
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return f"frozen batch or length: {where} ({given}): does not run: {lines[0][:200]}"
    if frozen := frozen_rows(together, rows, outputs):
        name = frozen[0]
        out = _rows(len(together[name])) if together[name].ndim else "a single value"
        return f"frozen batch: {where}, {out} out ({name}, for {given}); {BY_STEPS}"
    alone = [run(one) for one in chosen] if rows > 1 else []
    for name in (n for n in together if outputs is None or n in outputs):
        for row, answer in enumerate(alone):
            gap = _gap(answer[name], together[name][row : row + 1])
            if gap > tolerance:
                return (
                    f"frozen batch: {where} ({given}): row {row} of {name} differs from its answer "
                    f"alone by {gap:.2g} of its largest value, limit {tolerance:g}; a row must not "
                    "depend on its neighbours"
                )
    return None


def _gap(alone: Array, together: Array) -> float:
    """The largest difference, relative to the largest value or 1; inf where shapes differ."""
    if alone.shape != together.shape:
        return float("inf")
    if alone.size == 0:
        return 0.0
    if alone.dtype.kind in "OUSb":
        return float(not np.array_equal(alone, together))
    one, other = alone.astype(np.float64), together.astype(np.float64)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    gaps = np.where(same, 0.0, np.abs(one - other))
    if np.isnan(gaps).any() or np.isinf(gaps).any():
        return float("inf")
    finite = np.abs(one[np.isfinite(one)])
    return float(gaps.max() / max(1.0, finite.max() if finite.size else 1.0))


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _shapes(one: Tensors) -> str:
    return ", ".join(f"{name} {list(values.shape[1:])}" for name, values in one.items())
