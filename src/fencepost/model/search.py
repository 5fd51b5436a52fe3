"""From boundary vectors to parses: one loop of steps, greedy or with a beam.

Pointing is normalised over candidates and labelling over allowed labels. With canonical rules each
parse has one derivation, so the sum of the steps' log-probabilities is that of the parse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from fencepost.model.fast import FastStepping
from fencepost.model.head import PointingHead
from fencepost.model.stepping import MINUS, Rules, Stepping

_SHARE = 3 / 4  # of the rows are still under way when the others are left behind


class First(Protocol):
    """Makes the beginning of a search: `FastStepping.first`, or that of the plain twin."""

    def __call__(
        self, head: PointingHead, boundaries: Tensor, lengths: Tensor, rules: Rules, /
    ) -> Stepping:
        """Make it."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """The steps of the parses that were found, best first in each row."""

    boundaries: Tensor  # (rows, beams, steps)
    labels: Tensor  # (rows, beams, steps)
    steps: Tensor  # (rows, beams): how many there are
    log_probs: Tensor  # (rows, beams); -inf where there is no further parse
    step_log_probs: Tensor  # (rows, beams, steps): of each step, given those before it


@torch.no_grad()
def greedy(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    *,
    canonical: bool = True,
    first: First = FastStepping.first,
) -> Found:
    """The parses found by taking the best boundary and then the best label at each step.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        canonical: whether the rules of `transition.canonical` hold; the paper has none
        first: which stepping
    """
    rows, width = boundaries.shape[:2]
    steps = 2 * width - 3 if width > 1 else 0  # 2n - 1
    made = lengths.new_zeros(2, steps, rows)
    each = boundaries.new_zeros(steps, rows)
    counts = lengths.new_zeros(rows)
    active = torch.arange(rows, device=lengths.device)
    stepping = first(head, boundaries, lengths, Rules(canonical, head.open_root))
    going = torch.ones(rows, dtype=torch.bool, device=lengths.device)
    for number in range(steps):
        point_score, boundary = stepping.pointing().max(-1)
        label_scores = stepping.labelling(boundary[:, None])[:, 0]
        label_score, label = label_scores.max(-1)
        # A row that is finished points to 0, which changes nothing, until it is left behind.
        boundary, label = boundary * going, label * going
        made[0, number, active], made[1, number, active] = boundary, label
        each[number, active] = (point_score + label_score).masked_fill(~going, 0.0)
        counts[active] += going
        stepping = stepping.point(boundary, label)
        going = ~stepping.where.is_final
        left = int(going.sum())
        if left == 0:
            break
        if left < _SHARE * len(going):
            index = going.nonzero()[:, 0]
            active, stepping, going = active[index], stepping.rows(index), going[index]
    made, each = made.transpose(1, 2), each.T
    return Found(
        made[0][:, None], made[1][:, None], counts[:, None], each.sum(1)[:, None], each[:, None]
    )


@torch.no_grad()
def beam(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    *,
    beams: int,
    canonical: bool = True,
    first: First = FastStepping.first,
) -> Found:
    """The parses found by keeping the best few at each step, over boundaries and labels.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        beams: how many are kept; as many are returned
        canonical: whether the rules of `transition.canonical` hold; the paper has none
        first: which stepping
    """
    rows, width = boundaries.shape[:2]
    device = lengths.device
    labels = len(head.label_vectors)
    row = torch.arange(rows, device=device).repeat_interleave(beams)
    rules = Rules(canonical, head.open_root)
    stepping = first(head, boundaries, lengths, rules).rows(row)
    scores = boundaries.new_full((rows, beams), MINUS)
    scores[:, 0] = 0.0  # all beams of a row are the same at first: only one counts
    steps = 2 * width - 3 if width > 1 else 0
    made = lengths.new_zeros(2, rows, beams, steps)
    counts = lengths.new_zeros(rows, beams)
    step_scores = boundaries.new_zeros(rows, beams, steps)
    few_boundaries, few_labels = min(beams, width), min(beams, labels)
    for number in range(steps):
        # A beam that holds no parse stays where it is, like one that holds a finished one.
        final = stepping.where.is_final | (scores.view(-1) == MINUS)
        # A finished parse goes on by pointing to 0 without a label, at no cost.
        points = stepping.pointing()
        points[final] = MINUS
        points[final, 0] = 0.0
        point_scores, boundary = points.topk(few_boundaries)  # (rows * beams, few)
        label_scores, label = stepping.labelling(boundary).topk(few_labels)
        label_scores[final] = MINUS
        label_scores[final, :, 0] = 0.0
        costs = point_scores[:, :, None] + label_scores
        total = scores.view(-1, 1, 1) + costs
        scores, best = total.view(rows, -1).topk(beams)
        each = few_boundaries * few_labels
        parent = best // each + torch.arange(rows, device=device)[:, None] * beams
        parent, chosen = parent.view(-1), (best % each).view(-1)
        going = ~final[parent]
        boundary = boundary[parent, chosen // few_labels] * going
        label = label.reshape(len(row), -1)[parent, chosen] * going
        made = made.view(2, rows * beams, steps)[:, parent].view(2, rows, beams, steps)
        made[0, :, :, number], made[1, :, :, number] = boundary.view(rows, -1), label.view(rows, -1)
        step_scores = step_scores.view(rows * beams, steps)[parent].view(rows, beams, steps)
        cost = costs.view(len(row), -1)[parent, chosen].view(rows, beams)
        step_scores[:, :, number] = cost.masked_fill(scores == MINUS, MINUS)
        counts = counts.view(-1)[parent].view(rows, beams) + going.view(rows, beams)
        stepping = stepping.rows(parent).point(boundary, label)
        if bool((stepping.where.is_final.view(rows, beams) | (scores == MINUS)).all()):
            break
    return Found(made[0], made[1], counts, scores, step_scores)
