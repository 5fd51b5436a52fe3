"""A score for every span, and a loss over whole parses to train it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from fencepost.batching.steps import Steps
from fencepost.batching.vocabulary import FILLER
from fencepost.model.inside import log_sum
from fencepost.runtime.grid import NEVER, WIDEST


class Grid(nn.Module):
    """Scores every span from its two ends, with one hidden layer.

    Args:
        boundary_width: size of boundary vectors.
        hidden: size of the hidden layer.
    """

    def __init__(self, boundary_width: int, *, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(2 * boundary_width, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, boundaries: Tensor) -> Tensor:
        """The log-odds that a parse has the span (i, j), at [i, j] for i < j.

        The hidden layer is linear in both ends, so each boundary is projected once.

        Args:
            boundaries: (rows, n + 1, width)

        Returns:
            (rows, n + 1, n + 1)
        """
        start, end = self.first.weight.chunk(2, dim=1)
        starts = functional.linear(boundaries, start)
        ends = functional.linear(boundaries, end, self.first.bias)
        hidden = self.norm(starts[:, :, None] + ends[:, None]).relu()
        return self.out(hidden)[..., 0]  # type: ignore[no-any-return]


def pointing_terms(spans: Tensor) -> Tensor:
    """The terms of pointing in both directions; very wide spans have `NEVER`.

    Args:
        spans: the scores of all spans, (rows, n + 1, n + 1)

    Returns:
        (rows, n + 1, n + 1), symmetric
    """
    upper = spans.triu(1)
    boundary = torch.arange(spans.shape[1], device=spans.device)
    wide = (boundary[:, None] - boundary).abs() > WIDEST
    return (upper + upper.transpose(1, 2)).masked_fill(wide, NEVER)


def grid_loss(spans: Tensor, lengths: Tensor, gold: Steps, *, open_root: bool) -> Tensor:
    """The negative log-probability of the labelled spans of a parse among all sets that nest.

    Args:
        spans: the scores of all spans, (rows, n + 1, n + 1)
        lengths: in words, (rows,)
        gold: the steps of the parses
        open_root: whether the whole sentence may be unlabelled

    Returns:
        (rows,)
    """
    row = torch.arange(len(spans), device=spans.device)
    whole = spans[row, 0, lengths]
    root = functional.softplus(whole) if open_root else whole
    labelled = torch.from_numpy(gold.mask & (gold.labels != FILLER)).to(spans.device)
    starts, ends = (torch.from_numpy(ends).to(spans.device) for ends in (gold.starts, gold.ends))
    score = spans[row[:, None], starts, ends].masked_fill(~labelled, 0.0).sum(1)
    return log_sum(spans, lengths) + root - score
