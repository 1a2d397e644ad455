"""Silero's recipe: our module, its TorchScript and its ONNX file are three ways to one answer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from export.packages import fetch
from export.recipe import read_recipe
from export.sample import Sample, SourceContext
from export.source_file import SourceFile
from export.workspace import ROOT, Workspace

RECIPE = read_recipe(ROOT / "models", "silero")


@pytest.fixture(scope="module")
def source() -> SourceFile:
    workspace = Workspace()
    packages = fetch(RECIPE.file.source.requires, workspace.work / "packages")
    return SourceFile(RECIPE, SourceContext(packages, workspace.work))


@pytest.fixture(scope="module")
def sounds(source: SourceFile) -> list[Sample]:
    samples: list[Sample] = source.call("source:examples")
    return samples


def stepped(source: SourceFile, sound: bytes) -> Iterator[float]:
    module = source.module
    net = source.call("source:model")
    state, context = torch.zeros(2, 1, module.WIDE), torch.zeros(1, module.BEFORE)
    for step in module.stepped(module.read(sound)):
        with torch.inference_mode(), module.one_thread():
            score, state, context = net(torch.from_numpy(step)[None], state, context)
        yield score.item()


def test_the_rebuilt_module_answers_as_the_torchscript_that_silero_delivers(
    source: SourceFile, sounds: list[Sample]
) -> None:
    data = [sound.data for sound in sounds]
    for sound, delivered in zip(data, source.call("source:reference", data), strict=True):
        ours = np.array(list(stepped(source, sound)), np.float32)
        # TorchScript fuses operators once it has run: sums in another order, hundreds of steps.
        assert np.abs(ours - delivered).max() < 1e-5


def test_the_torchscript_answers_as_the_onnx_file_that_silero_delivers(
    source: SourceFile, sounds: list[Sample]
) -> None:
    data = [sound.data for sound in sounds]
    pairs = zip(
        source.call("source:by_onnx", data), source.call("source:reference", data), strict=True
    )
    assert max(np.abs(one - other).max() for one, other in pairs) < 1e-4


def test_speech_is_told_from_tones_and_noise(source: SourceFile, sounds: list[Sample]) -> None:
    answers = source.call("source:reference", [sound.data for sound in sounds])
    heard = {s.id: float((a >= 0.5).mean()) for s, a in zip(sounds, answers, strict=True)}
    silent = ("ascending-2tone", "beep", "noise", "silence")
    assert [heard[name] for name in silent] == [0, 0, 0, 0]
    assert heard["tt-weasels"] > 0.8
