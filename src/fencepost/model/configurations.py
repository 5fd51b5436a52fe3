"""Many configurations at a time: the fast twin of `transition.Configuration`."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_NONE = -1  # no such boundary


@dataclass(frozen=True, slots=True)
class Configurations:
    """Where the parses of a batch stand, with what the canonical rules have to know.

    A row that is final and points to 0 stays as it is, so that finished and unfinished ones can
    share a batch.
    """

    lengths: Tensor  # (rows,)
    cursor: Tensor  # (rows,)
    newest: Tensor  # (rows,): where the newest span starts; -1 before the first
    starts: Tensor  # (rows, boundaries): where the spans start that no other holds
    fillers: Tensor  # (rows, boundaries): whether the span that starts there is a filler
    below: Tensor  # (rows, boundaries): where the span before it on the stack starts; -1 if none
    barrier: Tensor  # (rows, boundaries): start of the last of two neighbouring fillers up to it

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
        none = lengths.new_full((rows, width), _NONE)
        false = torch.zeros(rows, width, dtype=torch.bool, device=lengths.device)
        return cls(lengths, zeros, zeros + _NONE, false, false, none, none)

    @property
    def is_final(self) -> Tensor:
        """Whether the span over the whole sentence is complete: (rows,)."""
        return (self.newest == 0) & (self.cursor == self.lengths)

    @property
    def beside_filler(self) -> Tensor:
        """Whether the newest span, which ends at the cursor, is a filler: (rows,)."""
        return self._at_newest(self.fillers, False)

    def candidates(self) -> Tensor:
        """The boundaries that may be pointed to: (rows, boundaries)."""
        boundary = torch.arange(self.starts.shape[1], device=self.starts.device)
        left = self.starts & (boundary < self.newest[:, None])
        right = (boundary > self.cursor[:, None]) & (boundary <= self.lengths[:, None])
        return (left | right) & ~self.is_final[:, None]

    def canonical_candidates(self) -> Tensor:
        """The candidates that rule 1 of `transition.canonical` leaves: (rows, boundaries)."""
        boundary = torch.arange(self.starts.shape[1], device=self.starts.device)
        barrier = self._at_newest(self.barrier, _NONE)
        return self.candidates() & (boundary > barrier[:, None])

    def may_be_filler(self, boundary: Tensor, *, open_root: bool) -> Tensor:
        """Whether the span made by pointing there may go without a label: rules 2 to 4.

        Args:
            boundary: (rows, few)
            open_root: whether the whole sentence may

        Returns:
            (rows, few)
        """
        cursor, lengths = self.cursor[:, None], self.lengths[:, None]
        beside = self.beside_filler[:, None]
        rightward = (boundary > cursor) & ((boundary < lengths) | ~beside)
        whole = self.whole(boundary)
        return rightward | whole if open_root else rightward & ~whole

    def whole(self, boundary: Tensor) -> Tensor:
        """Whether pointing there makes the span over the whole sentence: (rows, few) twice."""
        cursor, lengths = self.cursor[:, None], self.lengths[:, None]
        forward = (cursor == 0) & (boundary == lengths)
        return forward | ((boundary == 0) & (cursor == lengths))

    def point(self, boundary: Tensor, *, filler: Tensor) -> Configurations:
        """Complete the spans between the cursors and `boundary`: both (rows,)."""
        start = torch.minimum(self.cursor, boundary)
        at = start[:, None]
        rightward = boundary > self.cursor
        # The span below the new one on the stack: the newest, or what was below the merged ones.
        below = torch.where(rightward, self.newest, self.below.gather(1, at)[:, 0])
        beneath = below.clamp(min=0)[:, None]
        side_by_side = filler & rightward & self.beside_filler
        barrier = self.barrier.gather(1, beneath)[:, 0].where(below >= 0, below)
        barrier = torch.where(side_by_side, below, barrier)
        kept = torch.arange(self.starts.shape[1], device=self.starts.device) < at
        return Configurations(
            self.lengths,
            torch.maximum(self.cursor, boundary),
            start,
            (self.starts & kept).scatter(1, at, True),
            self.fillers.scatter(1, at, filler[:, None]),
            self.below.scatter(1, at, below[:, None]),
            self.barrier.scatter(1, at, barrier[:, None]),
        )

    def rows(self, index: Tensor) -> Configurations:
        """Some of the rows, in this order."""
        return Configurations(*(getattr(self, name)[index] for name in self.__dataclass_fields__))

    def _at_newest(self, values: Tensor, otherwise: int | bool) -> Tensor:
        found = values.gather(1, self.newest.clamp(min=0)[:, None])[:, 0]
        return found.where(self.newest >= 0, torch.full_like(found, otherwise))
