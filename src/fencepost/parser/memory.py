"""Memory that is free, given back to the system.

Batches of ever other shapes leave holes between what stays in memory. The C library keeps these
for later, and a process that parses for hours would grow, though nothing is lost.
"""

from __future__ import annotations

import ctypes
import sys
import time


class Upkeep:
    """Gives free memory back now and then.

    Args:
        seconds: between two times, at least; each takes about ten milliseconds.
    """

    def __init__(self, *, seconds: float = 1.0) -> None:
        self._seconds = seconds
        self._last = time.monotonic()

    def look(self) -> bool:
        """Give back what is free, if it is time to; whether it was done."""
        now = time.monotonic()
        if now - self._last < self._seconds:
            return False
        self._last = now
        return give_back()


def give_back() -> bool:
    """Give free memory back; False: this system has no way to be told to."""
    try:
        trim = ctypes.CDLL(None).malloc_trim if sys.platform == "linux" else None
    except (AttributeError, OSError):  # a C library that is not glibc
        trim = None
    return trim is not None and trim(0) >= 0
