"""The server as a process: starting, saying where, stopping, dying."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from export.errors import SetupError
from server.process import RunningServer, running_server
from tests.server.asking import ask
from tests.server.conftest import ROOT


def start(*arguments: str, **environ: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "server", *arguments],
        cwd=ROOT,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_says_in_a_sentence_where_it_serves(models: Path, own_models: Path) -> None:
    process = start("--port", "0", "--models", str(own_models))
    assert process.stdout is not None
    said = process.stdout.readline()
    match = re.fullmatch(r"Likewise serves 1 model at (http://127\.0\.0\.1:[0-9]+)\n", said)
    assert match is not None, said
    assert ask(match[1], "/v2/health/live").status == 200
    process.send_signal(signal.SIGTERM)
    rest, _ = process.communicate(timeout=15)
    assert (process.returncode, rest) == (0, "")


def test_the_host_given_overrides_the_variable(own_models: Path) -> None:
    arguments = ("--host", "127.0.0.2", "--port", "0", "--models", str(own_models), "--json")
    process = start(*arguments, LIKEWISE_HOST="127.0.0.3")
    assert process.stdout is not None
    url = json.loads(process.stdout.readline())["url"]
    assert url.startswith("http://127.0.0.2:")
    process.terminate()
    process.communicate(timeout=30)


def test_a_port_in_use_is_said_with_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start("--port", str(port))
        _, error = process.communicate(timeout=30)
    assert process.returncode == 1
    assert f"port {port} on 127.0.0.1 is in use" in error
    assert "--port 9000" in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("LIKEWISE_HOST", "no.such.host.invalid", "cannot listen on no.such.host.invalid"),
        ("LIKEWISE_THREADS", "many", "LIKEWISE_THREADS is 'many'"),
    ],
)
def test_a_wrong_setting_is_said_at_the_start(name: str, value: str, said: str) -> None:
    process = start(**{name: value, "LIKEWISE_PORT": "0"})
    _, error = process.communicate(timeout=30)
    assert process.returncode == 1
    assert said in error
    assert "Traceback" not in error


def test_it_stops_soon_and_leaves_nothing(models: Path, web: Path) -> None:
    with running_server(models, web) as server:
        assert ask(server.url, "/v2/health/ready").status == 200
        began = time.monotonic()
    assert time.monotonic() - began < 5
    assert server.process.returncode == 0
    with pytest.raises(ProcessLookupError):
        os.killpg(server.process.pid, 0)


def test_a_killed_server_is_gone_at_once_with_its_worker(models: Path, web: Path) -> None:
    with running_server(models, web) as server:
        server.kill()
        with pytest.raises(OSError, match="refused"):
            ask(server.url, "/")


def test_an_orphaned_worker_ends(models: Path, web: Path) -> None:
    with running_server(models, web) as server:
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        for _ in range(100):
            try:
                ask(server.url, "/v2/health/live")
            except OSError:
                return
            time.sleep(0.1)
    pytest.fail("the worker went on for 10 s without its master")


def test_a_server_that_does_not_start_is_an_error_with_its_log(web: Path, models: Path) -> None:
    with (
        pytest.raises(SetupError, match="LIKEWISE_THREADS is '0'"),
        running_server(models, web, environ={"LIKEWISE_THREADS": "0"}),
    ):
        pytest.fail("it started")


def test_each_request_is_one_line_of_json_in_the_log(models: Path, web: Path) -> None:
    with running_server(models, web) as server:
        ask(server.url, "/sw.js?secret=1")
        ask(server.url, "/v2/models/digits/infer", "POST", b'{"inputs": "private"}')
        ask(server.url, '/"%0aquoted')
        lines = [json.loads(line) for line in _lines(server)]
    assert [(line["method"], line["path"], line["status"]) for line in lines] == [
        ("GET", "/sw.js", 200),
        ("POST", "/v2/models/digits/infer", 400),
        ("GET", '/"\nquoted', 404),
    ]
    assert all(line["ms"] >= 0 for line in lines)


def _lines(server: RunningServer) -> list[str]:
    return server.log().splitlines()


def test_it_ends_when_the_program_that_started_it_is_killed(models: Path, web: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from server.process import running_server\n"
        "with running_server(Path(sys.argv[1]), Path(sys.argv[2])) as server:\n"
        "    print(server.process.pid, flush=True); time.sleep(60)\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", script, str(models), str(web)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert starter.stdout is not None
    server = int(starter.stdout.readline())
    starter.kill()
    starter.communicate()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{server}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not Path(f"/proc/{server}").exists()
