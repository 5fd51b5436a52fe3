"""Processes that train together: what they tell each other, and how they agree.

A launcher (`accelerate launch`, `torchrun`) starts them, and leaves in the environment how many
there are. Each does its share of every batch; the main process also prints and writes files.
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

PATIENCE = timedelta(minutes=30)  # how long a process waits for the others


class AgreedError(FencepostError):
    """An error of one process or of all, which all of them raise."""


class LostError(TrainingError):
    """Another process is gone: there is nobody left to agree with."""


@dataclass(frozen=True, slots=True)
class Processes:
    """How many processes train together, and which of them this is.

    All methods but `agreed` are for all of them at once: each waits for the others. One that is
    alone has nothing to tell, and does not wait.
    """

    count: int = 1
    rank: int = 0

    @classmethod
    def of(cls, accelerator: Accelerator) -> Processes:
        """Those that an accelerator knows of."""
        return cls(accelerator.num_processes, accelerator.process_index)

    @property
    def is_main(self) -> bool:
        """Whether this is the one that prints and writes files."""
        return self.rank == 0

    def gather(self, value: T) -> list[T]:
        """The values of all, by rank."""
        if self.count == 1:
            return [value]
        values: list[T | None] = [None] * self.count
        with _answered():
            distributed.all_gather_object(values, value)
        return values  # type: ignore[return-value]  # all are there now

    def of_main(self, value: T) -> T:
        """The value that the main process has."""
        if self.count == 1:
            return value
        values = [value]
        with _answered():
            distributed.broadcast_object_list(values, src=0)
        return values[0]

    def copy_of_main(self, tensor: Tensor) -> None:
        """Put into a tensor what it holds in the main process."""
        if self.count > 1:
            whole = tensor.contiguous()
            with _answered():
                distributed.broadcast(whole, src=0)
            tensor.copy_(whole)

    def add_up(self, tensor: Tensor) -> None:
        """Put into a tensor the sum of what it holds in all processes."""
        if self.count > 1:
            with _answered():
                distributed.all_reduce(tensor)

    @contextmanager
    def together(self) -> Iterator[None]:
        """A block that all processes complete, or none: an error of one is raised by all.

        Otherwise the others would wait for an answer that never comes. What is no error of the
        user's ends its process, and the launcher then ends the others.
        """
        if self.count == 1:
            yield
            return
        told = None
        try:
            yield
        except (AgreedError, LostError):
            raise
        except FencepostError as error:
            told = str(error)
        texts = [text for text in self.gather(told) if text is not None]
        if texts:
            raise AgreedError("\n".join(dict.fromkeys(texts)))

    def agreed(self, error: FencepostError) -> FencepostError:
        """An error that all have at the same place, as the one to raise."""
        return error if self.count == 1 else AgreedError(str(error))


def joined() -> Processes:
    """This process among those that a launcher started with it; alone if none did.

    The processes find each other by the first call; later ones change nothing.

    Raises:
        ConfigError: there should be others, and they cannot be found.
    """
    launched = get_cpu_distributed_information()
    if launched.world_size == 1:
        return Processes()
    if not distributed.is_initialized():
        # Values go through the processor's back end even if gradients go from GPU to GPU.
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        try:
            distributed.init_process_group(
                backend, rank=launched.rank, world_size=launched.world_size, timeout=PATIENCE
            )
        except (RuntimeError, ValueError) as error:  # of which the latter: no address is set
            raise ConfigError(
                f"WORLD_SIZE is {launched.world_size}, and yet the processes do not find each "
                f"other: {_first_line(error)}\n  Start them with accelerate launch or torchrun, "
                "or unset WORLD_SIZE."
            ) from error
    return Processes(launched.world_size, launched.rank)


def leave() -> None:
    """Part from the other processes, if there are any."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


def is_left_alone() -> bool:
    """Whether accelerate was asked for several processes, and started this one only.

    `accelerate launch --cpu --num_processes 2` does so: it leaves the starting to MPI.
    """
    several = "ACCELERATE_MIXED_PRECISION" in os.environ and "MASTER_ADDR" in os.environ
    return several and "LOCAL_RANK" not in os.environ and joined().count == 1


def local_count() -> int:
    """How many of the processes are on this machine."""
    return int(get_cpu_distributed_information().local_world_size)


def seed_of(seed: int, *, steps: int, rank: int) -> int:
    """A seed for the random numbers of a process that begins, or joins in, after some steps.

    >>> seed_of(1, steps=0, rank=1) == seed_of(1, steps=0, rank=2)
    False
    """
    return Random(f"{seed} {steps} {rank}").getrandbits(63)


@contextmanager
def _answered() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # of gloo and NCCL alike
        raise LostError(
            f"another process of this run has ended, or does not answer ({_first_line(error)}); "
            "its last checkpoint is intact, and --resume goes on from it"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
