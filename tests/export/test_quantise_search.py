"""The search for layers that q8 has to spare, and the choice among ways."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from export.errors import RecipeError
from export.evaluate import Evaluate, Evaluation
from export.quantise.choose import choose_q8
from export.quantise.q8 import Quantiser
from export.quantise.sensitive import Question, search
from export.recipe.limits import Aim, Q8Section
from export.runtime import Session
from export.tensors import Tensors

Floats = npt.NDArray[np.float32]
ALIKE = Evaluation(1.0, 1.0, 1.0)


def question(layers: int, groups: Sequence[Sequence[str]] = ()) -> Question:
    names = {f"layer{i}": [f"layer{i}"] for i in range(layers)}
    return Question(Aim(label_agreement=0.99), ALIKE, ["named"], groups, names)


def silent(_: str) -> None:
    pass


@pytest.mark.parametrize("bad", [[0], [3, 7, 11], list(range(16)), [15]])
def test_exactly_the_harmful_layers_are_kept(bad: list[int]) -> None:
    names = {f"layer{i}" for i in bad}
    asked: list[tuple[str, ...]] = []

    def attempt(keep: Sequence[str]) -> Evaluation:
        asked.append(tuple(keep))
        return Evaluation(0.995 - 0.01 * len(names - {*keep}), None, None)

    found = search(question(16), attempt, lambda name: float(name in names), 1, silent)

    assert found.missed == 0
    assert {*found.keep} == {"named"} | names
    assert len(asked) <= 10, "evaluating all the labelled data is costly: halve, do not count"


def test_cheap_groups_come_first_and_may_be_enough() -> None:
    groups = [["first-layer"], ["first-layer", "depthwise"]]

    def attempt(keep: Sequence[str]) -> Evaluation:
        return Evaluation(1.0 if "depthwise" in keep else 0.5, None, None)

    def harm(name: str) -> float:
        raise AssertionError("no layer needs to be looked at")

    found = search(question(16, groups), attempt, harm, 1, silent)

    assert found.keep == ("named", "first-layer", "depthwise")


def test_progress_tells_the_layer_what_is_kept_and_the_aim() -> None:
    said: list[str] = []

    search(question(3), lambda _: Evaluation(0.98, None, None), len, 1, said.append)

    assert said[0] == "kept 1: agreement 0.980, aim agreement 0.99"
    assert "layer 2 of 3" in said


def test_an_aim_out_of_reach_ends_with_the_closest() -> None:
    def attempt(keep: Sequence[str]) -> Evaluation:
        return Evaluation(0.9 + 0.01 * len(keep), None, None)

    found = search(question(4), attempt, lambda _: 0.0, 1, silent)

    assert found.missed == pytest.approx(0.04)
    assert len(found.keep) == 5


def test_the_search_ends_when_its_time_is_over() -> None:
    said: list[str] = []

    def harm(name: str) -> float:
        time.sleep(0.2)
        return 0.0

    started = time.monotonic()
    found = search(question(1000), lambda _: Evaluation(0.5, None, None), harm, 0.02, said.append)

    assert time.monotonic() - started < 5
    assert found.missed > 0
    assert any(text.startswith("time is over after") for text in said)


def test_a_measure_that_nothing_gives_is_refused_rather_than_held() -> None:
    aim = Question(Aim(cosine=0.9), ALIKE, [], [], {})

    with pytest.raises(RecipeError, match="aim needs cosine"):
        search(aim, lambda _: Evaluation(1.0, 1.0, None), len, 1, silent)


class Network:
    """A little convolutional network, in which one layer suffers from 8 bits far more than others.

    Its first channel is a thousand times larger than the others, and only they count.
    """

    def __init__(self, path: Path) -> None:
        random = np.random.default_rng(8)

        def weight(*shape: int) -> Floats:
            return np.array(random.normal(size=shape) / np.prod(shape[1:]) ** 0.5, np.float32)

        wide, narrow = weight(8, 8, 1, 1), weight(8, 8, 1, 1)
        wide[0] *= 3000
        narrow[:, 0] = 0
        weights = {"A": weight(8, 3, 3, 3), "W": wide, "N": narrow, "B": weight(8, 8, 3, 3),
                   "L": weight(8, 5)}  # fmt: skip
        nodes = [
            helper.make_node("Conv", ["x", "A"], ["a"], "first", pads=[1] * 4),
            helper.make_node("Relu", ["a"], ["ar"], "relu_a"),
            helper.make_node("Conv", ["ar", "W"], ["w"], "wide"),
            helper.make_node("Conv", ["w", "N"], ["n"], "narrow"),
            helper.make_node("Relu", ["n"], ["nr"], "relu_n"),
            helper.make_node("Conv", ["nr", "B"], ["b"], "before_last", pads=[1] * 4),
            helper.make_node("GlobalAveragePool", ["b"], ["p"], "pool"),
            helper.make_node("Flatten", ["p"], ["f"], "flat"),
            helper.make_node("MatMul", ["f", "L"], ["y"], "last"),
        ]
        graph = helper.make_graph(
            nodes, "tiny",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 8, 8])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 5])],
            [numpy_helper.from_array(value, name) for name, value in weights.items()],
        )  # fmt: skip
        opsets = [helper.make_opsetid("", 20)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
        self.path = path
        self.feeds: list[Tensors] = [
            {"x": random.normal(size=(1, 3, 8, 8)).astype(np.float32)} for _ in range(64)
        ]
        self.right = self.answers(path)

    def answers(self, path: Path) -> Floats:
        rows = [one["y"].astype(np.float32) for one in Session(path).run(self.feeds)]
        return np.concatenate(rows)

    def agreement(self, path: Path) -> float:
        return float((self.answers(path).argmax(1) == self.right.argmax(1)).mean())

    def evaluate(self, path: Path) -> Evaluation:
        return Evaluation(self.agreement(path), None, None)


@pytest.fixture
def network(tmp_path: Path) -> Network:
    return Network(tmp_path / "network.onnx")


def test_the_one_layer_that_suffers_is_found_and_kept(network: Network) -> None:
    quantiser = Quantiser(network.path, network.feeds)
    section = Q8Section(method="static", aim=Aim(label_agreement=0.95))
    plainly = choose_q8(quantiser, Q8Section(), network.path, None)
    onnx.save(plainly.model, network.path.with_name("q8.onnx"))
    assert network.agreement(network.path.with_name("q8.onnx")) < 0.8

    first, again = (
        choose_q8(quantiser, section, network.path, network.evaluate, network.feeds, say=silent)
        for _ in range(2)
    )

    onnx.save(first.model, network.path.with_name("q8.onnx"))
    assert network.agreement(network.path.with_name("q8.onnx")) >= 0.95
    assert {"wide", "narrow"} & {*first.kept}
    assert len(first.kept) <= 3, "the others are small"
    assert first.model.SerializeToString() == again.model.SerializeToString()


def test_without_calibrated_inputs_the_harm_is_measured_on_labelled_data(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    weights = {"A": random.normal(size=(64, 64)), "B": random.normal(size=(64, 4))}
    weights["A"][:, 1:] *= 1e-3  # per tensor nothing of these columns would be left
    nodes = [
        helper.make_node("MatMul", ["x", "A"], ["a"], "first"),
        helper.make_node("MatMul", ["a", "B"], ["y"], "last"),
    ]
    graph = helper.make_graph(
        nodes, "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])],
        [numpy_helper.from_array(v.astype(np.float32), n) for n, v in weights.items()],
    )  # fmt: skip
    path = tmp_path / "products.onnx"
    opsets = [helper.make_opsetid("", 20)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    x: Tensors = {"x": random.normal(size=(100, 64)).astype(np.float32)}
    right = Session(path).run_batch(x)["y"].astype(np.float32)

    def likeness(tried: Path) -> float:
        got = Session(tried).run_batch(x)["y"].astype(np.float32)
        return float(1 - np.abs(got - right).max() / np.abs(right).max())

    def evaluate(tried: Path) -> Evaluation:
        return Evaluation(None, None, likeness(tried))

    section = Q8Section(aim=Aim(cosine=0.998))
    chosen = choose_q8(Quantiser(path, []), section, path, evaluate, say=silent)

    assert chosen.way == "dynamic"
    assert set(chosen.kept) <= {"first", "last"}
    onnx.save(chosen.model, tmp_path / "q8.onnx")
    assert likeness(tmp_path / "q8.onnx") >= 0.998


@pytest.mark.parametrize(
    ("minmax", "percentile", "chosen"),
    [(0.90, 0.95, "percentile"), (0.95, 0.90, "minmax"), (0.9502, 0.9504, "minmax")],
)
def test_of_two_ways_the_one_that_loses_less_is_taken(
    network: Network, minmax: float, percentile: float, chosen: str
) -> None:
    measured = iter([1.0, minmax, percentile])  # fp32 first
    said: list[str] = []

    found = choose_q8(
        Quantiser(network.path, network.feeds), Q8Section(), network.path,
        lambda _: Evaluation(next(measured), None, None), say=said.append,
    )  # fmt: skip

    assert found.way == chosen
    assert [text.split(":")[0] for text in said] == ["minmax", "percentile"]


def test_an_aim_without_labelled_data_is_refused(network: Network) -> None:
    evaluate: Evaluate | None = None
    section = Q8Section(aim=Aim(label_agreement=0.9))

    with pytest.raises(RecipeError, match="labelled"):
        choose_q8(Quantiser(network.path, network.feeds), section, network.path, evaluate)
