"""Checkpoints: all that a run needs to go on as if it had never stopped.

    checkpoint-00000120/
      state.json             progress, random state, what the caller keeps
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
from collections.abc import Iterator, Mapping
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
) -> Path:
    """Write a checkpoint; the last two are kept.

    Args:
        folder: of the run.
        network: its weights.
        optimizer: its state.
        progress: where training stands.
        average: of weights, if there is one.
        kept: plain data that the caller wants back.
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
) -> tuple[Progress, dict[str, Any]] | None:
    """Put everything back as it was; None if there is no checkpoint.

    A damaged one is passed over for the one before.
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
            network.load_state_dict(weights)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError):
            continue
        _put_back(optimizer, tensors)
        if average is not None:
            average.weights = average_weights
        torch.set_rng_state(torch.tensor(state["random"], dtype=torch.uint8))
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
