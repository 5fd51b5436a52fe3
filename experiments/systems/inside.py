"""Sums and maxima over all binary trees of a sentence, from the scores of spans alone.

The score of a tree is the sum of those of its spans. Spans of one width are worked on together, in
all sentences of a batch, so that `n` words take `n` steps, each over (rows, places, splits).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class Table(NamedTuple):
    """A number for each span, kept twice, so that the parts of all spans of a width are slices.

    The parts of (i, i + width) are (i, i + k) and (i + k, i + width) for 0 < k < width. Those on
    the left share a start, those on the right an end:

        by_start[row, start, width]
        by_end[row, end, n - width]

    Both are (rows, n + 1, n + 1), and both slices run along k.
    """

    by_start: Tensor
    by_end: Tensor

    @classmethod
    def empty(cls, scores: Tensor) -> Table:
        """Of as many spans as there are scores."""
        return cls(torch.zeros_like(scores), torch.zeros_like(scores))

    def of(self, width: int) -> tuple[Tensor, Tensor]:
        """The two places of all spans of a width, as views: (rows, places) each."""
        n = self.by_start.shape[1] - 1
        return self.by_start[:, : n - width + 1, width], self.by_end[:, width:, n - width]

    def parts(self, width: int) -> tuple[Tensor, Tensor]:
        """The left and right parts of all spans of a width: views (rows, places, splits)."""
        n = self.by_start.shape[1] - 1
        return (
            self.by_start[:, : n - width + 1, 1:width],
            self.by_end[:, width:, n - width + 1 : n],
        )


def _filled(scores: Tensor, over_splits: Callable[[Tensor], Tensor]) -> Table:
    """The table of all spans, from narrow to wide.

    Args:
        scores: (rows, n + 1, n + 1)
        over_splits: from (rows, places, splits) to (rows, places)
    """
    table = Table.empty(scores)
    for width in range(1, scores.shape[1]):
        here = scores.diagonal(width, 1, 2)
        if width > 1:
            left, right = table.parts(width)
            here = here + over_splits(left + right)
        for place in table.of(width):
            place.copy_(here)
    return table


class _LogSum(torch.autograd.Function):
    """The inside algorithm, with the outside algorithm as its gradient."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, lengths: Tensor) -> Tensor:
        table = _filled(scores, partial(torch.logsumexp, dim=-1))
        ctx.save_for_backward(*table, lengths)
        return table.by_start[torch.arange(len(lengths), device=lengths.device), 0, lengths]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Hand the gradient of each span down to its parts, as likely as each split is.

        Shares of a span add up to one whatever its scores are: nothing overflows or gets lost.
        """
        *inside, lengths = ctx.saved_tensors
        table, shares = Table(*inside), Table.empty(inside[0])
        shares.by_start[torch.arange(len(lengths), device=lengths.device), 0, lengths] = gradient
        found = torch.zeros_like(inside[0])
        for width in range(found.shape[1] - 1, 0, -1):
            from_right, from_left = shares.of(width)  # as the left part of some span, as the right
            here = from_right + from_left
            found.diagonal(width, 1, 2).copy_(here)
            if width > 1:
                left, right = table.parts(width)
                handed = torch.softmax(left + right, dim=-1).mul_(here[:, :, None])
                for part in shares.parts(width):
                    part.add_(handed)
        return found, None


def log_sum(scores: Tensor, lengths: Tensor) -> Tensor:
    """The logarithm of the sum over all binary trees of exp(score): log Z.

    Its gradient is how likely each span is: the marginals.

    Args:
        scores: of (i, j) at [i, j], (rows, n + 1, n + 1); only those with i < j count
        lengths: in words, at least one, (rows,)

    Returns:
        (rows,)
    """
    return _LogSum.apply(scores, lengths)  # type: ignore[no-any-return,no-untyped-call]


@torch.no_grad()
def best_splits(scores: Tensor) -> Tensor:
    """Where each span is split in the best binary tree over its words (CKY).

    Args:
        scores: of (i, j) at [i, j], (rows, n + 1, n + 1)

    Returns:
        The split of (i, j) at [i, j], for i + 1 < j: (rows, n + 1, n + 1)
    """
    starts = torch.arange(scores.shape[1], device=scores.device)
    splits = torch.zeros_like(scores, dtype=torch.long)

    def over_splits(sums: Tensor) -> Tensor:
        _, places, narrower = sums.shape
        best, which = sums.max(-1)
        splits.diagonal(narrower + 1, 1, 2).copy_(which + starts[:places] + 1)
        return best

    _filled(scores, over_splits)
    return splits
