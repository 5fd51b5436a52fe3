"""Random states of several processes in a checkpoint."""

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from fencepost.training.checkpoint import load_checkpoint, save_checkpoint
from fencepost.training.loop import Progress
from fencepost.training.processes import seed_of


def state_after(seed: int) -> Tensor:
    torch.manual_seed(seed)
    return torch.get_rng_state()


@pytest.fixture
def layer() -> nn.Linear:
    return nn.Linear(1, 1)


@pytest.fixture
def saved(tmp_path: Path, layer: nn.Linear) -> Path:
    """The folder of a run of three processes, after seven steps."""
    others = [state_after(11), state_after(12)]
    torch.manual_seed(10)
    optimizer = torch.optim.AdamW(layer.parameters())
    save_checkpoint(
        tmp_path, layer, optimizer, Progress(steps=7), None, extra={"a": 1}, others=others
    )
    return tmp_path


def resumed(folder: Path, layer: nn.Linear, *, rank: int) -> Tensor:
    """The random state of a process that goes on."""
    torch.manual_seed(99)
    optimizer = torch.optim.AdamW(layer.parameters())
    found = load_checkpoint(folder, layer, optimizer, None, read_extra=dict, seed=5, rank=rank)
    assert found == (Progress(steps=7), {"a": 1})
    return torch.get_rng_state()


def test_each_process_goes_on_with_its_own_random_numbers(saved: Path, layer: nn.Linear) -> None:
    for rank, seed in enumerate((10, 11, 12)):
        assert torch.equal(resumed(saved, layer, rank=rank), state_after(seed))


def test_a_process_that_was_not_there_gets_its_own(saved: Path, layer: nn.Linear) -> None:
    expected = state_after(seed_of(5, steps=7, rank=3))
    assert torch.equal(resumed(saved, layer, rank=3), expected)
    assert not torch.equal(resumed(saved, layer, rank=4), expected)


def test_a_checkpoint_of_before_there_were_others_is_read(saved: Path, layer: nn.Linear) -> None:
    (path,) = saved.glob("checkpoint-*/state.json")
    state = json.loads(path.read_text())
    del state["random_of_others"]
    path.write_text(json.dumps(state))
    (path.parent / "manifest.json").unlink()  # there was none then, either
    assert torch.equal(resumed(saved, layer, rank=0), state_after(10))
    expected = state_after(seed_of(5, steps=7, rank=1))
    assert torch.equal(resumed(saved, layer, rank=1), expected)
