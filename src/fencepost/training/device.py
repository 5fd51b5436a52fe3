"""The device and the precision of training, through `accelerate`."""

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
from fencepost.training.processes import Processes, join_processes, local_count

_DEVICE = "ACCELERATE_TORCH_DEVICE"  # the only way to choose one of several devices


def accelerator_for(
    device: str = "cpu", precision: Literal["fp32", "bf16"] = "fp32"
) -> Accelerator:
    """The accelerator for "cpu", "cuda", "cuda:1" or "mps".

    With "cuda", each of several processes gets a GPU of its own.

    Raises:
        ConfigError: there is no such device here, or processes cannot share it.
    """
    processes = join_processes()
    try:
        torch.empty(0, device=_device_of_process(device, processes))
    except (RuntimeError, AssertionError) as error:  # the latter from a torch without CUDA
        reason = str(error).splitlines()[0]
        raise ConfigError(f"training.device: {device!r} cannot be used: {reason}") from error
    # accelerate's state is global: without a reset, another precision would be an error.
    AcceleratorState._reset_state(reset_partial_state=True)
    environment = {"OMP_NUM_THREADS": str(torch.get_num_threads())}  # or accelerate may change it
    if device != "cuda" or processes.count == 1:  # otherwise accelerate distributes the GPUs
        environment[_DEVICE] = device
    try:
        with patch_environment(**environment):
            accelerator = Accelerator(
                cpu=device == "cpu",
                mixed_precision="bf16" if precision == "bf16" else "no",
                # Whatever the launcher's arguments are: our own settings accumulate.
                gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=1),
            )
        _try_precision(accelerator)
    except (ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"training.precision: {precision} cannot be used on {device}, use fp32: {reason}"
        ) from error
    _check_kind(accelerator, processes)
    return accelerator


def set_threads(threads: int | None, device: str) -> None:
    """Set the number of CPU threads.

    None: torch's default, or a share of the processors for each of several processes, to which
    launchers give a single thread by default.
    """
    if threads is None and device == "cpu" and join_processes().count > 1:
        threads = max(1, usable_processors() // local_count())
    if threads is not None:
        torch.set_num_threads(threads_of(threads))


def _device_of_process(device: str, processes: Processes) -> str:
    """The device of this process, with the index of its GPU."""
    if processes.count == 1 or device == "cpu":
        return device
    if device != "cuda":
        raise ConfigError(
            f"training.device: {device!r} is one device, and there are {processes.count} "
            'processes; "cuda" gives each a GPU of its own, "cpu" a share of the cores'
        )
    local, gpus = local_count(), torch.cuda.device_count()
    if 0 < gpus < local:
        raise ConfigError(
            f"training.device: {local} processes on this machine, and {gpus} GPUs; start as many "
            "processes as there are GPUs"
        )
    return f"cuda:{os.environ.get('LOCAL_RANK', 0)}"


def _check_kind(accelerator: Accelerator, processes: Processes) -> None:
    """Refuse the kinds of distributed training that launchers offer and this program does not."""
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


def _try_precision(accelerator: Accelerator) -> None:
    """Run a small LSTM: on many processors it has no bf16, and fails only then."""
    with torch.random.fork_rng(devices=[]), accelerator.autocast():
        lstm = nn.LSTM(1, 1).to(accelerator.device)
        lstm(torch.zeros(1, 1, 1, device=accelerator.device))
