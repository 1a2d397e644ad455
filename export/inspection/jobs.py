"""What runs inside the limited subprocess; only sandbox.py starts it.

Each job says what it is about to do before it does it, so that whoever waits knows where it ended.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from export.errors import LikewiseError
from export.inspection.external import external_tensors, take_in
from export.inspection.feeds import BATCHES, batch_sizes, candidates, inputs_of, rows_of
from export.inspection.file_check import model_reasons, read_model
from export.inspection.form import form_reasons
from export.inspection.packed import pack
from export.inspection.reason import Reason
from export.inspection.singles import single_operators
from export.inspection.walk import scopes
from export.runtime import Session
from export.tensors import Tensors

Say = Callable[..., None]
Job = Callable[[Mapping[str, Any], Path, Say], None]

MODEL, FEEDS, OUTPUTS = "model.onnx", "feeds.json", "outputs.json"
LOOPS = {"Loop", "Scan"}
MOST_OUTPUT_BYTES = 2**28
NO_MEMORY = re.compile(
    r"bad_alloc|bad allocation|allocate memory|out of memory|length_error|array is too big"
    r"|exceeds the supported maximum",
    re.I,
)


def examine(arguments: Mapping[str, Any], results: Path, say: Say) -> None:
    """Read, check, load and run one file; feeds and outputs are left in `results`."""
    path = Path(arguments["path"])
    say(step="read")
    reasons = form_reasons(path)
    read = read_model(path) if not reasons else reasons[0]
    if isinstance(read, Reason):
        say(reasons=[asdict(read)])
        return
    say(step="check")
    reasons = model_reasons(read, path)
    say(reasons=[asdict(reason) for reason in reasons])
    if any(reason.before == "running" for reason in reasons):
        return
    about = _about(read)
    say(about=about, loops=bool(LOOPS & about["operators"].keys()))
    if external_tensors(read):
        take_in(read, path.parent)
        (results / MODEL).write_bytes(read.SerializeToString())
    data = results / MODEL if (results / MODEL).exists() else path
    _load_and_run(data, read, arguments, results, say)


def operators(arguments: Mapping[str, Any], results: Path, say: Say) -> None:
    """A file of one node for each kind of node in the model, and which of them load."""
    say(step="split")
    model = onnx.load(arguments["path"])
    for number, (label, single) in enumerate(single_operators(model)):
        path = results / f"{number}.onnx"
        path.write_bytes(single.SerializeToString())
        say(step=f"load {number}", operator=label, file=path.name)
        try:
            Session(path)
        except LikewiseError as error:
            say(failed=label, error=str(error.__cause__ or error))


JOBS: Mapping[str, Job] = {"examine": examine, "operators": operators}


def _load_and_run(
    data: Path, model: onnx.ModelProto, arguments: Mapping[str, Any], results: Path, say: Say
) -> None:
    say(step="load")
    try:
        session = Session(data)
    except LikewiseError as error:
        _raise_memory(error)
        say(failed="load", error=str(error.__cause__ or error))
        return
    say(step="run", loaded=True)
    errors: list[str] = []
    try:
        for told, feeds in _choices(model, arguments):
            try:
                outputs = [session.run_batch(one) for one in feeds]
                (results / FEEDS).write_text(json.dumps([pack(one) for one in feeds]))
                (results / OUTPUTS).write_text(json.dumps([_bounded(one) for one in outputs]))
            except (MemoryError, LikewiseError):
                raise
            except Exception as error:  # the runtime raises many unrelated types
                _raise_memory(error)
                errors.append(str(error))
            else:
                say(ran=told, batches=[_rows(one) for one in feeds])
                return
        say(failed="run", error=errors[0])
    except LikewiseError as error:
        say(failed="run", error=str(error), code=error.code)


def _choices(
    model: onnx.ModelProto, arguments: Mapping[str, Any]
) -> Sequence[tuple[str, list[Tensors]]] | Any:
    inputs = inputs_of(model)
    if arguments.get("feeds") is None:
        return candidates(inputs, arguments.get("sizes") or {})
    with np.load(arguments["feeds"], allow_pickle=False) as given:
        feeds = {one.name: given[one.name] for one in inputs if one.name in given}
    if missing := [one.name for one in inputs if one.name not in feeds]:
        raise LikewiseError(f"the feeds lack {', '.join(missing)}", code="bad-feeds")
    text = {n: v.astype(np.object_) if v.dtype.kind == "U" else v for n, v in feeds.items()}
    rows = _rows(text)
    free = batch_sizes(inputs) == BATCHES and rows > 1
    return [("the given feeds", rows_of(text, (1, rows) if free else (rows,)))]


def _rows(feeds: Tensors) -> int:
    return min((len(v) for v in feeds.values() if v.ndim), default=1)


def _bounded(outputs: Tensors) -> list[dict[str, Any]]:
    size = sum(getattr(values, "nbytes", 0) for values in outputs.values())
    if size > MOST_OUTPUT_BYTES:
        raise LikewiseError(
            f"its outputs take {size:,} bytes, limit {MOST_OUTPUT_BYTES:,}", code="allocation-bomb"
        )
    return pack(outputs)


def _about(model: onnx.ModelProto) -> dict[str, Any]:
    """What people want to know of a model first."""
    counts: dict[str, int] = {}
    for scope in scopes(model):
        for node in scope.nodes:
            domain = f"{node.domain}." if node.domain not in ("", "ai.onnx") else ""
            counts[domain + node.op_type] = counts.get(domain + node.op_type, 0) + 1
    return {
        "ir": model.ir_version,
        "opsets": {o.domain or "ai.onnx": o.version for o in model.opset_import},
        "operators": counts,
    }


def _raise_memory(error: BaseException) -> None:
    """Raised again as what it is: the runtime wraps it in an error of its own."""
    if NO_MEMORY.search(f"{error} {error.__cause__ or ''}"):
        raise MemoryError(str(error.__cause__ or error)) from error


def _limit(request: Mapping[str, Any]) -> None:
    """After the imports, because the runtime alone reserves more than some jobs may take."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime) + 1 + int(request["cpu_s"])
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: cpu,
              resource.RLIMIT_FSIZE: int(request["file_bytes"])}  # fmt: skip
    statm = Path("/proc/self/statm")
    if statm.exists():
        pages = int(statm.read_text().split()[0])
        limits[resource.RLIMIT_AS] = pages * resource.getpagesize() + int(request["memory_bytes"])
    for what, most in limits.items():
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # One second between soft and hard: SIGXCPU then tells processor time from memory.
        spare = 1 if what == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else 0
        resource.setrlimit(what, (most, most + spare))


def main() -> None:
    """Read the request, take the limits, do the job."""
    request = json.loads(sys.stdin.read())
    results = Path(request["results"])
    _limit(request)
    with (results / "events.jsonl").open("w") as log:

        def say(**event: Any) -> None:
            log.write(json.dumps(event) + "\n")
            log.flush()

        try:
            JOBS[request["job"]](request["arguments"], results, say)
        except MemoryError as error:
            say(memory=str(error) or "no more memory")
        else:
            say(step="done")


if __name__ == "__main__":
    main()
