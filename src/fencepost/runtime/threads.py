"""How many threads are worth having on this machine."""

from __future__ import annotations

import os
from math import ceil
from pathlib import Path

from fencepost.config import whole_number

_MOST = 1024  # threads of one process: far more would take all of its memory
_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds in each period, or `max`, and the period


def threads_of(threads: int | None) -> int:
    """A number of threads.

    Args:
        threads: None: as many as there are processors that this process may use. Many threads that
            wait for few processors, as in a container, are far slower than few threads.
    """
    return usable_processors() if threads is None else whole_number("threads", threads, most=_MOST)


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
