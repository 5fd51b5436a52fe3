"""Derivations: the steps of parses, as search returns them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fencepost.batching.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Derivations:
    """The derivations of the parses of some sentences, best first in each row."""

    boundaries: Ints  # (rows, beams, steps); like labels in 32 bits
    labels: Ints  # (rows, beams, steps)
    counts: Ints  # (rows, beams): of steps
    log_probs: Floats  # (rows, beams); -inf where there is no further parse
    step_log_probs: Floats  # (rows, beams, steps): of each step, given those before it

    @classmethod
    def empty(cls, rows: int, beams: int, boundaries: Floats) -> Derivations:
        """Room for the derivations of sentences whose boundaries have these vectors."""
        steps = max(2 * boundaries.shape[1] - 3, 0)  # 2 n - 1
        return cls(
            np.zeros((rows, beams, steps), dtype=np.int32),
            np.zeros((rows, beams, steps), dtype=np.int32),
            np.zeros((rows, beams), dtype=np.intp),
            np.zeros((rows, beams), dtype=boundaries.dtype),
            np.zeros((rows, beams, steps), dtype=boundaries.dtype),
        )

    def rows(self, index: Ints) -> Derivations:
        """Some of the rows, in this order."""
        return Derivations(*(getattr(self, name)[index] for name in self.__dataclass_fields__))

    def arranged(self, rows: int, beams: int) -> Derivations:
        """The same derivations, one for each row so far, as those of fewer rows."""
        columns = (getattr(self, name) for name in self.__dataclass_fields__)
        return Derivations(*(column.reshape(rows, beams, *column.shape[2:]) for column in columns))

    def beside(self, others: Derivations) -> Derivations:
        """The derivations of each row and others of the same row behind them."""
        columns = (
            (getattr(self, name), getattr(others, name)) for name in self.__dataclass_fields__
        )
        return Derivations(*(np.concatenate(pair, axis=1) for pair in columns))

    def ranked(self, order: Ints) -> Derivations:
        """Some of the derivations of each row, in this order: (rows, beams)."""
        row = np.arange(len(order))[:, None]
        return Derivations(*(getattr(self, name)[row, order] for name in self.__dataclass_fields__))

    def put(self, index: Ints, rows: Derivations) -> None:
        """Write rows in place of some."""
        for name in self.__dataclass_fields__:
            getattr(self, name)[index] = getattr(rows, name)
