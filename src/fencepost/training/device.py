"""Where a network is trained, and how precisely: what `accelerate` does for us."""

from __future__ import annotations

import os
from typing import Literal

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from torch import nn

from fencepost.errors import ConfigError

_DEVICE = "ACCELERATE_TORCH_DEVICE"  # the only way to tell it which of several


def accelerator_for(
    device: str = "cpu", precision: Literal["fp32", "bf16"] = "fp32"
) -> Accelerator:
    """What places, casts and differentiates, for "cpu", "cuda", "cuda:1" or "mps".

    Raises:
        ConfigError: there is no such device here.
    """
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # the latter from a torch without CUDA
        reason = str(error).splitlines()[0]
        raise ConfigError(f"training.device: {device!r} cannot be used: {reason}") from error
    # accelerate keeps one state a process, and would refuse another precision in the next run.
    AcceleratorState._reset_state(reset_partial_state=True)
    before = os.environ.get(_DEVICE)
    os.environ[_DEVICE] = device
    try:
        accelerator = Accelerator(
            cpu=device == "cpu", mixed_precision="bf16" if precision == "bf16" else "no"
        )
        _try(accelerator)
    except (ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"training.precision: {precision} cannot be used on {device}, use fp32: {reason}"
        ) from error
    finally:
        if before is None:
            del os.environ[_DEVICE]
        else:
            os.environ[_DEVICE] = before
    return accelerator


def _try(accelerator: Accelerator) -> None:
    """Run a small LSTM: many processors have no bf16 for it, and say so only then."""
    with torch.random.fork_rng(devices=[]), accelerator.autocast():
        lstm = nn.LSTM(1, 1).to(accelerator.device)
        lstm(torch.zeros(1, 1, 1, device=accelerator.device))
