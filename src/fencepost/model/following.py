"""Along given steps: how probable they are, and what would be taken instead."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from fencepost.model.fast import FastStepping
from fencepost.model.found import Steps
from fencepost.model.head import PointingHead
from fencepost.model.stepping import MINUS, First, Rules


@torch.no_grad()
def score(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    steps: Steps,
    *,
    row: Tensor | None = None,
    first: First = FastStepping.first,
) -> Tensor:
    """The log-probabilities of given steps under the canonical rules.

    Summed up, those of a parse's oracle are the log-probability of the parse.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        steps: of `parses` parses
        row: the row that each parse belongs to, (parses,); None: there is one for each row
        first: which stepping

    Returns:
        (parses, steps), 0 behind the last step, and -inf from a step on that is not allowed
    """
    width, labels = boundaries.shape[1], len(head.label_vectors)
    stepping = first(head, boundaries, lengths, Rules(True, head.open_root))
    if row is not None:
        stepping = stepping.rows(row)
    each = boundaries.new_zeros(steps.boundaries.shape)
    possible = torch.ones_like(steps.counts, dtype=torch.bool)
    for number in range(each.shape[1]):
        boundary, label = steps.boundaries[:, number], steps.labels[:, number]
        given = number < steps.counts
        known = (boundary >= 0) & (boundary < width) & (label >= 0) & (label < labels)
        # All other rows point to 0: so a finished one stays as it is, and a lost one matters not.
        boundary, label = boundary * (given & known), label * (given & known)
        cost = stepping.pointing().gather(1, boundary[:, None])[:, 0]
        cost = cost + stepping.labelling(boundary[:, None])[:, 0].gather(1, label[:, None])[:, 0]
        possible = possible & (known & ~stepping.where.is_final & (cost > MINUS) | ~given)
        each[:, number] = cost.masked_fill(~possible, MINUS).masked_fill(~given, 0.0)
        stepping = stepping.point(boundary, label)
    return each


class Walked(NamedTuple):
    """What was met along given steps, all (parses, steps); it means nothing behind the last."""

    log_probs: Tensor  # of the given steps, each given those before it; -inf: unknown labels
    boundaries: Tensor  # where greedy search would point to at each
    labels: Tensor  # the label that it would choose there
    best: Tensor  # the log-probability of that step


@torch.no_grad()
def walk(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    steps: Steps,
    *,
    row: Tensor,
    first: First = FastStepping.first,
) -> Walked:
    """Go along given steps under the canonical rules, and look at the best step at each.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        steps: of `parses` parses; a label that the head does not know is -1
        row: the row that each parse belongs to, (parses,)
        first: which stepping
    """
    stepping = first(head, boundaries, lengths, Rules(True, head.open_root)).rows(row)
    columns: list[tuple[Tensor, ...]] = []
    for number in range(steps.boundaries.shape[1]):
        boundary, label = steps.boundaries[:, number], steps.labels[:, number]
        points = stepping.pointing()
        point, chosen = points.max(-1)
        given, best = stepping.labelling(torch.stack((boundary, chosen), 1)).unbind(1)
        known = label >= 0
        label = torch.where(known, label, given[:, 1:].argmax(-1) + 1)  # a span, and no filler
        cost = points.gather(1, boundary[:, None]) + given.gather(1, label[:, None])
        best_label = best.max(-1)
        columns.append(
            (
                cost[:, 0].masked_fill(~known, MINUS),
                chosen,
                best_label.indices,
                point + best_label.values,
            )
        )
        # A finished row points to 0 without a label, which changes nothing.
        stepping = stepping.point(boundary, label)
    return Walked(*(torch.stack(column, 1) for column in zip(*columns, strict=True)))
