"""Numpy's products while something is decoded: on one thread, and without false alarms.

They are small: threads that wait for each other cost more than they save, and several times as much
when other processes want the same processors.
"""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np

# A decorator. `a @ b` of some sizes raises the flag of an invalid operation though all is well, as
# BLAS computes more than it was asked for. `a.dot(b)` ignores flags and needs no such care.
quiet = np.errstate(invalid="ignore", over="ignore")


class _OneThread:
    """Limits numpy's BLAS to one thread from the first `with` to the end of the last."""

    def __init__(self) -> None:
        self._lock = RLock()  # closing a walk may interrupt another one's entry
        self._users = 0
        self._before: list[int] = []

    @cached_property
    def _libraries(self) -> list[Any]:
        from threadpoolctl import ThreadpoolController

        return ThreadpoolController().select(user_api="blas").lib_controllers

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._before = [library.num_threads for library in self._libraries]
                self._set([1] * len(self._before))
            self._users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._set(self._before)

    def _set(self, numbers: list[int]) -> None:
        for library, threads in zip(self._libraries, numbers, strict=True):
            library.set_num_threads(threads)
            # Since threadpoolctl 3.7 only the thread that set the number may set it again; here
            # the last to leave may be another one.
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread()


one_thread = _OneThread()  # numpy has one pool for the process, so there is one of these
