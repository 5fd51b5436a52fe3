"""Which steps are allowed, and their log-probabilities."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from fencepost.batching.arrays import Bools, Floats, Ints
from fencepost.batching.vocabulary import FILLER
from fencepost.decoding.configurations import Configurations
from fencepost.decoding.constraints import RowLimits

MINUS = float("-inf")


@dataclass(frozen=True, slots=True)
class Rules:
    """Which steps are allowed, and how probable they are.

    Pointing is normalised over candidates and labelling over allowed labels. Constraints remove
    steps without making the others likelier: these keep the log-probability that they have without
    constraints, so that parses can be compared.
    """

    open_root: bool  # whether the whole sentence may be a filler
    _: KW_ONLY
    bare: int | None = None  # the label of a whole sentence that has none, and of nothing else
    nearest_first: bool = False  # whether candidates are asked in order, or compete in a softmax
    canonical: bool = True  # whether the rules of `transition.canonical` hold; the paper has none
    limits: RowLimits | None = None  # the steps that constraints leave; None: no constraints
    temperature: float = 1.0  # that logits have been divided by

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
        log_probs = (
            nearest_first(where, allowed, logits)
            if self.nearest_first
            else log_softmax(np.where(allowed, logits, MINUS))
        )
        if left is not allowed:
            log_probs[~left] = MINUS
        return log_probs

    def best_point(self, where: Configurations, logits: Floats, log_probs: Floats) -> Ints:
        """The boundaries that greedy search points to, whatever the temperature.

        Of candidates that are asked in order it takes the first whose answer is yes. The most
        probable one may be another, if several before it are close to even; the first is right more
        often. Where no answer is yes it takes the most probable one.

        Args:
            where: the rows' configurations
            logits: (rows, n + 1)
            log_probs: what `points` makes of them, (rows, n + 1)

        Returns:
            (rows,)
        """
        if not self.nearest_first:
            return log_probs.argmax(-1)
        boundary, cursor = np.arange(logits.shape[1]), where.cursor[:, None]
        allowed = log_probs > MINUS
        yes = (logits > 0) & allowed
        left = np.where(yes & (boundary < cursor), boundary, -1).max(1)
        right = np.where(yes & (boundary > cursor), boundary, len(boundary)).min(1)
        best = np.where(left >= 0, left, right)
        none = best == len(boundary)
        if np.count_nonzero(none):
            # The order of probabilities depends on the temperature: it is that without one.
            plain = replace(self, temperature=1.0).points(where, logits * self.temperature)
            best = np.where(none, plain.argmax(-1), best)
        return best

    def labels(self, where: Configurations, boundary: Ints, logits: Floats) -> Floats:
        """Log-probabilities of the labels of the spans made by pointing to some boundaries.

        Args:
            where: the rows' configurations
            boundary: (rows,)
            logits: (rows, labels); overwritten

        Returns:
            (rows, labels)
        """
        if logits.shape[1] == 1:  # a head that has learned no label
            return np.zeros_like(logits)
        may = self._may_be_filler(where, boundary)
        left = None
        if self.limits is not None:
            left = self.limits.labels(where, boundary, may_be_filler=may, canonical=self.canonical)
            may |= left[:, FILLER]
        np.putmask(logits[:, FILLER], ~may, MINUS)
        if self.bare is not None:
            np.putmask(logits[:, self.bare], ~where.is_whole(boundary), MINUS)
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


def nearest_first(where: Configurations, allowed: Bools, logits: Floats) -> Floats:
    """Log-probabilities of candidates that are asked one after the other: (rows, n + 1).

    On the left from the nearest to the farthest, then on the right likewise. Each logit z is a
    yes/no question: log p(k) = log σ(z_k) + Σ log σ(-z) over the candidates before k. The last one
    takes the rest. So the spans that end at the cursor, which have to be built innermost first, do
    not compete with each other as they do in a softmax.

    Args:
        where: the rows' configurations
        allowed: the candidates, (rows, n + 1)
        logits: (rows, n + 1)
    """
    row = np.arange(len(logits))
    softplus = np.logaddexp(0, logits)
    no = np.where(allowed, -softplus, 0)
    passed = no.cumsum(1)
    leftward = np.arange(logits.shape[1]) < where.cursor[:, None]
    # On the left, what lies between; on the right, all on the left and what lies between.
    before = np.where(leftward, passed[row, where.cursor][:, None] - passed, passed - no)
    yes = np.where(allowed, logits - softplus, MINUS)
    yes[row, _last(where, allowed)] = 0
    return before + yes


def asked_before(where: Configurations, allowed: Bools, target: Ints) -> tuple[Bools, Bools]:
    """The candidates that are asked before a target, and whether the target is the last one.

    Args:
        where: the configurations of rows, or of rows and steps: (..., )
        allowed: the candidates, (..., n + 1)
        target: one of them each, (..., )

    Returns:
        (..., n + 1) and (..., )
    """
    boundary, cursor, aim = np.arange(allowed.shape[-1]), where.cursor[..., None], target[..., None]
    between = ((boundary > aim) & (boundary < cursor)) | ((boundary > cursor) & (boundary < aim))
    earlier = between | ((aim > cursor) & (boundary < cursor))
    return earlier & allowed, target == _last(where, allowed)


def _last(where: Configurations, allowed: Bools) -> Ints:
    """The candidate that is asked last: n, and at the end of the sentence the farthest left."""
    return np.where(where.cursor < where.lengths, where.lengths, allowed.argmax(-1))
