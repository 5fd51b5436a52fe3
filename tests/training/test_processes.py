"""A process alone, and what it finds out about others from its environment."""

import pytest
import torch

from fencepost.errors import ConfigError
from fencepost.training.gradients import sum_gradients
from fencepost.training.processes import (
    LostError,
    Processes,
    is_left_alone,
    join_processes,
    leave,
    local_count,
    seed_of,
)

SIGNS = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*SIGNS, "ACCELERATE_MIXED_PRECISION"):
        monkeypatch.delenv(name, raising=False)


class TestAlone:
    def test_is_what_a_process_is_that_nobody_launched(self) -> None:
        assert join_processes() == Processes(count=1, rank=0)
        assert join_processes().is_main
        assert local_count() == 1
        assert not is_left_alone()

    def test_nothing_is_told_and_nobody_waited_for(self) -> None:
        value, tensor = object(), torch.ones(2)
        alone = Processes()
        assert alone.gather(value) == [value]
        assert alone.broadcast(value) is value
        alone.all_reduce(tensor)
        alone.broadcast_tensor(tensor)
        assert tensor.tolist() == [1.0, 1.0]
        leave()

    def test_errors_stay_what_they_are(self) -> None:
        error = ConfigError("wrong")
        assert Processes().agreed(error) is error
        with pytest.raises(ConfigError) as found, Processes().together():
            raise error
        assert found.value is error

    def test_gradients_stay_what_they_are(self) -> None:
        weight = torch.nn.Parameter(torch.zeros(2))
        weight.grad = gradient = torch.ones(2)
        assert sum_gradients([weight], 0.1, Processes()) == (0.1, False)
        assert weight.grad is gradient


def test_processes_that_nobody_launched_do_not_find_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    with pytest.raises(ConfigError, match=r"WORLD_SIZE is 2.*MASTER_ADDR.*\n.*unset WORLD_SIZE"):
        join_processes()


@pytest.mark.parametrize("start", ["simple", "torchrun"])
def test_accelerate_that_starts_one_process_of_several_is_seen(
    monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "no")
    assert not is_left_alone()  # it was asked for one
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    if start == "torchrun":
        monkeypatch.setenv("LOCAL_RANK", "0")
    assert is_left_alone() == (start == "simple")


def test_one_that_does_not_answer_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object) -> None:
        raise RuntimeError("Connection closed by peer\nand more")

    monkeypatch.setattr(torch.distributed, "all_reduce", closed)
    with pytest.raises(LostError, match=r"\(Connection closed by peer\).*--resume goes on"):
        Processes(2, 1).all_reduce(torch.ones(1))


def test_seeds_differ_by_seed_step_and_process() -> None:
    places = [(1, 0, 1), (2, 0, 1), (1, 5, 1), (1, 0, 2), (11, 0, 1), (1, 10, 1), (1, 1, 0)]
    found = {seed_of(seed, steps=steps, rank=rank) for seed, steps, rank in places}
    assert len(found) == len(places)
    assert all(0 <= seed < 2**63 for seed in found)
