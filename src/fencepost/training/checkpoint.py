"""Checkpoints: all that a run needs to go on as if it had never stopped.

    checkpoint-00000120/
      state.json             progress, random state of each process, what the caller keeps
      network.safetensors    weights
      optimizer.safetensors  moments and step counts
      average.safetensors    the moving average, if there is one

A checkpoint is written under another name and then renamed, so it is there whole or not at all; the
one before stays until the new one is complete.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from fencepost.errors import TrainingError
from fencepost.model.network import device_of
from fencepost.training.average import Average
from fencepost.training.loop import Progress
from fencepost.training.processes import seed_of

_NAME = "checkpoint-"
_KEPT = 2


def save_checkpoint(
    folder: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    average: Average | None,
    *,
    kept: Mapping[str, Any],
    others: Sequence[Tensor] = (),
) -> Path:
    """Write a checkpoint; the last two are kept.

    Args:
        folder: of the run.
        network: its weights.
        optimizer: its state.
        progress: where training stands.
        average: of weights, if there is one.
        kept: plain data that the caller wants back.
        others: the random states of the other processes, by rank.
    """
    target = folder / f"{_NAME}{progress.steps:08}"
    draft = folder / f".{target.name}"
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        save_file(_contiguous(network.state_dict()), draft / "network.safetensors")
        save_file(_optimizer_tensors(optimizer), draft / "optimizer.safetensors")
        if average is not None and average.weights:
            save_file(average.weights, draft / "average.safetensors")
        state = {
            "progress": asdict(progress),
            "random": torch.get_rng_state().tolist(),
            "random_of_others": [state.tolist() for state in others],
            "kept": dict(kept),
        }
        with open(draft / "state.json", "w", encoding="utf-8") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        _discard(target)
        os.rename(draft, target)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise TrainingError(
            f"{target}: the checkpoint cannot be written ({error}); the one before is intact"
        ) from error
    for old in list(_checkpoints(folder))[_KEPT:]:
        _discard(old)
    return target


def load_checkpoint(
    folder: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: Average | None,
    *,
    seed: int = 0,
    rank: int = 0,
) -> tuple[Progress, dict[str, Any]] | None:
    """Put everything back as it was; None if there is no checkpoint.

    A damaged one is passed over for the one before.

    Args:
        folder: of the run.
        network: whose weights are put back.
        optimizer: whose state is put back.
        average: of weights, if there is one.
        seed: from which a process that was not there before draws its random numbers.
        rank: of this process.
    """
    for path in _checkpoints(folder):
        try:
            state = json.loads((path / "state.json").read_text(encoding="utf-8"))
            weights = load_file(path / "network.safetensors")
            tensors = load_file(path / "optimizer.safetensors")
            averaged = path / "average.safetensors"
            average_weights = (
                load_file(averaged, device=str(device_of(network))) if averaged.exists() else {}
            )
            progress = Progress(**state["progress"])
            random = [state["random"], *state.get("random_of_others", ())]
            network.load_state_dict(weights)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError):
            continue
        _put_back(optimizer, tensors)
        if average is not None:
            average.weights = average_weights
        if rank < len(random):
            torch.set_rng_state(torch.tensor(random[rank], dtype=torch.uint8))
        else:
            torch.manual_seed(seed_of(seed, steps=progress.steps, rank=rank))
        return progress, state["kept"]
    return None


def _checkpoints(folder: Path) -> Iterator[Path]:
    """The checkpoints of a run, the newest first."""
    return iter(sorted(folder.glob(f"{_NAME}*"), reverse=True))


def _discard(path: Path) -> None:
    """Remove a checkpoint, by another name first: half of it must not pass for one."""
    gone = path.with_name(".discarded")
    shutil.rmtree(gone, ignore_errors=True)
    if path.exists():
        os.rename(path, gone)
        shutil.rmtree(gone)


def _contiguous(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.contiguous() for name, tensor in tensors.items()}


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's state under names that say parameter and entry."""
    return {
        f"{number}.{entry}": value.contiguous()
        for number, entries in optimizer.state_dict()["state"].items()
        for entry, value in entries.items()
    }


def _put_back(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, entry = name.split(".")
        state.setdefault(int(number), {})[entry] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
