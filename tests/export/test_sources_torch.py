"""PyTorch modules, weights, programs and TorchScript: as PyTorch, at other sizes than exported."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from export.errors import RecipeError, SourceError
from export.frozen import batch_check
from export.recipe import Recipe
from export.runtime import Session
from export.sources import Source
from export.workspace import ROOT
from tests.export.sourced import checked, differences, exported, feeds, loaded, tensors, write

CASES = ROOT / "tests/cases"
ENTRY = 'kind = "torch"\nentry = "source:model"'
ROW = tensors({"x": ("float32", ["batch", 6])}, ["y"])
# Modules of the public cases, as their reports have them.
CODE = """
import torch
from torch import nn

class Loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(6, 4)
    def forward(self, x):
        y = torch.stack([self.l(row) for row in x])
        return y - y.mean()

class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(6, 4)
    def forward(self, x):
        return torch.softmax(self.l(x + torch.zeros(x.shape[0], 6)), -1)

class Hidden(nn.Module):
    def __init__(self):
        super().__init__()
        self.g = nn.GRU(3, 5, batch_first=True)
    def forward(self, x):
        start = torch.zeros(1, x.shape[0], 5)
        return self.g(x, start)[1][0]

class Shrink(nn.Module):
    def __init__(self, size, smooth):
        super().__init__()
        self.size, self.smooth = size, smooth
    def forward(self, x):
        return nn.functional.interpolate(
            x, self.size, mode="bilinear", align_corners=False, antialias=self.smooth)

def loop(context): return Loop()
def plain(context): return Plain()
def hidden(context): return Hidden()
def one(context): return Shrink((1, 1), False)
def smooth(context): return Shrink((5, 7), True)
def training(context):
    return nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.5),
                         nn.Flatten(), nn.Linear(24, 3)).train()

class Two(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.words, self.out = nn.Embedding(9, 4), nn.Linear(4, 3)
    def forward(self, ids, mask):
        hidden = self.words(ids) * mask.unsqueeze(-1)
        return {"hidden": hidden, "scores": self.out(hidden.sum(1))}

def two(context): return Two()
def nothing(context): return "weights"
"""
# Case: entry, its file of weights, shape of x without the batch.
RIGHT: dict[str, tuple[str, str | None, list[int | str]]] = {
    "export-batch-one-baked": ("plain", "weights.pt", [6]),
    "export-gru-hidden-baked": ("hidden", "weights.pt", ["steps", 3]),
    "export-left-in-training-mode": ("training", "weights.pt", [2, 8]),
    "export-resize-1x1": ("one", None, [1, 4, 5]),
    "export-resize-antialias": ("smooth", None, [3, 16, 19]),
}  # fmt: skip


def of_case(tmp_path: Path, case: str, entry: str, weights: str | None, body: str) -> Recipe:
    file = f'\nfile = "{weights}"' if weights else ""
    recipe = write(tmp_path, f'kind = "torch"\nentry = "source:{entry}"{file}', body, CODE)
    if weights:
        (recipe.folder / weights).write_bytes((CASES / case / weights).read_bytes())
    return recipe


@pytest.mark.parametrize("case", RIGHT)
def test_the_public_cases_export_to_the_right_values(tmp_path: Path, case: str) -> None:
    entry, weights, shape = RIGHT[case]
    body = tensors({"x": ("float32", ["batch", *shape])}, ["y"])
    recipe = of_case(tmp_path, case, entry, weights, body)
    source = loaded(recipe)
    expected, told = (
        np.load(CASES / case / "expected.npz"),
        json.loads((CASES / case / "case.json").read_text()),
    )
    path = exported(source, tmp_path)
    answer = Session(path).run_batch({"x": expected["x"]})["y"]
    np.testing.assert_allclose(answer, expected["y"], **told["tolerance"])
    np.testing.assert_allclose(source.infer({"x": expected["x"]})["y"], expected["y"], 1e-4, 1e-5)
    for batch in (1, 3, 7):
        assert differences(source, path, feeds(recipe, batch))["y"] < 1e-5


def test_a_loop_over_the_batch_is_refused_or_its_file_found_frozen(tmp_path: Path) -> None:
    case = "export-batch-loop-baked"
    recipe = of_case(tmp_path, case, "loop", "weights.pt", ROW)
    source, path = loaded(recipe), tmp_path / "core.onnx"
    refused = ""
    try:
        source.export(path)
    except SourceError as error:
        refused = str(error)
    else:
        rows = [feeds(recipe, 1)] * 3
        refused = "; ".join(batch_check(Session(path).run_batch, rows))
    assert "frozen batch" in refused or "with free batch" in refused


def test_a_module_in_training_mode_answers_without_dropout_and_stays_as_it_was(
    tmp_path: Path,
) -> None:
    case = "export-left-in-training-mode"
    body = tensors({"x": ("float32", ["batch", 2, 8])}, ["y"])
    recipe = of_case(tmp_path, case, "training", "weights.pt", body)
    source = loaded(recipe)
    module = source._module  # type: ignore[attr-defined]
    module[0].eval()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    modes = [part.training for part in module.modules()]
    given = feeds(recipe, 3)
    first = source.infer(given)["y"]
    source.export(tmp_path / "core.onnx")
    assert np.array_equal(source.infer(given)["y"], first)
    assert [part.training for part in module.modules()] == modes
    assert modes[0]
    assert not modes[1]
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())


def test_several_inputs_and_outputs_keep_their_names_and_free_sizes(tmp_path: Path) -> None:
    words = ("int64", ["batch", "tokens"])
    body = tensors({"ids": words, "mask": words}, ["hidden", "scores"])  # type: ignore[dict-item]
    recipe = write(tmp_path, ENTRY.replace("model", "two"), body, CODE)
    source = loaded(recipe)
    path = exported(source, tmp_path)
    session = Session(path)
    assert [*session.inputs] == ["ids", "mask"]
    assert session.inputs["ids"].shape == ["batch", "tokens"]
    assert session.outputs["hidden"].shape == ["batch", "tokens", 4]
    for batch, size in ((1, 1), (3, 12)):
        assert max(differences(source, path, feeds(recipe, batch, size)).values()) < 1e-6


@pytest.mark.parametrize("nested", [False, True])
def test_weights_in_safetensors_and_beside_an_optimiser_are_read(
    tmp_path: Path, nested: bool
) -> None:
    module = nn.Linear(6, 4)
    code = CODE + "\ndef model(context): return nn.Linear(6, 4)\n"
    name = "weights.pth" if nested else "weights.safetensors"
    recipe = write(tmp_path, f'{ENTRY}\nfile = "{name}"', ROW, code)
    if nested:
        torch.save({"epoch": 3, "state_dict": module.state_dict()}, recipe.folder / name)
    else:
        (recipe.folder / name).write_bytes(safetensors(dict(module.state_dict())))
    given = feeds(recipe, 2)
    answer = loaded(recipe).infer(given)["y"]
    assert np.array_equal(answer, module(torch.from_numpy(given["x"])).detach().numpy())


def safetensors(weights: dict[str, torch.Tensor]) -> bytes:
    header, data = {}, b""
    for name, tensor in weights.items():
        raw = tensor.numpy().tobytes()
        header[name] = {
            "dtype": "F32", "shape": [*tensor.shape], "data_offsets": [len(data), len(data + raw)],
        }  # fmt: skip
        data += raw
    told = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    return len(told).to_bytes(8, "little") + told + data


WRONG_WEIGHTS = {
    "whole.pt": (lambda path: torch.save(nn.Linear(6, 4), path), "a pickle that can run any code"),
    "other.pt": (
        lambda path: torch.save(nn.Linear(5, 4).state_dict(), path),
        r"other.pt does not fit .* size mismatch for weight",
    ),
    "list.pt": (lambda path: torch.save([1, 2], path), "holds no state dict"),
    "html.pt": (lambda path: path.write_text("<html>"), "not a plain file of weights"),
    "cut.safetensors": (
        lambda path: path.write_bytes(safetensors(dict(nn.Linear(6, 4).state_dict()))[:-9]),
        "not a safetensors file: a tensor at",
    ),
    "huge.safetensors": (lambda path: path.write_bytes(b"\xff" * 99), "a header of"),
}


@pytest.mark.parametrize("name", WRONG_WEIGHTS)
def test_weights_that_do_not_fit_are_refused_by_name(tmp_path: Path, name: str) -> None:
    make, told = WRONG_WEIGHTS[name]
    code = CODE + "\ndef model(context): return nn.Linear(6, 4)\n"
    recipe = write(tmp_path, f'{ENTRY}\nfile = "{name}"', ROW, code)
    make(recipe.folder / name)  # type: ignore[no-untyped-call]
    with pytest.raises(SourceError, match=told):
        loaded(recipe)


def test_a_program_of_torch_export_is_read(tmp_path: Path) -> None:
    recipe = write(tmp_path, 'kind = "torch"\nfile = "net.pt2"', ROW)
    torch.manual_seed(2)
    module = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2)).eval()
    rows = {0: torch.export.Dim("rows")}
    program = torch.export.export(module, (torch.zeros(2, 6),), dynamic_shapes=(rows,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(program, recipe.folder / "net.pt2")
    source = loaded(recipe)
    path = exported(source, tmp_path)
    for batch in (1, 3):
        assert differences(source, path, feeds(recipe, batch))["y"] < 1e-6


class Branching(nn.Module):
    """A branch over data: tracing loses it, scripting keeps it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.net = nn.LSTM(6, 4, batch_first=True)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if x.mean() > 0.5:
            x = x * 2.0
        hidden = self.drop(self.net(x)[0])
        return hidden, hidden.sum(dim=1)


def script(tmp_path: Path, method: str) -> tuple[Recipe, Source]:
    body = tensors({"x": ("float32", ["batch", "steps", 6])}, ["hidden", "total"])
    recipe = write(tmp_path, 'kind = "torchscript"\nfile = "net.pt"', body)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = Branching()
        made = (
            torch.jit.script(module) if method == "script"
            else torch.jit.trace(module.eval(), torch.zeros(2, 7, 6))  # type: ignore[no-untyped-call]
        )  # fmt: skip
        made.save(str(recipe.folder / "net.pt"))
    return recipe, loaded(recipe)


@pytest.mark.parametrize("method", ["script", "trace"])
def test_torchscript_exports_with_its_branches_at_every_batch_and_length(
    tmp_path: Path, method: str
) -> None:
    recipe, source = script(tmp_path, method)
    path = exported(source, tmp_path)
    assert Session(path).outputs["hidden"].shape == ["batch", "hidden_1", 4]
    for batch, size in ((1, 5), (3, 12)):
        given = feeds(recipe, batch, size)
        assert max(differences(source, path, given).values()) < 1e-5
        higher = {"x": given["x"] + np.float32(1)}  # the other way of the branch
        assert max(differences(source, path, higher).values()) < 1e-5


class WithDefault(nn.Module):
    """One argument with a default that decides which way is taken."""

    def forward(self, x: torch.Tensor, twice: bool = True) -> torch.Tensor:
        return x * 2.0 if twice else x


def test_an_argument_of_torchscript_that_has_a_default_keeps_it(tmp_path: Path) -> None:
    body = tensors({"x": ("float32", ["batch", 3])}, ["y"])
    recipe = write(tmp_path, 'kind = "torchscript"\nfile = "net.pt"', body)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made: Any = torch.jit.script(WithDefault())
        made.save(str(recipe.folder / "net.pt"))
        source = loaded(recipe)
    given = feeds(recipe, 3)
    assert source.infer(given)["y"] == pytest.approx(given["x"] * 2)
    assert differences(source, exported(source, tmp_path), given)["y"] == 0


def test_what_is_no_torchscript_is_refused(tmp_path: Path) -> None:
    recipe = write(tmp_path, 'kind = "torchscript"\nfile = "net.pt"', ROW)
    torch.save(nn.Linear(6, 4).state_dict(), recipe.folder / "net.pt")
    with pytest.raises(SourceError, match=r"net\.pt: PyTorch cannot load it"):
        loaded(recipe)


WRONG_SOURCES = {
    ENTRY.replace("model", "nothing"): (SourceError, "returned str; it must return a torch.nn"),
    ENTRY.replace("model", "absent"): (RecipeError, "there is no function absent"),
    'kind = "torch"\nfile = "net.pth"': (RecipeError, "for a file of weights give also"),
    'kind = "torchscript"\nentry = "source:two"': (RecipeError, "has file = .* and no entry"),
    'kind = "sklearn"\nentry = "source:two"\nfile = "a.skops"': (RecipeError, "give either entry"),
    'kind = "torch"': (RecipeError, "give entry = .* or file = "),
}  # fmt: skip


@pytest.mark.parametrize("section", WRONG_SOURCES)
def test_a_wrong_source_section_is_told_what_to_write(tmp_path: Path, section: str) -> None:
    kind, told = WRONG_SOURCES[section]
    (tmp_path / "a-model").mkdir()
    (tmp_path / "a-model/net.pth").touch()
    with pytest.raises(kind, match=told):
        loaded(write(tmp_path, section, ROW, CODE))


RECURRENT = """
import torch
from torch import nn

class Recurrent(nn.Module):
    state_shapes = {"state": [2, "batch", 3]}
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 3)
    def forward(self, samples, state):
        first = torch.tanh(self.l(samples) + state[0])
        second = torch.tanh(first + state[1])
        return second.mean(1, keepdim=True), torch.stack([first, second])

def model(context):
    net = Recurrent()
    context.cache.mkdir(exist_ok=True)
    torch.save(net.state_dict(), context.cache / "weights.pt")
    return net

def examples(context):
    import io, wave
    from export.sample import Sample
    made = []
    for count in (3, 4, 9, 40):
        buffer = io.BytesIO()
        with wave.open(buffer, "wb") as opened:
            opened.setnchannels(1)
            opened.setsampwidth(2)
            opened.setframerate(16000)
            opened.writeframes(bytes(range(count * 2)))
        made.append(Sample(f"of-{count}", buffer.getvalue()))
    return made

def reference(context, sounds):
    import numpy as np
    net, answers = Recurrent(), []
    net.load_state_dict(torch.load(context.cache / "weights.pt"))
    for sound in sounds:
        values = np.frombuffer(sound[44:], "<i2").astype(np.float32) / 32768
        values = np.pad(values, (0, -len(values) % 4)).reshape(-1, 1, 4)
        state, frames = torch.zeros(2, 1, 3), []
        for step in torch.from_numpy(values):
            with torch.inference_mode():
                frame, state = net(step, state)
            frames.append(frame.item())
        answers.append(np.array(frames, np.float32))
    return answers
"""
STREAMED = """
[input]
kind = "sound"
rate = 16000

[input.stream]
step_samples = 4
states       = [{ input = "state", output = "next_state" }]

[output]
kind          = "frames"
frame_seconds = 0.00025
threshold     = 0.5
"""


def test_of_a_state_only_the_batch_is_free_though_another_size_is_that_of_the_example(
    tmp_path: Path,
) -> None:
    source = loaded(write(tmp_path, ENTRY, STREAMED, RECURRENT))
    session = Session(exported(source, tmp_path))
    assert session.inputs["state"].shape == [2, "batch", 3]
    for batch in (1, 2, 5):
        given = {"samples": np.ones((batch, 4), np.float32),
                 "state": np.zeros((2, batch, 3), np.float32)}  # fmt: skip
        assert session.run_batch(given)["next_state"].shape == (2, batch, 3)


def test_a_stream_is_checked_over_all_its_steps(tmp_path: Path) -> None:
    recipe = write(tmp_path, f'{ENTRY}\nreference = "source:reference"', STREAMED, RECURRENT)
    (tmp_path / "work").mkdir()
    built = checked(recipe, tmp_path / "work")
    steps = [answer["probabilities"].shape for answer in built.sourced.examples.answers]
    assert steps == [(1, 1), (1, 1), (1, 3), (1, 10)]
