"""From boundary vectors to parses: one loop of steps, greedy or with a beam.

Pointing is normalised over candidates and labelling over allowed labels. With canonical rules each
parse has one derivation, so the sum of the steps' log-probabilities is that of the parse.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fencepost.batching.vocabulary import FILLER
from fencepost.model.configurations import Configurations
from fencepost.model.head import PointingHead

_MINUS = float("-inf")


@dataclass(frozen=True, slots=True)
class Found:
    """The steps of the parses that were found, best first in each row."""

    boundaries: Tensor  # (rows, beams, steps)
    labels: Tensor  # (rows, beams, steps)
    steps: Tensor  # (rows, beams): how many there are
    log_probs: Tensor  # (rows, beams); -inf where there is no further parse
    step_log_probs: Tensor  # (rows, beams, steps): of each step, given those before it


@dataclass(frozen=True, slots=True)
class _Step:
    """What a step needs to know of the rows that are still under way."""

    head: PointingHead
    boundaries: Tensor  # (rows, n + 1, width)
    sides: Tensor  # (rows, n + 1, mlp)
    canonical: bool

    def rows(self, index: Tensor) -> _Step:
        return _Step(self.head, self.boundaries[index], self.sides[index], self.canonical)

    def pointing(self, states: Tensor, where: Configurations) -> Tensor:
        """Log-probabilities of the boundaries: (rows, n + 1)."""
        scores = self.head.pointing_scores(self.sides, states)[:, 0]
        allowed = where.canonical_candidates() if self.canonical else where.candidates()
        return scores.masked_fill(~allowed, _MINUS).log_softmax(-1)

    def labelling(self, states: Tensor, where: Configurations, boundary: Tensor) -> Tensor:
        """Log-probabilities of the labels of the spans made by pointing there: (rows, labels)."""
        start = torch.minimum(where.cursor, boundary)[:, None]
        end = torch.maximum(where.cursor, boundary)[:, None]
        scores = self.head.label_scores(self.boundaries, states, start, end)[:, 0]
        open_root = self.head.open_root
        if self.canonical:
            may = where.may_be_filler(boundary, open_root=open_root)
        else:  # a tree needs a root all the same
            whole = (start[:, 0] == 0) & (end[:, 0] == where.lengths)
            may = ~whole | open_root
        forbidden = torch.zeros_like(scores, dtype=torch.bool)
        forbidden[:, FILLER] = ~may
        return scores.masked_fill(forbidden, _MINUS).log_softmax(-1)

    def next_inputs(self, where: Configurations, boundary: Tensor, label: Tensor) -> Tensor:
        start = torch.minimum(where.cursor, boundary)[:, None]
        end = torch.maximum(where.cursor, boundary)[:, None]
        return self.head.inputs(self.boundaries, start, end, label[:, None])


@torch.no_grad()
def greedy(
    head: PointingHead, boundaries: Tensor, lengths: Tensor, *, canonical: bool = True
) -> Found:
    """The parses found by taking the best boundary and then the best label at each step.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        canonical: whether the rules of `transition.canonical` hold; the paper has none
    """
    rows, width = boundaries.shape[:2]
    steps = 2 * width - 3 if width > 1 else 0  # 2n - 1
    made = lengths.new_zeros(2, rows, steps)
    counts, log_probs = lengths.new_zeros(rows), boundaries.new_zeros(rows)
    each = boundaries.new_zeros(rows, steps)
    active = torch.arange(rows, device=lengths.device)
    step = _Step(head, boundaries, head.sides(boundaries), canonical)
    where = Configurations.first(lengths, width)
    state, inputs = head.first_state(rows), head.first_inputs(rows)
    for number in range(steps):
        states, state = head.decode(inputs, state)
        point_score, boundary = step.pointing(states, where).max(-1)
        label_score, label = step.labelling(states, where, boundary).max(-1)
        made[0, active, number], made[1, active, number] = boundary, label
        counts[active] += 1
        each[active, number] = point_score + label_score
        log_probs[active] += point_score + label_score
        inputs = step.next_inputs(where, boundary, label)
        where = where.point(boundary, filler=label == FILLER)
        # Rows that are finished cost nothing any more.
        going = (~where.is_final).nonzero()[:, 0]
        if len(going) < len(active):
            active, where, state, step = (
                active[going],
                where.rows(going),
                state.rows(going),
                (step.rows(going)),
            )
            inputs = inputs[going]
            if len(going) == 0:
                break
    return Found(
        made[0][:, None], made[1][:, None], counts[:, None], log_probs[:, None], each[:, None]
    )


@torch.no_grad()
def beam(
    head: PointingHead, boundaries: Tensor, lengths: Tensor, *, beams: int, canonical: bool = True
) -> Found:
    """The parses found by keeping the best few at each step, over boundaries and labels.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        beams: how many are kept; as many are returned
        canonical: whether the rules of `transition.canonical` hold; the paper has none
    """
    rows, width = boundaries.shape[:2]
    device = lengths.device
    labels = len(head.label_vectors)
    row = torch.arange(rows, device=device).repeat_interleave(beams)
    step = _Step(head, boundaries, head.sides(boundaries), canonical).rows(row)
    where = Configurations.first(lengths, width).rows(row)
    state, inputs = head.first_state(len(row)), head.first_inputs(len(row))
    scores = boundaries.new_full((rows, beams), _MINUS)
    scores[:, 0] = 0.0  # all beams of a row are the same at first: only one counts
    steps = 2 * width - 3 if width > 1 else 0
    made = lengths.new_zeros(2, rows, beams, steps)
    counts = lengths.new_zeros(rows, beams)
    step_scores = boundaries.new_zeros(rows, beams, steps)
    few_boundaries, few_labels = min(beams, width), min(beams, labels)
    for number in range(steps):
        # A beam that holds no parse stays where it is, like one that holds a finished one.
        final = where.is_final | (scores.view(-1) == _MINUS)
        states, state = head.decode(inputs, state)
        # A finished parse goes on by pointing to 0 without a label, at no cost.
        points = step.pointing(states, where)
        points[final] = _MINUS
        points[final, 0] = 0.0
        point_scores, boundary = points.topk(few_boundaries)  # (rows * beams, few)
        label_scores, label = _labels_of_each(step, states, where, boundary, few_labels)
        label_scores[final] = _MINUS
        label_scores[final, :, 0] = 0.0
        costs = point_scores[:, :, None] + label_scores
        total = scores.view(-1, 1, 1) + costs
        scores, best = total.view(rows, -1).topk(beams)
        each = few_boundaries * few_labels
        parent = best // each + torch.arange(rows, device=device)[:, None] * beams
        parent, chosen = parent.view(-1), (best % each).view(-1)
        boundary = boundary[parent, chosen // few_labels]
        label = label.reshape(len(row), -1)[parent, chosen]
        was_final = final[parent]
        boundary = boundary.where(~was_final, torch.zeros_like(boundary))
        label = label.where(~was_final, torch.zeros_like(label))
        made = made.view(2, rows * beams, steps)[:, parent].view(2, rows, beams, steps)
        made[0, :, :, number], made[1, :, :, number] = boundary.view(rows, -1), label.view(rows, -1)
        step_scores = step_scores.view(rows * beams, steps)[parent].view(rows, beams, steps)
        cost = costs.view(len(row), -1)[parent, chosen].view(rows, beams)
        step_scores[:, :, number] = cost.masked_fill(scores == _MINUS, _MINUS)
        counts = counts.view(-1)[parent].view(rows, beams) + (~was_final).view(rows, beams)
        where, state = where.rows(parent), state.rows(parent)
        inputs = step.next_inputs(where, boundary, label)
        where = where.point(boundary, filler=label == FILLER)
        if bool((where.is_final.view(rows, beams) | (scores == _MINUS)).all()):
            break
    return Found(made[0], made[1], counts, scores, step_scores)


def _labels_of_each(
    step: _Step, states: Tensor, where: Configurations, boundary: Tensor, few: int
) -> tuple[Tensor, Tensor]:
    """The best labels for each boundary of each row: (rows, boundaries, few) twice."""
    rows, width = boundary.shape
    index = torch.arange(rows, device=boundary.device).repeat_interleave(width)
    scores = step.rows(index).labelling(states[index], where.rows(index), boundary.reshape(-1))
    best, label = scores.topk(few)
    return best.view(rows, width, few), label.view(rows, width, few)
