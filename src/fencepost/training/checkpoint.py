"""Checkpoints: all that a run needs to go on as if it had never stopped.

    checkpoint-00000120/
      state.json             progress, random state of each process, what the caller keeps
      network.safetensors    weights
      optimizer.safetensors  moments and step counts
      average.safetensors    the moving average, if there is one
      manifest.json          the sizes and checksums of all these

A checkpoint is written under another name and then renamed, so it is there whole or not at all; the
one before stays until the new one is complete. A disk may still fail: what does not have its
checksum is passed over.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from fencepost.errors import ModelError, TrainingError, clipped
from fencepost.model.network import device_of
from fencepost.runtime.manifest import (
    check_contents,
    check_sizes,
    read_json,
    read_manifest,
    write_manifest,
)
from fencepost.training.average import Average
from fencepost.training.loop import Progress
from fencepost.training.processes import seed_of

_Kept = TypeVar("_Kept")
_NAME = "checkpoint-"
_KEPT = 2
_MOST_STATE = 2**28  # bytes
_FILES = ("network.safetensors", "optimizer.safetensors", "average.safetensors", "state.json")


def no_notes(note: str) -> None:
    """Ignore notes."""


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

    Raises:
        TrainingError: it cannot be written, or weights are not finite; the one before is intact.
    """
    _check_finite(network)
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
        write_manifest(draft, [name for name in _FILES if (draft / name).exists()])
        _discard(target)
        os.rename(draft, target)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise TrainingError(
            f"{target}: the checkpoint cannot be written ({error}); the one before is intact"
        ) from error
    found = list(_checkpoints(folder))
    newest = found.index(target)
    for old in (*found[:newest], *found[newest + _KEPT :]):  # newer ones were passed over
        _discard(old)
    return target


def _check_finite(network: nn.Module) -> None:
    """Refuse to keep weights that nothing can be learned from any more."""
    for name, value in network.state_dict().items():
        if not (value.is_floating_point() and value.numel()):
            continue
        if not bool(torch.isfinite(torch.stack(torch.aminmax(value))).all()):
            raise TrainingError(
                f"the weights {name} are not finite any more; lower training.rate or "
                "training.encoder_rate, in a new run. The checkpoint before is intact"
            )


def load_checkpoint(
    folder: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: Average | None,
    *,
    read_kept: Callable[[Any], _Kept],
    seed: int = 0,
    rank: int = 0,
    told: Callable[[str], None] = no_notes,
) -> tuple[Progress, _Kept] | None:
    """Put everything back as it was; None if there is no checkpoint.

    A damaged one is passed over for the one before.

    Args:
        folder: of the run.
        network: gets its weights back.
        optimizer: gets its state back.
        average: of weights, if there is one.
        read_kept: checks what the caller kept, and raises a ValueError if it is damaged.
        seed: from which a process that was not there before draws its random numbers.
        rank: of this process.
        told: hears of checkpoints that are passed over.

    Raises:
        TrainingError: there are checkpoints, and all of them are damaged.
    """
    damaged: list[str] = []
    for path in _checkpoints(folder):
        try:
            found = _put_back_all(
                path, network, optimizer, average, read_kept=read_kept, seed=seed, rank=rank
            )
        except _DAMAGED as error:
            reason = (
                str(error)
                if isinstance(error, ModelError)
                else f"{path}: {clipped(repr(error), 300)}"
            )
            damaged.append(reason)
            continue
        for reason in damaged:
            told(f"a damaged checkpoint is passed over: {reason}\n  Going on from {path.name}.")
        return found
    if damaged:
        lines = "\n  ".join(damaged)
        raise TrainingError(
            f"{folder}: all checkpoints are damaged:\n  {lines}\n  Put back a copy of one of them, "
            "or begin anew in another folder; training.init can start from the model in this one."
        )
    return None


_DAMAGED = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    SafetensorError,
    ModelError,
)


def has_reached(folder: Path, epoch: int) -> bool:
    """Whether the newest checkpoint is from after so many epochs; so it is if there is none."""
    newest = next(_checkpoints(folder), None)
    if newest is None:
        return True
    try:
        return bool(
            read_json(newest / "state.json", most=_MOST_STATE)["progress"]["epoch"] >= epoch
        )
    except _DAMAGED:
        return False


def _put_back_all(
    path: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: Average | None,
    *,
    read_kept: Callable[[Any], _Kept],
    seed: int,
    rank: int,
) -> tuple[Progress, _Kept]:
    listed = read_manifest(path, known=_FILES)
    if listed is not None:  # one that was written before there were lists has none
        check_sizes(path, listed)
        check_contents(path, listed)
    state = read_json(path / "state.json", most=_MOST_STATE)
    weights = load_file(path / "network.safetensors")
    tensors = load_file(path / "optimizer.safetensors")
    averaged = path / "average.safetensors"
    average_weights = (
        load_file(averaged, device=str(device_of(network))) if averaged.exists() else {}
    )
    progress = Progress(**state["progress"])
    if any(type(count) is not int or count < 0 for count in astuple(progress)):
        raise ValueError(f"{progress}: counts from 0 are expected")
    states = (state["random"], *state.get("random_of_others", ()))
    random = [torch.tensor(one, dtype=torch.uint8) for one in states]
    kept = read_kept(state["kept"])
    if average_weights and _shapes(average_weights) != _shapes(weights):
        raise ValueError("the average is one of other weights")
    network.load_state_dict(weights)
    _put_back(optimizer, tensors)
    if average is not None:
        average.weights = average_weights
    if rank < len(random):
        torch.set_rng_state(random[rank])
    else:
        torch.manual_seed(seed_of(seed, steps=progress.steps, rank=rank))
    return progress, kept


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


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}


def _put_back(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, entry = name.split(".")
        state.setdefault(int(number), {})[entry] = value
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    for index, entries in state.items():
        shape = parameters[index].shape
        if _shapes(entries) != {"step": torch.Size(), "exp_avg": shape, "exp_avg_sq": shape}:
            raise ValueError(f"the state of the optimiser does not fit parameter {index}")
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
