"""From boundary vectors to parses: one loop of steps, greedy, with a beam, or along given steps.

Pointing is normalised over candidates and labelling over allowed labels. With canonical rules each
parse has one derivation, so the sum of the steps' log-probabilities is that of the parse.

With constraints, what was found comes back as its canonical steps, with the log-probabilities that
these have without constraints: those that `score` gives. Search itself may have gone another way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from fencepost.batching.vocabulary import FILLER
from fencepost.model.constraints import RowLimits
from fencepost.model.fast import FastStepping
from fencepost.model.head import PointingHead
from fencepost.model.stepping import MINUS, Rules, Stepping
from fencepost.transition import Pointing, pointings, replay

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


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of given parses."""

    boundaries: Tensor  # (rows, steps)
    labels: Tensor  # (rows, steps)
    counts: Tensor  # (rows,): how many there are

    @classmethod
    def of(cls, parses: Sequence[Sequence[tuple[int, int]]]) -> Steps:
        """The steps of each parse, boundary and number of the label, with padding.

        A label that the head does not know has the number -1: such a step is never allowed.
        """
        longest = max(map(len, parses), default=0)
        padded = [[*steps, *[(0, FILLER)] * (longest - len(steps))] for steps in parses]
        made = torch.tensor(padded, dtype=torch.long).view(len(parses), longest, 2)
        return cls(made[:, :, 0], made[:, :, 1], torch.tensor([len(steps) for steps in parses]))

    def to(self, device: torch.device) -> Steps:
        """The same on a device."""
        return Steps(self.boundaries.to(device), self.labels.to(device), self.counts.to(device))


@torch.no_grad()
def greedy(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    *,
    canonical: bool = True,
    constraints: RowLimits | None = None,
    first: First = FastStepping.first,
) -> Found:
    """The parses found by taking the best boundary and then the best label at each step.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        canonical: whether the rules of `transition.canonical` hold; the paper has none
        constraints: what parses have to obey, in rows of which anything is asked
        first: which stepping
    """
    rows, width = boundaries.shape[:2]
    steps = 2 * width - 3 if width > 1 else 0  # 2n - 1
    made = lengths.new_zeros(2, steps, rows)
    each = boundaries.new_zeros(steps, rows)
    counts = lengths.new_zeros(rows)
    active = torch.arange(rows, device=lengths.device)
    rules = Rules(canonical, head.open_root, constraints)
    stepping = first(head, boundaries, lengths, rules)
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
    found = Found(
        made[0][:, None], made[1][:, None], counts[:, None], each.sum(1)[:, None], each[:, None]
    )
    if constraints is None:
        return found
    return _canonical(head, boundaries, lengths, found, rows=constraints.asked, first=first)


@torch.no_grad()
def beam(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    *,
    beams: int,
    canonical: bool = True,
    constraints: RowLimits | None = None,
    first: First = FastStepping.first,
) -> Found:
    """The parses found by keeping the best few at each step, over boundaries and labels.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        beams: how many are kept; as many are returned
        canonical: whether the rules of `transition.canonical` hold; the paper has none
        constraints: what parses have to obey, in rows of which anything is asked
        first: which stepping
    """
    rows, width = boundaries.shape[:2]
    device = lengths.device
    labels = len(head.label_vectors)
    row = torch.arange(rows, device=device).repeat_interleave(beams)
    rules = Rules(canonical, head.open_root, constraints)
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
    found = Found(made[0], made[1], counts, scores, step_scores)
    if constraints is None:
        return found
    return _canonical(head, boundaries, lengths, found, rows=constraints.asked, first=first)


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


def canonical_steps(steps: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The steps of the oracle to the same parse: boundaries and numbers of labels.

    >>> canonical_steps([(1, 0), (2, 0), (0, 5)])  # two fillers side by side
    ((2, 5),)
    """
    spans = replay(Pointing(boundary, str(label) if label else None) for boundary, label in steps)
    labelled = [span for span in spans[:-1] if span.label is not None]
    oracle = pointings([*labelled, spans[-1]])  # the whole sentence comes last, label or not
    return tuple((boundary, int(label or FILLER)) for boundary, label in oracle)


def _canonical(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    found: Found,
    *,
    rows: Tensor,
    first: First,
) -> Found:
    """What was found, in some rows by canonical steps and best first by their scores.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: (rows,)
        found: by any steps
        rows: in which rows, (rows,)
        first: which stepping
    """
    parses = _parses(found, rows)
    steps = Steps.of([steps for _, steps in parses]).to(lengths.device)
    row = torch.tensor([number for number, _ in parses], device=lengths.device)
    each = score(head, boundaries, lengths, steps, row=row, first=first)
    log_probs = each.sum(1)
    # Best first within each row: a stable sort by row of what is sorted by score.
    order = log_probs.argsort(descending=True)
    order = order[row[order].argsort(stable=True)]
    row = row[order]
    rank = torch.arange(len(row), device=row.device) - torch.searchsorted(row, row)
    made = Found(*(getattr(found, name).clone() for name in found.__dataclass_fields__))
    for values in (made.boundaries, made.labels, made.steps, made.step_log_probs):
        values[rows] = 0
    # Where there is no further parse, its steps still have to sum up to -inf.
    made.log_probs[rows], made.step_log_probs[rows, :, :1] = MINUS, MINUS
    longest = each.shape[1]
    made.boundaries[row, rank, :longest] = steps.boundaries[order]
    made.labels[row, rank, :longest] = steps.labels[order]
    made.steps[row, rank] = steps.counts[order]
    made.step_log_probs[row, rank, :longest] = each[order]
    made.log_probs[row, rank] = log_probs[order]
    return made


def _parses(found: Found, rows: Tensor) -> list[tuple[int, tuple[tuple[int, int], ...]]]:
    """Each parse that was found in some rows once, by its row and its canonical steps."""
    parses: dict[tuple[int, tuple[tuple[int, int], ...]], None] = {}
    columns = (found.boundaries, found.labels, found.steps, found.log_probs)
    ways = zip(*(column[rows].tolist() for column in columns), strict=True)
    for number, kept in zip(rows.nonzero()[:, 0].tolist(), ways, strict=True):
        for points, labels, count, log_prob in zip(*kept, strict=True):
            if log_prob > MINUS:
                steps = zip(points[:count], labels[:count], strict=True)
                parses[number, canonical_steps(steps)] = None
    return list(parses)
