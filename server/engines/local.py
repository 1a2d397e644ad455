"""The engine in this process: ONNX Runtime on the CPU."""

from __future__ import annotations

import threading
from collections import OrderedDict

import onnxruntime as ort

from export.contract import Contract, Tensor
from server.engines import Task
from server.engines.deadlines import Deadlines
from server.errors import BadContract, Busy, ServerError, TimedOut
from server.tensors import Array

MAX_SESSIONS = 16

# onnxruntime's names of a contract's types.
_TYPES = {
    "bool": "tensor(bool)",
    "uint8": "tensor(uint8)",
    "int32": "tensor(int32)",
    "int64": "tensor(int64)",
    "float32": "tensor(float)",
    "string": "tensor(string)",
}


class LocalEngine:
    """One shared session per model file, a bounded number of runs at once, a deadline for each.

    onnxruntime gives up Python's lock while it runs, so threads are enough.
    """

    provider = "CPUExecutionProvider"

    def __init__(self, *, threads: int, at_once: int, timeout_s: float) -> None:
        self._threads = threads
        self._timeout_s = timeout_s
        self._deadlines = Deadlines(timeout_s)
        self._free = threading.BoundedSemaphore(at_once)
        self._sessions: OrderedDict[str, ort.InferenceSession] = OrderedDict()
        self._loading: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()  # of the two above, never held while loading

    def infer(self, task: Task) -> list[Array]:
        """See Engine."""
        session = self._session(task)  # before a place is taken: loading must not keep one
        if not self._free.acquire(timeout=self._timeout_s):
            raise Busy(f"all engines were busy for {self._timeout_s:g} s; try again later")
        try:
            return self._run(session, task)
        finally:
            self._free.release()

    def _run(self, session: ort.InferenceSession, task: Task) -> list[Array]:
        options = ort.RunOptions()

        def stop() -> None:
            options.terminate = True

        with self._deadlines.after(stop) as deadline:
            try:
                outputs: list[Array] = session.run(
                    list(task.outputs), dict(task.inputs), run_options=options
                )
            except Exception as error:  # onnxruntime's errors share no other base
                label = _label(task)
                if deadline.passed:
                    raise TimedOut(f"{label}: stopped after {self._timeout_s:g} s") from error
                raise ServerError(f"{label}: the model failed on this input") from error
        return outputs

    def _session(self, task: Task) -> ort.InferenceSession:
        # By content: a file that was switched on disk can never meet an old session.
        key = task.variant.sha256
        session = self._known(key)
        if session is not None:
            return session
        with self._lock:
            loading = self._loading.setdefault(key, threading.Lock())
        if not loading.acquire(timeout=self._timeout_s):
            raise Busy(f"{_label(task)}: still loading after {self._timeout_s:g} s; try again")
        try:
            return self._known(key) or self._keep(key, self._load(task))
        finally:
            loading.release()

    def _known(self, key: str) -> ort.InferenceSession | None:
        with self._lock:
            session = self._sessions.get(key)
            if session is not None:
                self._sessions.move_to_end(key)
        return session

    def _keep(self, key: str, session: ort.InferenceSession) -> ort.InferenceSession:
        with self._lock:
            self._sessions[key] = session
            if len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        return session

    def _load(self, task: Task) -> ort.InferenceSession:
        options = ort.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # A model read from bytes looks for external data in the working folder: give it none.
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", "/dev/null"
        )
        try:
            session = ort.InferenceSession(task.read(), options, providers=[self.provider])
        except ServerError:
            raise
        except Exception as error:  # onnxruntime's errors share no other base
            raise BadContract(f"{_label(task)}: onnxruntime cannot load the model") from error
        _check_fits(session, task.contract, _label(task))
        return session


def _check_fits(session: ort.InferenceSession, contract: Contract, label: str) -> None:
    def told(tensors: list[Tensor]) -> list[tuple[str, str]]:
        return [(tensor.name, _TYPES[tensor.dtype]) for tensor in tensors]

    inputs = [(node.name, node.type) for node in session.get_inputs()]
    outputs = [(node.name, node.type) for node in session.get_outputs()]
    if inputs != told(contract.inputs) or outputs != told(contract.outputs):
        raise BadContract(f"{label}: the model's inputs or outputs are not those of its contract")


def _label(task: Task) -> str:
    return f"{task.contract.name}/{task.contract.version} {task.variant.file}"
