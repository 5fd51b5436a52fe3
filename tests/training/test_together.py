"""Two processes train as one would: what they tell each other, and what comes of it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from fencepost.checkpoints.trainable import load_trainable
from fencepost.formats import read
from fencepost.run.evaluate import evaluate
from fencepost.run.training.train import run_training
from tests.eight import settings
from tests.training.cases import CASES, SHAPES, descent, go_through_cases, write_corpora
from tests.training.pair import run_pair

pytestmark = pytest.mark.slow

Results = dict[str, list[Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair")
    write_corpora(folder)
    torch.set_num_threads(1)
    heads: dict[str, Any] = {"tree": {}, "entities": {}, "tags": {}}
    list(run_training(settings(folder / "eight.jsonl", heads, epochs=4, rate=1e-2), folder / "one"))
    (folder / "one/model").rename(folder / "model")
    return folder


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    """What each of the processes makes of each case: two processes go through all of them."""
    ends = run_pair(go_through_cases, folder)
    assert [status for status, *_ in ends] == [0, 0], ends
    return {
        name: [json.loads((folder / f"{name}-{rank}.json").read_text()) for rank in (0, 1)]
        for name in CASES
    }


@pytest.fixture(scope="module")
def alone(folder: Path) -> dict[str, Any]:
    """What one process makes of it."""
    return {shape: descent(folder, shape) for shape in SHAPES}


def test_values_reach_the_others(results: Results) -> None:
    main, other = results["told"]
    assert (main.pop("is_main"), other.pop("is_main")) == (True, False)
    assert main == other
    assert main == {
        "gathered": [{"rank": 0}, {"rank": 1}],
        "main": 0,
        "sum": [2.0, 10.0],
        "copy": [[1.0, 1.0], [0.0, 0.0]],
    }


def test_an_error_of_one_is_raised_by_all_and_told_once(results: Results) -> None:
    assert results["agreement"] == [["nothing", "wrong", "wrong"]] * 2


class TestGradients:
    def test_are_summed_where_some_process_has_them(self, results: Results) -> None:
        for found in results["gradient_sums"]:
            assert found["summed"] == {
                "loss": 3.0,
                "failed": False,
                "gradients": {
                    "both": [[2.0], [5.0]],
                    "first": [[1.0], [2.0]],
                    "second": [[1.0], [3.0]],
                    "none": None,
                    "frozen": None,
                },
            }

    def test_are_left_alone_if_there_is_no_step_to_take(self, results: Results) -> None:
        for rank, found in enumerate(results["gradient_sums"]):
            loss, failed = found["not finite"], found["failed"]
            assert loss["loss"] != loss["loss"]
            assert (loss["failed"], failed["failed"]) == (False, True)
            for case in (loss, failed):
                assert case["gradients"]["both"] == [[1.0], [2.0 + rank]]


class TestDescent:
    """Plain gradient descent without dropout.

    Both add up the same numbers in another order, so single precision (2**-24, about 6e-8) is the
    only difference; a hundred times that leaves room for the sums and the steps in a row.
    """

    @pytest.mark.parametrize("shape", SHAPES)
    def test_has_the_loss_of_one_process_step_by_step(
        self, alone: dict[str, Any], results: Results, shape: str
    ) -> None:
        for found in results["each_descent"]:
            assert found[shape]["loss"] == pytest.approx(alone[shape]["loss"], rel=6e-6)
            assert found[shape]["words"] == alone[shape]["words"]

    @pytest.mark.parametrize("shape", SHAPES)
    def test_ends_with_the_weights_of_one_process(
        self, alone: dict[str, Any], results: Results, shape: str
    ) -> None:
        one, other = (found[shape]["weights"] for found in results["each_descent"])
        assert one == other  # bit for bit
        for name, value in alone[shape]["weights"].items():
            torch.testing.assert_close(
                torch.tensor(one[name]), torch.tensor(value), rtol=6e-6, atol=6e-6
            )

    @pytest.mark.parametrize("shape", SHAPES)
    def test_leaves_the_same_weights_without_a_gradient(
        self, alone: dict[str, Any], results: Results, shape: str
    ) -> None:
        for found in results["each_descent"]:
            assert found[shape]["without"] == alone[shape]["without"]

    def test_meets_heads_that_a_step_does_not_train(self, alone: dict[str, Any]) -> None:
        assert any(map(any, alone["single"]["without"]))
        assert not any(map(any, alone["all"]["without"]))


class TestStopped:
    def test_a_run_ends_like_one_that_was_not(self, folder: Path, results: Results) -> None:
        one, other = results["stopped"]
        assert one == other
        assert len(one["resumed"]) < len(one["steps"])
        assert one["resumed"] == one["steps"][-len(one["resumed"]) :]
        whole, stopped = (
            load_trainable(folder / name / "model").network.state_dict()
            for name in ("whole", "stopped")
        )
        for name, value in whole.items():
            assert torch.equal(value, stopped[name]), name

    def test_the_random_numbers_of_each_process_are_kept(
        self, folder: Path, results: Results
    ) -> None:
        newest = max((folder / "whole").glob("checkpoint-*"))
        state = json.loads((newest / "state.json").read_text())
        assert len(state["random_of_others"]) == 1
        assert state["random_of_others"][0] != state["random"]


def test_each_process_draws_other_random_numbers(results: Results) -> None:
    one, other = results["draws"]
    assert one != other


def test_what_one_process_cannot_do_ends_both(results: Results) -> None:
    one, other = results["failures"]
    assert one == other
    memory, number = one
    assert memory.startswith("out of memory with a batch of ")
    assert number.startswith("10 steps in a row had no finite loss")


def test_processes_that_see_other_files_are_refused(results: Results) -> None:
    one, other = results["disagreement"]
    assert one == other
    words, seeds, first, resumed = one
    assert "different settings or sentences" in words
    assert "different settings or sentences" in seeds
    assert first == "nothing"
    assert "checkpoints after [0, " in resumed


def test_both_get_the_scores_of_one(folder: Path, results: Results) -> None:
    reports = evaluate(load_trainable(folder / "model"), list(read(folder / "eight.jsonl")))
    alone = {name: report.to_dict() for name, report in reports.items()}
    for found in results["scores"]:
        assert {name: report.pop("main") > 0 for name, report in found.items()}["tags"]
        assert found == json.loads(json.dumps(alone))


def test_cores_are_shared_out(results: Results) -> None:
    assert results["threads"] == [max(1, len(os.sched_getaffinity(0)) // 2)] * 2
