"""Greedy search in a single sentence, with the bookkeeping in plain Python.

For one row, the many small operations on tensors of one number cost more than all of the
arithmetic. So here the configuration is a stack of numbers, and only what is as long as the
sentence or as wide as the decoder is a tensor. The weights are those of `fast`, and what is found
is what the loop for many rows finds.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from fencepost.batching.vocabulary import FILLER
from fencepost.model.fast import SLOPE, Folded, folded, projections
from fencepost.model.head import PointingHead
from fencepost.model.stepping import MINUS


class Step(NamedTuple):
    """A step that was taken."""

    boundary: int
    label: int
    log_prob: float  # given the steps before it


class _Pushed(NamedTuple):
    """A completed span on the stack."""

    start: int
    is_filler: bool
    floor: int  # candidates have to be right of it; that of the stack without this span


def best_steps(head: PointingHead, boundaries: Tensor, *, canonical: bool) -> list[Step]:
    """The steps found by taking the best boundary and then the best label each time.

    Args:
        head: which parses.
        boundaries: of one sentence, (n + 1, width)
        canonical: whether the rules of `transition.canonical` hold; the paper has none
    """
    with torch.inference_mode():
        return _best_steps(head, folded(head), boundaries, canonical=canonical)


def _best_steps(
    head: PointingHead, weights: Folded, boundaries: Tensor, *, canonical: bool
) -> list[Step]:
    n = len(boundaries) - 1
    d, m = len(weights.first_cell), len(weights.span_bias)
    sides, offsets, spans = projections(head, weights, boundaries)
    # Added to scores: where no candidate is, it is -inf.
    closed = torch.zeros_like(offsets)
    closed[0] = MINUS
    into_gates, into_state, into_labels = weights.span.T, weights.state.T, weights.labels_out.T
    gates, cell = weights.first_gates.clone(), weights.first_cell
    stack: list[_Pushed] = []
    steps: list[Step] = []
    cursor, floor = 0, -1
    while True:
        openings, values = gates.split((3 * d, d))
        enter, keep, leave = openings.sigmoid_().split((d, d, d))
        cell = torch.addcmul(enter * values.tanh_(), keep, cell)
        of_state = torch.addmv(weights.state_bias, into_state, leave * cell.tanh())
        from_state, of_cursor, of_label = of_state.split((4 * d, m, m))

        scores = torch.addmv(offsets, sides, functional.leaky_relu_(of_cursor, SLOPE)).add_(closed)
        if canonical and floor >= 0:
            scores[: floor + 1] = MINUS
        score, chosen = scores.log_softmax(0).max(0)
        boundary, log_prob = int(chosen), float(score)
        start, end = (cursor, boundary) if boundary > cursor else (boundary, cursor)
        is_whole = end - start == n

        for_span, for_label = (spans[end] - spans[start]).split((m, m))
        scores = torch.addmv(
            weights.labels_bias,
            into_labels,
            functional.leaky_relu_(for_label.add_(of_label), SLOPE),
        )
        may_be_filler = head.open_root if is_whole else True
        if canonical and not is_whole:
            beside_filler = bool(stack) and stack[-1].is_filler
            may_be_filler = boundary > cursor and not (boundary == n and beside_filler)
        if not may_be_filler:
            scores[FILLER] = MINUS
        score, chosen = scores.log_softmax(0).max(0)
        label = int(chosen)
        steps.append(Step(boundary, label, log_prob + float(score)))
        if is_whole:
            return steps

        if boundary > cursor:
            closed[cursor + 1 : boundary + 1] = MINUS
            below = floor
            if stack:
                # What was the newest can be pointed to as soon as another one is beside it.
                closed[stack[-1].start] = 0.0
                if label == FILLER and stack[-1].is_filler:
                    floor = stack[-1].start
        else:
            closed[start:cursor] = MINUS
            while stack[-1].start != start:
                stack.pop()
            floor = below = stack.pop().floor
        stack.append(_Pushed(start, label == FILLER, below))
        cursor = end
        gates = torch.addmv(
            from_state,
            into_gates,
            functional.leaky_relu_(for_span.add_(weights.span_bias), SLOPE),
        )
        if weights.labels_in is not None:
            gates += weights.labels_in[label]
