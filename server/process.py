"""The server as a process: run it here, or start one and stop it again."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import logging
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from json import dumps, loads
from pathlib import Path
from typing import IO, Any

from flask import Flask
from gunicorn.app.base import BaseApplication

from export.contract import read_index
from export.errors import SetupError
from server.config import Config

GRACE_S = 10
PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(frozen=True)
class RunningServer:
    """A server in processes of its own: the master and its one worker, in one process group."""

    url: str
    process: subprocess.Popen[bytes]
    log_file: Path

    def stop(self) -> None:
        """Ask it to end, answering what it has begun; after a while insist."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self._wait_for_all()
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would: no request is finished."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._wait_for_all()

    def log(self) -> str:
        """What it wrote to its log so far."""
        return self.log_file.read_text(errors="replace")

    def _wait_for_all(self) -> None:
        # The pipe of stdout ends when the last process of the group has gone, not only the first.
        self.process.communicate(timeout=GRACE_S + 5)


def serve(config: Config, *, json: bool = False) -> None:
    """Serve until stopped. Says where once it answers: a sentence, or with `json` {"url": ...}.

    Raises SetupError when the port cannot be had. Port 0 takes a free one.
    """
    listener = _listen(config.host, config.port)
    url = _url(config.host, listener.getsockname()[1])
    _Gunicorn(config, listener, _announcement(config, url, json=json)).run()


@contextlib.contextmanager
def running_server(
    models: Path,
    web: Path,
    *,
    environ: Mapping[str, str] | None = None,
    deadline_s: float = 30,
) -> Iterator[RunningServer]:
    """A server of its own on a free port, ready when given and gone afterwards.

    `environ` holds further LIKEWISE_* settings. Raises SetupError with the end of its log when
    it is not ready before the deadline.
    """
    command = [sys.executable, "-m", "server", "--port", "0", "--json"]
    command += ["--models", str(models.absolute()), "--web", str(web.absolute())]
    with tempfile.NamedTemporaryFile(prefix="likewise-server-", suffix=".log") as log:
        process = subprocess.Popen(
            command,
            cwd=Path(__file__).parents[1],
            env={**os.environ, **(environ or {})},
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )
        server = RunningServer(url="", process=process, log_file=Path(log.name))
        try:
            yield RunningServer(_wait(server, deadline_s), process, server.log_file)
        finally:
            server.stop()


def _end_with_parent() -> None:
    """In the child: end when the program that started it was killed and could not say so."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class _Gunicorn(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """One worker process, so that every session is loaded once; threads run the requests."""

    def __init__(self, config: Config, listener: socket.socket, announcement: str) -> None:
        self._config = config
        self._listener = listener
        self._announcement = announcement
        super().__init__()

    def load_config(self) -> None:
        settings: dict[str, Any] = {
            "bind": f"fd://{self._listener.fileno()}",
            "worker_class": "server.worker.Worker",
            "workers": 1,
            "threads": self._config.threads,
            "graceful_timeout": GRACE_S,
            "timeout": 120,
            "loglevel": "warning",
            "control_socket_disable": True,
            "post_worker_init": self._announce,
        }
        for name, value in settings.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """The application, made in the worker.

        Imported here too: a worker forked from a process that has loaded onnxruntime hangs when
        it ends.
        """
        from server.app import create_app

        logging.basicConfig(format="%(message)s", level=logging.WARNING)
        logging.getLogger("likewise.server").setLevel(logging.INFO)
        return create_app(self._config)

    def _announce(self, worker: Any) -> None:
        if worker.age == 1:  # later workers replace one that died
            sys.stdout.write(self._announcement + "\n")
            sys.stdout.flush()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise SetupError(_cannot_listen(host, port, error)) from error


def _cannot_listen(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} on {host} is in use: stop the program that listens there, or choose"
            " another port with --port 9000 or LIKEWISE_PORT=9000; port 0 takes a free one"
        )
    if error.errno == errno.EACCES:
        return f"port {port} on {host} is not allowed to this user: choose one above 1023"
    return f"cannot listen on {host} port {port}: {error.strerror}; set LIKEWISE_HOST to an address"


def _announcement(config: Config, url: str, *, json: bool) -> str:
    if json:
        return dumps({"url": url})
    count = len(read_index(config.models / "index.json").models)
    return f"Likewise serves {count} model{'' if count == 1 else 's'} at {url}"


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _wait(server: RunningServer, deadline_s: float) -> str:
    """The address that the server announces. Raises SetupError."""
    stdout = server.process.stdout
    line = _line(stdout, time.monotonic() + deadline_s) if stdout is not None else b""
    if not line.endswith(b"\n"):
        raise SetupError(f"the server did not start in {deadline_s:g} s:\n{server.log()[-2000:]}")
    return str(loads(line)["url"])


def _line(stream: IO[bytes], deadline: float) -> bytes:
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while not line.endswith(b"\n") and selector.select(max(deadline - time.monotonic(), 0)):
            byte = os.read(stream.fileno(), 1)
            if not byte:
                break
            line += byte
    return line
