"""Free memory returned to the operating system.

Batches of varying shapes fragment the heap. The C library keeps the holes for later, so a process
that parses for hours would grow without a leak.
"""

from __future__ import annotations

import ctypes
import sys
import time


class MemoryTrimmer:
    """Returns free memory at regular intervals.

    Args:
        seconds: the shortest interval; each time takes about ten milliseconds.
    """

    def __init__(self, *, seconds: float = 1.0) -> None:
        self._seconds = seconds
        self._last = time.monotonic()

    def trim_if_due(self) -> bool:
        """Return free memory if the interval is over; True if some was returned."""
        now = time.monotonic()
        if now - self._last < self._seconds:
            return False
        self._last = now
        return trim_memory()


def trim_memory() -> bool:
    """Return free memory to the system; False where the C library has no such function."""
    try:
        trim = ctypes.CDLL(None).malloc_trim if sys.platform == "linux" else None
    except (AttributeError, OSError):  # a C library that is not glibc
        trim = None
    return trim is not None and trim(0) >= 0
