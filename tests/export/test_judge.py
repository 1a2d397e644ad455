"""The judge: the framework's network between reference pre- and post-processing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from PIL import Image

from export.decode import decoder
from export.errors import SourceError
from export.judge import Judge
from export.recipe import Recipe, RecipeFile
from export.runtime import Session
from export.sample import Sample, SourceContext
from export.source_file import SourceFile
from export.sources import Source, load_source
from export.spec import decoded_inputs, input_spec
from export.stages.export import joined
from export.tensors import Tensors

LABELS = ["a", "b", "c"]
SOURCE = """
import numpy as np
import torch
from torch import nn

def model(context):
    torch.manual_seed(3)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 6 * 6, 3))

def by_reference(context, files):
    return np.tile(np.array([0.25, 0.25, 0.5]), (len(files), 1))

def too_few(context, files):
    return np.zeros((len(files) - 1, 3), np.float32)

def not_a_number(context, files):
    return np.full((len(files), 3), np.nan)

def another_name(context, files):
    return {"scores": np.zeros((len(files), 3), np.float32)}
"""


def recipe(folder: Path, reference: str | None = None) -> Recipe:
    (folder / "source.py").write_text(SOURCE)
    source: dict[str, Any] = {"kind": "torch", "entry": "source:model"}
    if reference:
        source["reference"] = f"source:{reference}"
    tensor = {"size": [8, 8], "mean": [0.4, 0.5, 0.6], "std": [0.2, 0.3, 0.4], "channels": "BGR"}
    file = RecipeFile.model_validate({
        "title": "t", "description": "d", "task": "any", "licence": "MIT", "source": source,
        "input": {"kind": "image", "tensor": tensor},
        "output": {"kind": "scores", "labels": "labels.txt", "top_k": 2},
        "data": {"about": "none", "examples": "*.png"}, "limits": {},
    })  # fmt: skip
    return Recipe("judged", folder, file)


def pictures(count: int) -> list[Sample]:
    random = np.random.default_rng(5)
    samples = []
    for number in range(count):
        buffer = io.BytesIO()
        pixels = random.integers(0, 256, (11 + number, 9, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(buffer, "PNG")
        samples.append(Sample(f"p-{number}", buffer.getvalue()))
    return samples


def made(folder: Path, reference: str | None = None) -> tuple[Recipe, Source, Judge]:
    described = recipe(folder, reference)
    context = SourceContext({}, folder)
    file = SourceFile(described, context)
    source = load_source(described, context, file)
    decode = decoder(input_spec(described.file.input), decoded_inputs(described.file.input), folder)
    return described, source, Judge(described, source, file, LABELS, decode)


def test_without_a_reference_it_answers_as_the_joined_graph(tmp_path: Path) -> None:
    described, source, judge = made(tmp_path)
    samples = pictures(5)
    answers = judge.answer(samples)
    assert [list(answer) for answer in answers] == [["probabilities"]] * 5
    assert judge.name.startswith("PyTorch ")
    assert judge.name.endswith("on the tensors of the recipe's decoder")

    source.export(tmp_path / "core.onnx")
    graph = joined(described, onnx.load(tmp_path / "core.onnx"), len(LABELS))
    session = Session(graph.SerializeToString())
    section = described.file.input
    decode = decoder(input_spec(section), decoded_inputs(section), tmp_path)
    for sample, answer in zip(samples, answers, strict=True):
        by_graph = session.run_batch(decode(sample.data))["probabilities"]
        assert answer["probabilities"].shape == by_graph.shape == (1, 3)
        np.testing.assert_allclose(answer["probabilities"], by_graph, rtol=0, atol=1e-6)
    assert len({answer["probabilities"].tobytes() for answer in answers}) == 5


def test_without_a_reference_it_answers_as_the_training_written_out(tmp_path: Path) -> None:
    _, source, judge = made(tmp_path)
    (sample,) = pictures(1)
    small = Image.open(io.BytesIO(sample.data)).resize((8, 8), Image.Resampling.BILINEAR)
    scaled = np.asarray(small, np.float32)[None, ..., ::-1] / 255
    normal = (scaled - np.array([0.4, 0.5, 0.6])) / np.array([0.2, 0.3, 0.4])
    given: Tensors = {"input": normal.transpose(0, 3, 1, 2).astype(np.float32)}
    scores = source.infer(given)["scores"].astype(np.float64)
    right = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(judge.answer([sample])[0]["probabilities"], right, atol=1e-6)


def test_a_batch_answers_as_each_alone(tmp_path: Path) -> None:
    _, _, judge = made(tmp_path)
    samples = pictures(4)
    together = judge.answer(samples)
    for sample, one in zip(samples, together, strict=True):
        (alone,) = judge.answer([sample])
        np.testing.assert_allclose(alone["probabilities"], one["probabilities"], atol=1e-6)


def test_a_reference_speaks_in_the_networks_place(tmp_path: Path) -> None:
    _, _, judge = made(tmp_path, "by_reference")
    answers = judge.answer(pictures(2))
    assert judge.name.endswith("with the training's own pre-processing")
    for answer in answers:
        assert answer["probabilities"].dtype == np.float32
        assert answer["probabilities"].tolist() == [[0.25, 0.25, 0.5]]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("too_few", "source:too_few returned 1 answers for 2 inputs"),
        ("not_a_number", "source:not_a_number: probabilities holds values that are not numbers"),
        ("another_name", "source:another_name returned no probabilities; it gave"),
    ],
)
def test_a_reference_out_of_form_is_refused(tmp_path: Path, entry: str, told: str) -> None:
    _, _, judge = made(tmp_path, entry)
    with pytest.raises(SourceError, match=told):
        judge.answer(pictures(2))
