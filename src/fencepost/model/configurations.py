"""Many configurations at a time: the fast twin of `transition.Configuration`."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_NONE = -1  # no such boundary


@dataclass(frozen=True, slots=True)
class Configurations:
    """Where the parses of a batch stand, with what the canonical rules have to know.

    Each boundary has a rank: one that a span on the stack starts at, unless that span is the
    newest, has its own number; one to the right of the cursor has a number that is larger than any
    of these; and all others have -1. So the candidates are those whose rank is not negative, and
    what rule 1 of `transition.canonical` leaves of them is those whose rank is above a floor.

    A row that is final and points to 0 stays as it is, so that finished and unfinished ones can
    share a batch.
    """

    lengths: Tensor  # (rows,)
    cursor: Tensor  # (rows,)
    newest: Tensor  # (rows,): where the newest span starts; -1 before the first
    beside_filler: Tensor  # (rows,): whether the newest span is a filler
    floor: Tensor  # (rows,): where the last of two neighbouring fillers starts; -1 if there is none
    rank: Tensor  # (rows, boundaries)
    floors: Tensor  # (rows, boundaries): the floor below the span on the stack that starts there

    @classmethod
    def first(cls, lengths: Tensor, boundaries: int | None = None) -> Configurations:
        """All at the beginning.

        Args:
            lengths: in words, (rows,)
            boundaries: how many there are with padding; None: as many as the longest row has
        """
        rows = len(lengths)
        width = int(lengths.max()) + 1 if boundaries is None else boundaries
        zeros = lengths.new_zeros(rows)
        boundary = torch.arange(width, device=lengths.device)
        ahead = (boundary > 0) & (boundary <= lengths[:, None])
        none = lengths.new_full((rows, width), _NONE)
        return cls(
            lengths,
            zeros,
            zeros + _NONE,
            zeros.bool(),
            zeros + _NONE,
            none.masked_fill(ahead, width),
            none,
        )

    @property
    def is_final(self) -> Tensor:
        """Whether the span over the whole sentence is complete: (rows,)."""
        return (self.newest == 0) & (self.cursor == self.lengths)

    def candidates(self) -> Tensor:
        """The boundaries that may be pointed to: (rows, boundaries)."""
        return self.rank >= 0

    def canonical_candidates(self) -> Tensor:
        """The candidates that rule 1 of `transition.canonical` leaves: (rows, boundaries)."""
        return self.rank > self.floor[:, None]

    def may_be_filler(self, boundary: Tensor, *, open_root: bool) -> Tensor:
        """Whether the span made by pointing there may go without a label: rules 2 to 4.

        Args:
            boundary: (rows, few)
            open_root: whether the whole sentence may

        Returns:
            (rows, few)
        """
        cursor, lengths = self.cursor[:, None], self.lengths[:, None]
        # At the end of the sentence only if the left neighbour is no filler.
        last = lengths + ~self.beside_filler[:, None]
        rightward = (boundary > cursor) & (boundary < last)
        whole = self.whole(boundary)
        return rightward | whole if open_root else rightward & ~whole

    def whole(self, boundary: Tensor) -> Tensor:
        """Whether pointing there makes the span over the whole sentence: (rows, few) twice."""
        cursor, lengths = self.cursor[:, None], self.lengths[:, None]
        start, end = torch.minimum(cursor, boundary), torch.maximum(cursor, boundary)
        return (end - start) == lengths

    def point(self, boundary: Tensor, *, filler: Tensor) -> Configurations:
        """Complete the spans between the cursors and `boundary`: both (rows,)."""
        start, end = torch.minimum(self.cursor, boundary), torch.maximum(self.cursor, boundary)
        rightward = boundary > self.cursor
        every = torch.arange(self.rank.shape[1], device=self.rank.device)
        within = (every >= start[:, None]) & (every <= end[:, None])
        at = start[:, None]
        # Below a merge, all is as it was when the first of the merged spans was pushed.
        below = torch.where(rightward, self.floor, self.floors.gather(1, at)[:, 0])
        side_by_side = filler & rightward & self.beside_filler
        # What was the newest can be pointed to as soon as another one is beside it.
        covered = torch.where(rightward, self.newest, _NONE)
        return Configurations(
            self.lengths,
            end,
            start,
            filler,
            torch.where(side_by_side, self.newest, below),
            self.rank.masked_fill(within, _NONE).scatter_(
                1, self.newest.clamp(min=0)[:, None], covered[:, None]
            ),
            self.floors.scatter(1, at, below[:, None]),
        )

    def rows(self, index: Tensor) -> Configurations:
        """Some of the rows, in this order."""
        return Configurations(*(getattr(self, name)[index] for name in self.__dataclass_fields__))
