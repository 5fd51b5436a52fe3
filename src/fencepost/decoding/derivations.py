"""Derivations: the steps of parses, as search returns them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fencepost.batching.arrays import Floats, Ints


class Derivations(NamedTuple):
    """The derivations of the parses of some sentences, best first in each row."""

    boundaries: Ints  # (rows, beams, steps); like labels in 32 bits
    labels: Ints  # (rows, beams, steps)
    counts: Ints  # (rows, beams): of steps
    log_probs: Floats  # (rows, beams); -inf where there is no further parse
    step_log_probs: Floats  # (rows, beams, steps): of each step, given those before it

    @classmethod
    def empty(cls, rows: int, beams: int, boundaries: Floats) -> Derivations:
        """Room for the derivations of sentences whose boundaries have these vectors."""
        steps = most_steps(boundaries)
        return cls(
            np.zeros((rows, beams, steps), dtype=np.int32),
            np.zeros((rows, beams, steps), dtype=np.int32),
            np.zeros((rows, beams), dtype=np.intp),
            np.zeros((rows, beams), dtype=boundaries.dtype),
            np.zeros((rows, beams, steps), dtype=boundaries.dtype),
        )

    def rows(self, index: Ints) -> Derivations:
        """Some of the rows, in this order."""
        return Derivations._make(column[index] for column in self)

    def arranged(self, rows: int, beams: int) -> Derivations:
        """The same derivations, one for each row so far, as those of fewer rows."""
        return Derivations._make(column.reshape(rows, beams, *column.shape[2:]) for column in self)

    def beside(self, others: Derivations) -> Derivations:
        """The derivations of each row and others of the same row behind them."""
        pairs = zip(self, others, strict=True)
        return Derivations._make(np.concatenate(pair, axis=1) for pair in pairs)

    def ranked(self, order: Ints) -> Derivations:
        """Some of the derivations of each row, in this order: (rows, beams)."""
        row = np.arange(len(order))[:, None]
        return Derivations._make(column[row, order] for column in self)

    def put(self, index: Ints, rows: Derivations) -> None:
        """Write rows in place of some."""
        for column, new in zip(self, rows, strict=True):
            column[index] = new


def most_steps(boundaries: Floats) -> int:
    """The largest number of steps that a parse takes: 2 n - 1."""
    return max(2 * boundaries.shape[1] - 3, 0)
