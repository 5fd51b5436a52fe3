"""How many threads are worth having on this machine."""

from __future__ import annotations

import os
from math import ceil
from pathlib import Path

import torch

from fencepost.errors import ConfigError

_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds in each period, or `max`, and the period


def set_threads(threads: int | None) -> None:
    """Set the number of threads of this process.

    Args:
        threads: None: what torch thinks right, but no more than the processors that this process
            may use. In a container torch counts all of the machine, and many threads that wait for
            few processors are far slower than few threads.
    """
    if threads is None:
        torch.set_num_threads(min(torch.get_num_threads(), usable_processors()))
    elif threads < 1:
        raise ConfigError(f"threads: at least 1, not {threads}")
    else:
        torch.set_num_threads(threads)


def usable_processors(quota: Path = _QUOTA) -> int:
    """How many processors this process may use, of those that there are."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux tells
        count = os.cpu_count() or 1
    try:
        most, period = quota.read_text().split()
        return min(count, max(ceil(int(most) / int(period)), 1))
    except (OSError, ValueError):  # there is no limit
        return count
