"""Settings: read from the environment, wrong ones named, all of them in the manual."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from export.errors import SetupError
from server.config import Config, from_environment
from tests.server.conftest import ROOT


def test_defaults_serve_this_folder_to_this_machine_alone() -> None:
    config = from_environment({})
    assert (config.host, config.port) == ("127.0.0.1", 8000)
    assert (config.models, config.web) == (Path.cwd() / "models", Path.cwd() / "web/dist")


def test_every_setting_can_be_given() -> None:
    config = from_environment(
        {
            "LIKEWISE_MODELS": "/a",
            "LIKEWISE_WEB": "/b",
            "LIKEWISE_HOST": "::1",
            "LIKEWISE_PORT": "0",
            "LIKEWISE_THREADS": "4",
            "LIKEWISE_MAX_BODY_MB": "1",
            "LIKEWISE_MAX_BATCH": "2",
            "LIKEWISE_INFER_THREADS": "3",
            "LIKEWISE_INFER_AT_ONCE": "5",
            "LIKEWISE_INFER_TIMEOUT_S": "6",
        }
    )
    assert config == Config(Path("/a"), Path("/b"), "::1", 0, 4, 1, 2, 3, 5, 6)
    assert config.max_body_bytes == 1_000_000


@pytest.mark.parametrize("value", ["", "x", "-1", "1.5", "65536", "٣", "1e3", "9" * 99])
def test_a_wrong_number_is_named_with_its_limits(value: str) -> None:
    with pytest.raises(SetupError, match=r"LIKEWISE_PORT is .* from 0 to 65535"):
        from_environment({"LIKEWISE_PORT": value})


def test_all_wrong_settings_are_named_at_once() -> None:
    with pytest.raises(SetupError) as caught:
        from_environment({"LIKEWISE_PORT": "x", "LIKEWISE_THREADS": "0"})
    assert "LIKEWISE_PORT" in str(caught.value)
    assert "LIKEWISE_THREADS" in str(caught.value)


def test_the_manual_lists_exactly_the_settings_there_are() -> None:
    table = (ROOT / "docs/settings.md").read_text()
    documented = re.findall(r"^\| `(LIKEWISE_[A-Z_]+)` \|", table, re.MULTILINE)
    assert documented == [f"LIKEWISE_{field.name.upper()}" for field in fields(Config)]
