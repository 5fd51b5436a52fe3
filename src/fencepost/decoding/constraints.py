"""Constraints for many rows at a time: the fast twin of `transition.ConstrainedConfiguration`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fencepost.batching.arrays import Bools, Ints
from fencepost.batching.vocabulary import FILLER, Labels
from fencepost.decoding.configurations import Configurations
from fencepost.errors import ConstraintError
from fencepost.tasks.labels import split
from fencepost.transition import Constraints, Limits
from fencepost.transition.constraints import Reach


def limits_of(
    constraints: Sequence[Constraints | None],
    labels: Labels,
    lengths: Sequence[int],
    *,
    open_root: bool,
    wrapper: str | None = None,
) -> list[Limits | None]:
    """The limits that constraints set for sentences; None where there are none.

    Args:
        constraints: of each sentence.
        labels: the head's, among which the chains are looked for.
        lengths: in words.
        open_root: whether the whole sentence may be a filler: the head's.
        wrapper: that goes around each tree, so that it may be asked for, too.

    Raises:
        ConstraintError: no parse can obey; the first sentence of which this is so counts, and its
            number is in the message if there are others.
    """
    known = {chain: split(chain) for chain in labels.names}
    limits: list[Limits | None] = []
    for required, n in zip(constraints, lengths, strict=True):
        if required is None or required == Constraints():
            limits.append(None)
            continue
        try:
            limits.append(required.limits(known, n, open_root=open_root, wrapper=wrapper))
        except ConstraintError as error:
            if len(constraints) == 1:
                raise
            raise ConstraintError(f"sentence {len(limits) + 1}: {error}") from error
    return limits


def _crossing(reach: Reach, boundaries: int) -> Bools:
    """Whether the places between two boundaries are out of reach: (boundaries, boundaries)."""
    # From the padding, nothing is crossed.
    padding = boundaries - len(reach.last_end)
    last_end = np.array(reach.last_end + (boundaries,) * padding)[:, None]
    first_start = np.array(reach.first_start + (0,) * padding)
    boundary = np.arange(boundaries)
    crossing = (boundary > last_end) | (boundary[:, None] < first_start)
    return crossing | crossing.T  # only places with their start first have been found


@dataclass(frozen=True, slots=True)
class RowLimits:
    """The steps that constraints leave to the rows of a batch.

    Places for which the same labels are left are of one kind; kind 0 is that of a row without
    constraints. Of all arrays only `row` follows the rows in search, the others are never copied.
    """

    row: Ints  # (rows,): the sentence that each row parses
    constrained: Bools  # (sentences,): whether there are any constraints
    kinds: Ints  # (sentences, boundaries, boundaries): of the places between two; in 32 bits
    chains: Bools  # (kinds, labels): which labels are left; the filler's is not among them
    labelled: Bools  # (kinds,): whether any is left
    must: Bools  # (kinds,)
    right: Ints  # (sentences, boundaries): how far one may point from there, to the right
    left: Ints  # (sentences, boundaries): and to the left, unless an open must says more
    earliest: Ints  # (sentences, boundaries): where the longest must starts that ends there

    @classmethod
    def of(
        cls, limits: Sequence[Limits | None], labels: Labels, *, boundaries: int
    ) -> RowLimits | None:
        """The limits of some sentences as arrays; None if there are none at all.

        Args:
            limits: of each sentence
            labels: the head's
            boundaries: how many there are with padding
        """
        if all(limit is None for limit in limits):
            return None
        known: dict[tuple[tuple[str, ...], bool], int] = {(labels.names, False): 0}
        shape = (len(limits), boundaries)
        right, earliest = np.full(shape, boundaries), np.full(shape, boundaries)
        left = np.zeros(shape, dtype=np.intp)
        kinds = np.zeros((*shape, boundaries), dtype=np.int32)
        for row, limit in enumerate(limits):
            if limit is None:
                continue
            kinds[row] = known.setdefault((limit.elsewhere, False), len(known))
            for (start, end), chains in limit.named.items():
                kind = known.setdefault((chains, (start, end) in limit.must), len(known))
                kinds[row, start, end] = kinds[row, end, start] = kind
            for start, end in limit.must:
                np.minimum(right[row, :start], start, out=right[row, :start])
                np.minimum(right[row, start:end], end, out=right[row, start:end])
                np.maximum(left[row, start + 1 : end], start, out=left[row, start + 1 : end])
                earliest[row, end] = min(earliest[row, end], start)
            if limit.reach is not None:
                crossing = known.setdefault(((), False), len(known))
                kinds[row][_crossing(limit.reach, boundaries)] = crossing
        allowed = np.zeros((len(known), len(labels)), dtype=np.bool_)
        for (chains, _), kind in known.items():
            numbers = [labels.number(chain) or FILLER for chain in chains]
            allowed[kind, numbers] = True
        return cls(
            np.arange(len(limits)),
            np.array([limit is not None for limit in limits]),
            kinds,
            allowed,
            np.any(allowed, axis=-1),
            np.array([must for _, must in known]),
            right,
            left,
            earliest,
        )

    def rows(self, index: Ints) -> RowLimits:
        """Some of the rows, in this order."""
        return replace(self, row=self.row[index])

    def candidates(self, where: Configurations, *, canonical: bool) -> Bools:
        """The boundaries that may be pointed to.

        A must has a label left, and so has the whole sentence if it may not be a filler: otherwise
        the constraints would have been refused. So fillers do not matter here.

        Args:
            where: the rows' configurations
            canonical: whether the canonical rules hold, too

        Returns:
            (rows, boundaries)
        """
        kinds = self.kinds[self.row, where.cursor]
        boundary, cursor = np.arange(kinds.shape[1]), where.cursor[:, None]
        free = where.candidates() & self._keeps_musts(where, boundary, self.must[kinds])
        if not canonical:
            return free
        labelled, lengths = self.labelled[kinds], where.lengths[:, None]
        free &= labelled | (boundary > cursor) | (np.abs(boundary - cursor) == lengths)
        # Rules 2 and (e): beside a filler, another one does not end what holds both.
        ends = (boundary == lengths) | (self.earliest[self.row] <= where.newest[:, None])
        filler = ~(where.beside_filler[:, None] & ends)
        allowed = free & where.canonical_candidates() & (labelled | filler)
        return np.where(allowed.any(1, keepdims=True), allowed, free)  # rule (f)

    def labels(
        self, where: Configurations, boundary: Ints, *, may_be_filler: Bools, canonical: bool
    ) -> Bools:
        """The labels that the spans made by pointing to some candidates may have.

        A candidate for which no label is left can only be a filler, by rule (f) or without it. One
        that has a label is no more of a filler by rule (f): to the left it never is, and to the
        right it would have been left without. So no other boundaries have to be looked at.

        Args:
            where: the rows' configurations
            boundary: (rows,); nothing is said about boundaries that are no candidates
            may_be_filler: whether they may be fillers without the constraints, (rows,)
            canonical: whether the canonical rules hold, too

        Returns:
            (rows, labels)
        """
        kinds = self.kinds[self.row, where.cursor, boundary]
        filler = may_be_filler & ~self.must[kinds]
        if canonical:  # rule (e)
            ends = self.earliest[self.row, boundary] <= where.newest
            filler &= ~(where.beside_filler & ends)
        allowed = self.chains[kinds]
        allowed[:, FILLER] = filler | ~self.labelled[kinds]
        return allowed

    def _keeps_musts(self, where: Configurations, boundary: Ints, must: Bools) -> Bools:
        """Whether all musts can still be met after pointing there: rules (a) to (c).

        Args:
            where: the rows' configurations
            boundary: all of them, (boundaries,)
            must: whether the span made by pointing there is one, (rows, boundaries)

        Returns:
            (rows, boundaries)
        """
        is_open = must & (boundary < where.newest[:, None])
        last_open = np.where(is_open, boundary, -1).max(1)
        right = np.where(last_open < 0, self.right[self.row, where.cursor], where.cursor)
        left = np.maximum(self.left[self.row, where.cursor], last_open)
        return (boundary >= left[:, None]) & (boundary <= right[:, None])
