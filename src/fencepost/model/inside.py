"""The inside algorithm: the sum over all trees of a sentence, from the scores of spans.

A tree is any set of spans that nest, with any number of children per span. Its score is the sum of
those of its spans. All spans of one width are computed together, in all sentences of a batch, so
`n` words take `n` steps. Only the loss of a head's grid needs this, not parsing.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional


class _Parts:
    """A table of spans in which the parts of all spans of a width are slices.

    The parts of (i, i + width) are (i, i + k) on the left and (i + k, i + width) on the right, for
    0 < k < width. Both slices run along k: (rows, places, splits).

        left[row, start, width]
        right[row, end, n - width]
    """

    def __init__(self, scores: Tensor) -> None:
        self.n = scores.shape[1] - 1
        self.left, self.right = torch.zeros_like(scores), torch.zeros_like(scores)

    def of(self, width: int) -> tuple[Tensor, Tensor]:
        """All spans of a width, as left parts and as right parts: views."""
        n = self.n
        return self.left[:, : n - width + 1, width], self.right[:, width:, n - width]

    def inside(self, width: int) -> tuple[Tensor, Tensor]:
        """The left and the right parts of all spans of a width: views."""
        n = self.n
        return self.left[:, : n - width + 1, 1:width], self.right[:, width:, n - width + 1 : n]


class _LogSum(torch.autograd.Function):
    """The sum over the trees of each sentence, with the outside algorithm as its gradient.

    The last child within (i, j) is a word or a span; on its left is one child, or several that no
    other span holds. So with T(i, j) for the sum over everything inside,

        T(i, j) = logsumexp over k of left(i, k) + right(k, j)
        left  = T + softplus(s)                     # a span, or only its children
        right = T + s, or softplus(s) for a word    # a span
    """

    @staticmethod
    def forward(ctx: Any, scores: Tensor, lengths: Tensor) -> Tensor:
        parts = _Parts(scores)
        total = scores.new_zeros(len(scores))
        for width in range(1, parts.n + 1):
            here = scores.diagonal(width, 1, 2)
            inside = torch.zeros_like(here)
            if width > 1:
                left, right = parts.inside(width)
                inside = torch.logsumexp(left + right, dim=-1)
            as_left, as_right = parts.of(width)
            as_left.copy_(inside + functional.softplus(here))
            as_right.copy_(inside + here if width > 1 else functional.softplus(here))
            total = torch.where(lengths == width, inside[:, 0], total)
        ctx.save_for_backward(scores, lengths, parts.left, parts.right)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Distribute the gradient of each span over its splits, by their probability."""
        scores, lengths, left_table, right_table = ctx.saved_tensors
        parts, shares = _Parts(scores), _Parts(scores)
        parts.left, parts.right = left_table, right_table
        result = torch.zeros_like(scores)
        for width in range(parts.n, 0, -1):
            yes = torch.sigmoid(scores.diagonal(width, 1, 2))
            as_left, as_right = shares.of(width)
            bracketed = as_right if width > 1 else as_right * yes
            result.diagonal(width, 1, 2).copy_(as_left * yes + bracketed)
            if width > 1:
                inside = as_left + as_right
                inside[:, 0] += torch.where(lengths == width, gradient, 0.0)
                left, right = parts.inside(width)
                shared = torch.softmax(left + right, dim=-1).mul_(inside[:, :, None])
                for part in shares.inside(width):
                    part.add_(shared)
        return result, None


def log_sum(scores: Tensor, lengths: Tensor) -> Tensor:
    """The log-sum-exp of the scores of all trees, without the score of the whole sentence.

    Args:
        scores: the score of (i, j) at [i, j] for i < j, (rows, n + 1, n + 1)
        lengths: in words, at least one, (rows,)

    Returns:
        (rows,)
    """
    return _LogSum.apply(scores.float(), lengths)  # type: ignore[no-any-return,no-untyped-call]
