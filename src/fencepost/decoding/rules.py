"""Which steps are allowed, and their log-probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fencepost.batching.arrays import Bools, Floats, Ints
from fencepost.batching.vocabulary import FILLER
from fencepost.decoding.configurations import Configurations
from fencepost.decoding.constraints import RowLimits

MINUS = float("-inf")


@dataclass(frozen=True, slots=True)
class Rules:
    """Which steps are allowed.

    Pointing is normalised over candidates and labelling over allowed labels. Constraints remove
    steps without making the others likelier: these keep the log-probability that they have without
    constraints, so that parses can be compared.
    """

    open_root: bool  # whether the whole sentence may be a filler
    canonical: bool = True  # whether the rules of `transition.canonical` hold; the paper has none
    limits: RowLimits | None = None  # the steps that constraints leave; None: no constraints

    def points(self, where: Configurations, logits: Floats) -> Floats:
        """Log-probabilities of pointing to each boundary; a finished row points to 0.

        Args:
            where: the rows' configurations
            logits: (rows, n + 1)

        Returns:
            (rows, n + 1)
        """
        allowed = where.canonical_candidates() if self.canonical else where.candidates()
        left = allowed
        if self.limits is not None:
            left = self.limits.candidates(where, canonical=self.canonical)
            allowed |= left
        if np.count_nonzero(where.is_final):
            allowed[where.is_final, 0] = left[where.is_final, 0] = True
        log_probs = log_softmax(np.where(allowed, logits, MINUS))
        if left is not allowed:
            log_probs[~left] = MINUS
        return log_probs

    def labels(self, where: Configurations, boundary: Ints, logits: Floats) -> Floats:
        """Log-probabilities of the labels of the spans made by pointing to some boundaries.

        Args:
            where: the rows' configurations
            boundary: (rows,)
            logits: (rows, labels); overwritten

        Returns:
            (rows, labels)
        """
        may = self._may_be_filler(where, boundary)
        left = None
        if self.limits is not None:
            left = self.limits.labels(where, boundary, may_be_filler=may, canonical=self.canonical)
            may |= left[:, FILLER]
        logits[~may, FILLER] = MINUS
        log_probs = log_softmax(logits)
        if left is not None:
            log_probs[~left] = MINUS
        return log_probs

    def rows(self, index: Ints) -> Rules:
        """The rules of some rows, in this order."""
        return self if self.limits is None else replace(self, limits=self.limits.rows(index))

    def _may_be_filler(self, where: Configurations, boundary: Ints) -> Bools:
        """Whether the spans made by pointing there may go without a label: (rows,)."""
        if self.canonical:
            return where.may_be_filler(boundary, open_root=self.open_root)
        return ~where.is_whole(boundary) | self.open_root  # a tree needs a root all the same


def log_softmax(logits: Floats) -> Floats:
    """Log-probabilities over the last axis, in place; -inf stays what it is."""
    # The methods `max` and `sum` do the same, and take longer to begin.
    logits -= np.maximum.reduce(logits, axis=-1, keepdims=True)
    logits -= np.log(np.add.reduce(np.exp(logits), axis=-1, keepdims=True))
    return logits
