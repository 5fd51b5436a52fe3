"""The graphs of a head make the steps that the fast stepper makes, for any settings."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import onnx
import onnxruntime
import pytest
from safetensors.numpy import save_file

from fencepost.batching.arrays import Floats, Ints
from fencepost.checkpoints.loading import load_model
from fencepost.checkpoints.model import FILES, STEP_GRAPHS
from fencepost.config import HeadSettings
from fencepost.decoding.configurations import Configurations
from fencepost.decoding.rules import Rules
from fencepost.decoding.stepper import Stepper
from fencepost.decoding.walk import sample
from fencepost.model.head import PointingHead
from fencepost.model.stepper import stepper_of
from fencepost.parser.parser import Parser
from fencepost.runtime.manifest import read_manifest
from fencepost.runtime.step_graphs import PARTS, step_graphs
from fencepost.runtime.weights import Weights
from tests.heads import SETTINGS, WIDTH, head_with
from tests.runtime.test_encoder import of_words

WEIGHTS = "weights.safetensors"
BATCHES = ([1], [2], [7], [3, 1, 6])


class GraphState(NamedTuple):
    """The tensors that a caller of the graphs keeps, by name; the first axis is that of rows."""

    tensors: dict[str, Any]


@dataclass(frozen=True)
class GraphStepper:
    """Steps as a program makes them that has only the graphs, and knows no settings of the head."""

    folder: Path
    name: str
    temperature: float

    @cached_property
    def sessions(self) -> dict[str, Any]:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return {
            part: onnxruntime.InferenceSession(self.folder / f"{self.name}-{part}.onnx", options)
            for part in PARTS
        }

    @cached_property
    def inputs(self) -> dict[str, list[str]]:
        return {
            part: [one.name for one in session.get_inputs()]
            for part, session in self.sessions.items()
        }

    @cached_property
    def looks_at_stack(self) -> bool:
        return "merged" in self.inputs["point"]

    def run(self, part: str, tensors: dict[str, Any]) -> dict[str, Any]:
        session = self.sessions[part]
        names = [one.name for one in session.get_outputs()]
        some = {name: tensors[name] for name in self.inputs[part]}
        return dict(zip(names, session.run(names, some), strict=True))

    def start(self, boundaries: Floats) -> GraphState:
        tensors = self.run("start", {"boundaries": boundaries.astype(np.float32)})
        rows, width, _ = boundaries.shape
        first = Configurations.first(np.ones(rows, dtype=np.intp), width, stack=self.looks_at_stack)
        return self.pointed(tensors, first)

    def pointed(self, tensors: dict[str, Any], where: Configurations) -> GraphState:
        tensors = tensors | self.run("point", tensors | self.numbers(where))
        if "next_state" in tensors:
            tensors["state"] = tensors.pop("next_state")
        return GraphState(tensors)

    def numbers(self, where: Configurations) -> dict[str, Any]:
        """A configuration as the graphs take it."""
        columns = {"cursor": where.cursor, "newest": where.newest, "label": where.label}
        if where.stack is not None:
            columns |= {"stack_labels": where.stack.labels, "merged": where.merged()}
        found: dict[str, Any] = {name: column.astype(np.int32) for name, column in columns.items()}
        return found | {"temperature": np.array([self.temperature], dtype=np.float32)}

    def point_logits(self, state: GraphState, where: Configurations) -> Floats:
        logits: Floats = state.tensors["point_logits"].copy()
        return logits

    def label_logits(self, state: GraphState, where: Configurations, boundary: Ints) -> Floats:
        numbers = self.numbers(where) | {"boundary": boundary.astype(np.int32)}
        logits: Floats = self.run("label", state.tensors | numbers)["label_logits"]
        return logits

    def advance(
        self, state: GraphState, where: Configurations, boundary: Ints, label: Ints
    ) -> GraphState:
        return self.pointed(state.tensors, where.point(boundary, label))

    def select(self, state: GraphState, rows: Ints, *, each: int = 1) -> GraphState:
        return GraphState({name: tensor[rows] for name, tensor in state.tensors.items()})


def graph_stepper(head: PointingHead, folder: Path) -> GraphStepper:
    """A stepper for the graphs of a head, written into a folder."""
    weights = {f"heads.tree.{name}": one.numpy() for name, one in head.state_dict().items()}
    save_file(weights, folder / WEIGHTS)
    stored = Weights(folder / WEIGHTS).stored
    for part, graph in step_graphs(stored, "heads.tree.", file=WEIGHTS).items():
        (folder / f"tree-{part}.onnx").write_bytes(graph)
    return GraphStepper(folder, "tree", head.temperature)


def check_same(one: Stepper[Any], other: Stepper[Any], rules: Rules, boundaries: Floats) -> None:
    """The same parses are drawn, three of each sentence, with the same log-probabilities."""
    for lengths in BATCHES:
        sizes, widest = np.array(lengths), max(lengths)
        chances = np.random.default_rng(3).random((len(lengths), 3, 2 * (2 * widest - 1)))
        some = boundaries[: len(lengths), : widest + 1]
        a, b = (sample(stepper, some, sizes, rules, chances) for stepper in (one, other))
        assert np.array_equal(a.boundaries, b.boundaries)
        assert np.array_equal(a.labels, b.labels)
        np.testing.assert_allclose(a.step_log_probs, b.step_log_probs, atol=1e-5)


def noise(width: int) -> Floats:
    """Boundary vectors, enough for each of the batches."""
    shape = (max(map(len, BATCHES)), max(map(max, BATCHES)) + 1, width)
    return np.random.default_rng(7).standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_walks_have_the_log_probabilities_of_the_fast_stepper(
    tmp_path: Path, settings: HeadSettings
) -> None:
    head = head_with(1, settings, open_root=True, temperature=1.5).float()
    rules = Rules(head.open_root, nearest_first=head.nearest_first)
    check_same(graph_stepper(head, tmp_path), stepper_of(head), rules, noise(WIDTH))


@pytest.mark.parametrize("settings", [one for one in SETTINGS if one.grid and one.context][::4])
def test_very_wide_spans_have_no_score_of_their_own(tmp_path: Path, settings: HeadSettings) -> None:
    head = head_with(1, settings, open_root=True).float()
    rules = Rules(head.open_root, nearest_first=head.nearest_first)
    with (
        patch("fencepost.runtime.grid.WIDEST", 2),
        patch("fencepost.runtime.step_graphs.WIDEST", 2),
    ):
        check_same(graph_stepper(head, tmp_path), stepper_of(head), rules, noise(WIDTH))


@pytest.mark.parametrize("half", [False, True])
def test_a_folder_may_hold_them(tmp_path: Path, half: bool) -> None:
    Parser(of_words()).save(tmp_path, half=half, with_steps=True)
    listed = read_manifest(tmp_path, known=FILES)
    assert listed is not None
    assert {name for name in listed if name in STEP_GRAPHS} == {
        f"tree-{part}.onnx" for part in PARTS
    }
    network = load_model(tmp_path).network
    own, width = GraphStepper(tmp_path, "tree", network.temperature("tree")), 14
    check_same(own, network.stepper("tree"), Rules(False), noise(width))
    Parser(of_words()).save(tmp_path)
    assert [path.name for path in tmp_path.glob("*.onnx")] == ["encoder.onnx"]


def test_their_weights_are_those_of_the_folder_and_their_operators_those_of_onnx(
    tmp_path: Path,
) -> None:
    for settings in SETTINGS[::5]:
        graph_stepper(head_with(1, settings, open_root=True).float(), tmp_path)
        for part in PARTS:
            path = tmp_path / f"tree-{part}.onnx"
            assert path.stat().st_size < 20_000
            onnx.checker.check_model(path, full_check=True)
            model = onnx.load(path, load_external_data=False)
            assert {node.domain for node in model.graph.node} == {""}
            places = {
                entry.value
                for tensor in model.graph.initializer
                for entry in tensor.external_data
                if entry.key == "location"
            }
            assert places <= {WEIGHTS}
