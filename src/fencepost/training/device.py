"""Where a network is trained, and how precisely: what `accelerate` does for us."""

from __future__ import annotations

import os
from typing import Literal

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import DistributedType, GradientAccumulationPlugin, patch_environment
from torch import nn

from fencepost.errors import ConfigError
from fencepost.runtime.threads import threads_of, usable_processors
from fencepost.training.processes import Processes, joined, local_count

_DEVICE = "ACCELERATE_TORCH_DEVICE"  # the only way to tell it which of several


def accelerator_for(
    device: str = "cpu", precision: Literal["fp32", "bf16"] = "fp32"
) -> Accelerator:
    """The accelerator for "cpu", "cuda", "cuda:1" or "mps": it places, casts, differentiates.

    Of several processes that a launcher started, each has a GPU of its own with "cuda".

    Raises:
        ConfigError: there is no such device here, or processes cannot share it.
    """
    processes = joined()
    try:
        torch.empty(0, device=_own_device(device, processes))
    except (RuntimeError, AssertionError) as error:  # the latter from a torch without CUDA
        reason = str(error).splitlines()[0]
        raise ConfigError(f"training.device: {device!r} cannot be used: {reason}") from error
    # accelerate keeps one state a process, and would refuse another precision in the next run.
    AcceleratorState._reset_state(reset_partial_state=True)
    told = {"OMP_NUM_THREADS": str(torch.get_num_threads())}  # or it might choose how many
    if device != "cuda" or processes.count == 1:  # else it gives each its own
        told[_DEVICE] = device
    try:
        with patch_environment(**told):
            accelerator = Accelerator(
                cpu=device == "cpu",
                mixed_precision="bf16" if precision == "bf16" else "no",
                # What was said to the launcher is not for us: our settings accumulate.
                gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=1),
            )
        _try(accelerator)
    except (ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"training.precision: {precision} cannot be used on {device}, use fp32: {reason}"
        ) from error
    _check_kind(accelerator, processes)
    return accelerator


def set_threads(threads: int | None, device: str) -> None:
    """Use so many threads; None: as many as torch will, or a share of the cores for each process.

    A launcher gives each process one thread unless it is told otherwise.
    """
    if threads is None and device == "cpu" and joined().count > 1:
        threads = max(1, usable_processors() // local_count())
    if threads is not None:
        torch.set_num_threads(threads_of(threads))


def _own_device(device: str, processes: Processes) -> str:
    """The device of this process among several."""
    if processes.count == 1 or device == "cpu":
        return device
    if device != "cuda":
        raise ConfigError(
            f"training.device: {device!r} is one device, and there are {processes.count} "
            'processes; "cuda" gives each a GPU of its own, "cpu" a share of the cores'
        )
    here, gpus = local_count(), torch.cuda.device_count()
    if 0 < gpus < here:
        raise ConfigError(
            f"training.device: {here} processes on this machine, and {gpus} GPUs; start as many "
            "processes as there are GPUs"
        )
    return f"cuda:{os.environ.get('LOCAL_RANK', 0)}"


def _check_kind(accelerator: Accelerator, processes: Processes) -> None:
    """Refuse what the launcher may have been told to do, and we do not."""
    plain = (DistributedType.NO, DistributedType.MULTI_CPU, DistributedType.MULTI_GPU)
    if processes.count > 1 and (
        accelerator.distributed_type not in plain or accelerator.num_processes != processes.count
    ):
        raise ConfigError(
            f"the launcher asks for {accelerator.distributed_type.value} with "
            f"{accelerator.num_processes} processes where {processes.count} were started; "
            "processes here share out batches and nothing else: start them with torchrun, or "
            "with accelerate launch --multi_gpu"
        )


def _try(accelerator: Accelerator) -> None:
    """Run a small LSTM: many processors have no bf16 for it, and say so only then."""
    with torch.random.fork_rng(devices=[]), accelerator.autocast():
        lstm = nn.LSTM(1, 1).to(accelerator.device)
        lstm(torch.zeros(1, 1, 1, device=accelerator.device))
