"""Checkpoints: the complete state of a training run.

    checkpoint-00000120/
      state.json             progress, random state of each process, state of the caller
      network.safetensors    weights
      optimizer.safetensors  moments and step counts
      average.safetensors    the moving average, if there is one
      manifest.json          the sizes and checksums of all these

A checkpoint is written under another name and then renamed, so it is complete or absent; the
previous one stays until then. A checkpoint with a wrong checksum, as from a failing disk, is
skipped.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
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

Extra = TypeVar("Extra")
_NAME = "checkpoint-"
_MOST_CHECKPOINTS = 2
_MOST_STATE = 2**28  # bytes
_FILES = ("network.safetensors", "optimizer.safetensors", "average.safetensors", "state.json")


def save_checkpoint(
    folder: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    average: Average | None,
    *,
    extra: Mapping[str, Any],
    others: Sequence[Tensor] = (),
) -> Path:
    """Write a checkpoint, and remove all but the last two.

    Args:
        folder: the folder of the run.
        network: the network.
        optimizer: the optimizer.
        progress: the progress of training.
        average: the average of weights, if there is one.
        extra: the caller's own state, as plain data.
        others: the random states of the other processes, by rank.

    Raises:
        TrainingError: a file cannot be written, or weights are not finite; the previous checkpoint
            is intact.
    """
    _check_finite(network)
    target = folder / f"{_NAME}{progress.steps:08}"
    draft = folder / f".{target.name}"
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        weights = {name: value.contiguous() for name, value in network.state_dict().items()}
        save_file(weights, draft / "network.safetensors")
        save_file(_optimizer_tensors(optimizer), draft / "optimizer.safetensors")
        if average is not None and average.weights:
            save_file(average.weights, draft / "average.safetensors")
        state = {
            "progress": asdict(progress),
            "random": torch.get_rng_state().tolist(),
            "random_of_others": [state.tolist() for state in others],
            "kept": dict(extra),
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
    paths = _checkpoints(folder)
    index = paths.index(target)
    for path in (*paths[:index], *paths[index + _MOST_CHECKPOINTS :]):  # newer ones are damaged
        _discard(path)
    return target


def _check_finite(network: nn.Module) -> None:
    """Refuse to save weights that are infinite or not a number."""
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
    read_extra: Callable[[Any], Extra],
    seed: int = 0,
    rank: int = 0,
    on_note: Callable[[str], None] = lambda note: None,
) -> tuple[Progress, Extra] | None:
    """Restore the newest undamaged checkpoint; None if there are no checkpoints.

    Args:
        folder: the folder of the run.
        network: gets its weights back.
        optimizer: gets its state back.
        average: gets its weights back, if there is one.
        read_extra: validates the caller's own state; raises a ValueError if it is damaged.
        seed: the random seed for a process that was not there before.
        rank: the rank of this process.
        on_note: called with a note for each damaged checkpoint.

    Returns:
        The progress of training, and the caller's own state.

    Raises:
        TrainingError: all checkpoints are damaged.
    """
    damaged: list[str] = []
    for path in _checkpoints(folder):
        try:
            restored = _restore(
                path, network, optimizer, average, read_extra=read_extra, seed=seed, rank=rank
            )
        except ModelError as error:
            damaged.append(str(error))
        except _DAMAGE as error:
            damaged.append(f"{path}: {clipped(repr(error), 300)}")
        else:
            for reason in damaged:
                on_note(
                    f"a damaged checkpoint is passed over: {reason}\n  Going on from {path.name}."
                )
            return restored
    if damaged:
        lines = "\n  ".join(damaged)
        raise TrainingError(
            f"{folder}: all checkpoints are damaged:\n  {lines}\n  Put back a copy of one of them, "
            "or begin anew in another folder; training.init can start from the model in this one."
        )
    return None


_DAMAGE = (  # errors that damaged files cause
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
    """Whether the newest checkpoint is from after so many epochs; True if there is none."""
    paths = _checkpoints(folder)
    try:
        return not paths or bool(
            read_json(paths[0] / "state.json", most=_MOST_STATE)["progress"]["epoch"] >= epoch
        )
    except _DAMAGE:
        return False


def _restore(
    path: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: Average | None,
    *,
    read_extra: Callable[[Any], Extra],
    seed: int,
    rank: int,
) -> tuple[Progress, Extra]:
    listed = read_manifest(path, known=_FILES)
    if listed is not None:  # older checkpoints have no manifest
        check_sizes(path, listed)
        check_contents(path, listed)
    state = read_json(path / "state.json", most=_MOST_STATE)
    weights = load_file(path / "network.safetensors")
    tensors = load_file(path / "optimizer.safetensors")
    average_weights: dict[str, Tensor] = {}
    if (file := path / "average.safetensors").exists():
        average_weights = load_file(file, device=str(device_of(network)))
    progress = Progress(**state["progress"])
    if any(type(count) is not int or count < 0 for count in astuple(progress)):
        raise ValueError(f"{progress}: counts from 0 are expected")
    states = (state["random"], *state.get("random_of_others", ()))
    random_states = [torch.tensor(values, dtype=torch.uint8) for values in states]
    extra = read_extra(state["kept"])
    if average_weights and _shapes(average_weights) != _shapes(weights):
        raise ValueError("the average is one of other weights")
    network.load_state_dict(weights)
    _restore_optimizer(optimizer, tensors)
    if average is not None:
        average.weights = average_weights
    if rank < len(random_states):
        torch.set_rng_state(random_states[rank])
    else:
        torch.manual_seed(seed_of(seed, steps=progress.steps, rank=rank))
    return progress, extra


def _checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a run, the newest first."""
    return sorted(folder.glob(f"{_NAME}*"), reverse=True)


def _discard(path: Path) -> None:
    """Remove a checkpoint; it is renamed first, so that an interrupted removal leaves no part."""
    discarded = path.with_name(".discarded")
    shutil.rmtree(discarded, ignore_errors=True)
    if path.exists():
        os.rename(path, discarded)
        shutil.rmtree(discarded)


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The state of an optimizer, by names such as `3.exp_avg`."""
    return {
        f"{number}.{entry}": value.contiguous()
        for number, entries in optimizer.state_dict()["state"].items()
        for entry, value in entries.items()
    }


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, entry = name.split(".")
        state.setdefault(int(number), {})[entry] = value
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for index, entries in state.items():
        shape = parameters[index].shape
        if _shapes(entries) != {"step": torch.Size(), "exp_avg": shape, "exp_avg_sq": shape}:
            raise ValueError(f"the state of the optimiser does not fit parameter {index}")
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
