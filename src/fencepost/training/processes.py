"""Processes that train together, and their communication.

A launcher (`accelerate launch`, `torchrun`) starts them, and sets their number in the environment.
Each computes its share of every batch; the main process also prints and writes files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import TypeVar

import torch
from accelerate import Accelerator
from accelerate.utils.environment import get_cpu_distributed_information
from torch import Tensor, distributed

from fencepost.errors import ConfigError, FencepostError, TrainingError

T = TypeVar("T")

PATIENCE = timedelta(minutes=30)  # the timeout of communication


class AgreedError(FencepostError):
    """An error of some processes that all of them raise."""


class LostError(TrainingError):
    """Another process has ended or does not answer."""


@dataclass(frozen=True, slots=True)
class Processes:
    """The number of processes that train together, and the rank of this one.

    All processes have to call each method but `agreed`, which wait for each other. A single
    process communicates with no other and does not wait.
    """

    count: int = 1
    rank: int = 0

    @classmethod
    def of(cls, accelerator: Accelerator) -> Processes:
        """The processes of an accelerator."""
        return cls(accelerator.num_processes, accelerator.process_index)

    @property
    def is_main(self) -> bool:
        """Whether this is the process that prints and writes files."""
        return self.rank == 0

    def gather(self, value: T) -> list[T]:
        """The values of all processes, by rank."""
        if self.count == 1:
            return [value]
        values: list[T | None] = [None] * self.count
        with _raising_lost():
            distributed.all_gather_object(values, value)
        return values  # type: ignore[return-value]  # none is None any more

    def broadcast(self, value: T) -> T:
        """The value of the main process."""
        if self.count == 1:
            return value
        values = [value]
        with _raising_lost():
            distributed.broadcast_object_list(values, src=0)
        return values[0]

    def broadcast_tensor(self, tensor: Tensor) -> None:
        """Overwrite a tensor with that of the main process."""
        if self.count > 1:
            contiguous = tensor.contiguous()
            with _raising_lost():
                distributed.broadcast(contiguous, src=0)
            tensor.copy_(contiguous)

    def all_reduce(self, tensor: Tensor) -> None:
        """Overwrite a tensor with the sum over all processes."""
        if self.count > 1:
            with _raising_lost():
                distributed.all_reduce(tensor)

    @contextmanager
    def together(self) -> Iterator[None]:
        """A block that all processes complete or none: all raise the error of one.

        Otherwise the others would wait forever. Errors other than `FencepostError` end their
        process, and the launcher then ends the others.
        """
        if self.count == 1:
            yield
            return
        message = None
        try:
            yield
        except (AgreedError, LostError):
            raise
        except FencepostError as error:
            message = str(error)
        messages = [text for text in self.gather(message) if text is not None]
        if messages:
            raise AgreedError("\n".join(dict.fromkeys(messages)))

    def agreed(self, error: FencepostError) -> FencepostError:
        """The error to raise for one that all processes have at the same place."""
        return error if self.count == 1 else AgreedError(str(error))


def join_processes() -> Processes:
    """Connect to the other processes of a launcher, if there is one.

    The first call connects; later ones change nothing.

    Raises:
        ConfigError: there should be others, and they cannot be reached.
    """
    launched = get_cpu_distributed_information()
    if launched.world_size == 1:
        return Processes()
    if not distributed.is_initialized():
        # Objects and CPU tensors go through gloo, even if gradients go from GPU to GPU.
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        try:
            distributed.init_process_group(
                backend, rank=launched.rank, world_size=launched.world_size, timeout=PATIENCE
            )
        except (RuntimeError, ValueError) as error:  # the latter if no address is set
            raise ConfigError(
                f"WORLD_SIZE is {launched.world_size}, and yet the processes do not find each "
                f"other: {_first_line(error)}\n  Start them with accelerate launch or torchrun, "
                "or unset WORLD_SIZE."
            ) from error
    return Processes(launched.world_size, launched.rank)


def leave() -> None:
    """Disconnect from the other processes, if there are any."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


def is_left_alone() -> bool:
    """Whether accelerate was asked for several processes, but started only this one.

    `accelerate launch --cpu --num_processes 2` does so: it expects MPI to start the others.
    """
    several = "ACCELERATE_MIXED_PRECISION" in os.environ and "MASTER_ADDR" in os.environ
    return several and "LOCAL_RANK" not in os.environ and join_processes().count == 1


def local_count() -> int:
    """The number of processes on this machine."""
    return int(get_cpu_distributed_information().local_world_size)


def seed_of(seed: int, *, steps: int, rank: int) -> int:
    """The random seed of a process that starts after so many steps.

    >>> seed_of(1, steps=0, rank=1) == seed_of(1, steps=0, rank=2)
    False
    """
    return Random(f"{seed} {steps} {rank}").getrandbits(63)


@contextmanager
def _raising_lost() -> Iterator[None]:
    """Turn errors of communication into a `LostError`."""
    try:
        yield
    except RuntimeError as error:  # of gloo and NCCL alike
        raise LostError(
            f"another process of this run has ended, or does not answer ({_first_line(error)}); "
            "its last checkpoint is intact, and --resume goes on from it"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
