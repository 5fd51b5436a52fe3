"""A score for every span with every label, and the loss that trains it on whole parses."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from fencepost.batching.steps import Steps
from fencepost.batching.vocabulary import FILLER
from fencepost.model.inside import log_sum
from fencepost.runtime.grid import NEVER, WIDEST


class Grid(nn.Module):
    """Scores all labels of every span from its two ends, with one hidden layer.

    Args:
        boundary_width: width of the boundary vectors.
        hidden: size of the hidden layer.
        labels: number of labels, the filler's included.
    """

    def __init__(self, boundary_width: int, *, hidden: int, labels: int) -> None:
        super().__init__()
        self.first = nn.Linear(2 * boundary_width, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.out = nn.Linear(hidden, labels)

    def forward(self, boundaries: Tensor) -> Tensor:
        """Label scores of the span (i, j) at [i, j], meaningful where i < j.

        The hidden layer is linear in both ends, so each boundary is projected once.

        Args:
            boundaries: (rows, n + 1, width)

        Returns:
            (rows, n + 1, n + 1, labels)
        """
        start, end = self.first.weight.chunk(2, dim=1)
        starts = functional.linear(boundaries, start)
        ends = functional.linear(boundaries, end, self.first.bias)
        hidden = self.norm(starts[:, :, None] + ends[:, None]).relu()
        return self.out(hidden)  # type: ignore[no-any-return]


def span_scores(labels: Tensor) -> Tensor:
    """Log-odds of a span having some label against having none: (…, labels) to (…, )."""
    others = torch.cat((labels[..., :FILLER], labels[..., FILLER + 1 :]), dim=-1)
    return others.logsumexp(-1) - labels[..., FILLER]


def pointing_terms(labels: Tensor) -> Tensor:
    """The span scores that pointing uses, for both directions; very wide spans have `NEVER`.

    Args:
        labels: scores of all spans, (rows, n + 1, n + 1, labels)

    Returns:
        (rows, n + 1, n + 1), symmetric
    """
    scores = span_scores(labels).triu(1)
    boundary = torch.arange(scores.shape[1], device=scores.device)
    wide = (boundary[:, None] - boundary).abs() > WIDEST
    return (scores + scores.transpose(1, 2)).masked_fill(wide, NEVER)


def grid_loss(labels: Tensor, lengths: Tensor, gold: Steps, *, open_root: bool) -> Tensor:
    """Minus the log-probability of the labelled spans of a parse among all sets that nest.

    Args:
        labels: scores of all spans, (rows, n + 1, n + 1, labels)
        lengths: in words, (rows,)
        gold: the steps of the parses
        open_root: whether the whole sentence may go without a label

    Returns:
        (rows,)
    """
    scores = span_scores(labels)
    row = torch.arange(len(labels), device=labels.device)
    whole = scores[row, 0, lengths]
    root = functional.softplus(whole) if open_root else whole
    starts, ends, label = (
        torch.from_numpy(column).to(labels.device)
        for column in (gold.starts, gold.ends, gold.labels)
    )
    of_span = labels[row[:, None], starts, ends]  # (rows, steps, labels)
    odds = of_span.gather(2, label[:, :, None])[:, :, 0] - of_span[:, :, FILLER]
    labelled = torch.from_numpy(gold.mask & (gold.labels != FILLER)).to(labels.device)
    return log_sum(scores, lengths) + root - odds.masked_fill(~labelled, 0.0).sum(1)
