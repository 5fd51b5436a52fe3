"""Many configurations at a time: the fast twin of `transition.Configuration`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from fencepost.batching.arrays import Bools, Ints
from fencepost.batching.steps import Steps
from fencepost.batching.vocabulary import FILLER

_NONE = -1  # no such boundary
NO_SPAN = -1  # stands for the label of a span that is not there


class Stack(NamedTuple):
    """The spans that are complete and held by no other, for scores that look at them."""

    labels: Ints  # (rows, boundaries): the label of the span that starts there
    depth: Ints  # (rows,): how many there are
    depths: Ints  # (rows, boundaries): how many are below the span that starts there

    def point(self, cursor: Ints, start: Ints, label: Ints) -> Stack:
        """After spans are complete.

        Args:
            cursor: before the step, (rows,)
            start: of the spans that are complete now, (rows,)
            label: of these, (rows,)
        """
        row = np.arange(len(cursor))
        labels, depths = self.labels.copy(), self.depths.copy()
        labels[row, start] = label
        depths[row, cursor] = self.depth
        return Stack(labels, depths[row, start] + 1, depths)


class Configurations(NamedTuple):
    """Where the parses of a batch stand, with what rules and scores look at.

    Each boundary has a rank. Where a span on the stack starts, it is the boundary's own number,
    unless that span is the newest; right of the cursor it is larger than any of these; everywhere
    else it is -1. So the candidates are the boundaries whose rank is not negative, and rule 1 of
    `transition.canonical` leaves those whose rank is above a floor.

    A final row that points to 0 stays as it is, so finished and unfinished rows can share a batch.

    Arrays of one configuration for each row may have an axis of steps behind that of rows.
    """

    lengths: Ints  # (rows,)
    cursor: Ints  # (rows,)
    newest: Ints  # (rows,): where the newest span starts; 0 before the first
    label: Ints  # (rows,): of the newest span; `NO_SPAN` before the first
    floor: Ints  # (rows,): where the last of two neighbouring fillers starts; -1 if there is none
    rank: Ints  # (rows, boundaries)
    floors: Ints  # (rows, boundaries): the floor below the span on the stack that starts there
    is_final: Bools  # (rows,): whether the span over the whole sentence is complete
    stack: Stack | None  # None: nothing looks at it

    @classmethod
    def first(
        cls, lengths: Ints, boundaries: int | None = None, *, stack: bool = False
    ) -> Configurations:
        """All at the beginning.

        Args:
            lengths: in words, (rows,)
            boundaries: how many there are with padding; None: as many as the longest row has
            stack: whether anything looks at the stack
        """
        rows = len(lengths)
        width = int(lengths.max()) + 1 if boundaries is None else boundaries
        boundary = np.arange(width)
        ahead = (boundary > 0) & (boundary <= lengths[:, None])
        return cls(
            lengths,
            np.zeros(rows, dtype=np.intp),
            np.zeros(rows, dtype=np.intp),
            np.full(rows, NO_SPAN),
            np.full(rows, _NONE),
            np.where(ahead, width, _NONE),
            np.full((rows, width), _NONE),
            np.zeros(rows, dtype=np.bool_),
            Stack(
                np.full((rows, width), NO_SPAN),
                np.zeros(rows, dtype=np.intp),
                np.zeros((rows, width), dtype=np.intp),
            )
            if stack
            else None,
        )

    @property
    def beside_filler(self) -> Bools:
        """Whether the newest span is a filler: (rows,)."""
        return self.label == FILLER

    def candidates(self) -> Bools:
        """The boundaries that may be pointed to: (rows, boundaries)."""
        return self.rank >= 0

    def canonical_candidates(self) -> Bools:
        """The candidates that rule 1 of `transition.canonical` leaves: (rows, boundaries)."""
        return self.rank > self.floor[..., None]

    def merged(self) -> Ints:
        """How many spans pointing to a candidate on the left merges, else 0: (rows, boundaries)."""
        assert self.stack is not None
        leftward = np.arange(self.rank.shape[-1]) < self.newest[..., None]
        return np.maximum(self.stack.depth[..., None] - self.stack.depths, 0) * leftward

    def may_be_filler(self, boundary: Ints, *, open_root: bool) -> Bools:
        """Whether the span made by pointing there may go without a label: rules 2 to 4.

        Args:
            boundary: (rows,)
            open_root: whether the whole sentence may

        Returns:
            (rows,)
        """
        # At the end of the sentence only if the left neighbour is no filler.
        ahead = (boundary > self.cursor) & (boundary < self.lengths + (self.label != FILLER))
        if open_root:
            return ahead | (self.cursor - boundary == self.lengths)
        return ahead & (boundary - self.cursor < self.lengths)

    def is_whole(self, boundary: Ints) -> Bools:
        """Whether pointing there makes the span over the whole sentence: (rows,) to (rows,)."""
        return np.abs(boundary - self.cursor) == self.lengths

    def point(self, boundary: Ints, label: Ints) -> Configurations:
        """Complete the spans between the cursors and `boundary`: both (rows,)."""
        row, every = np.arange(len(boundary)), np.arange(self.rank.shape[1])
        start, end = np.minimum(self.cursor, boundary), np.maximum(self.cursor, boundary)
        # What was the newest can be pointed to as soon as another one is beside it.
        rank = self.rank.copy()
        rank[row, self.newest] = self.newest
        np.putmask(rank, (every >= start[:, None]) & (every <= end[:, None]), _NONE)
        # Below a merge, all is as it was when the first of the merged spans was pushed.
        floors = self.floors.copy()
        floors[row, self.cursor] = self.floor
        # A filler is never a merge, unless it ends the parse.
        side_by_side = (label == FILLER) & self.beside_filler
        floor = np.where(side_by_side, self.newest, floors[row, start])
        is_final = end - start == self.lengths
        stack = None if self.stack is None else self.stack.point(self.cursor, start, label)
        return Configurations(self.lengths, end, start, label, floor, rank, floors, is_final, stack)

    def rows(self, index: Ints) -> Configurations:
        """Some of the rows, in this order."""
        stack = None if self.stack is None else Stack(*(column[index] for column in self.stack))
        return Configurations._make((*(column[index] for column in self[:-1]), stack))


def along(path: Steps, lengths: Ints, boundaries: int, *, stack: bool = False) -> Configurations:
    """The configurations before each step of a path, with an axis of steps behind that of rows.

    Args:
        path: the steps; a row that has ended points to 0 and stays
        lengths: in words, (rows,)
        boundaries: how many there are with padding
        stack: whether anything looks at the stack
    """
    where = Configurations.first(lengths, boundaries, stack=stack)
    passed = []
    for boundary, label in zip(path.boundaries.T, path.labels.T, strict=True):
        passed.append(where)
        where = where.point(boundary, label)

    stacks = [one.stack for one in passed if one.stack is not None]
    stack_along = Stack(*map(_stacked, zip(*stacks, strict=True))) if stacks else None
    columns = map(_stacked, zip(*(one[:-1] for one in passed), strict=True))
    return Configurations._make((*columns, stack_along))


def _stacked(columns: Iterable[Any]) -> Any:
    return np.stack(list(columns), axis=1)
