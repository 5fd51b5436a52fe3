"""From boundary vectors to parses: greedy, by chance, or with a beam.

Pointing is normalised over candidates and labelling over allowed labels. With canonical rules each
parse has one derivation, so the sum of the steps' log-probabilities is that of the parse.

With constraints, what was found comes back as its canonical steps, with the log-probabilities that
these have without constraints: those that `score` gives. Search itself may have gone another way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from fencepost.batching.vocabulary import FILLER
from fencepost.model.constraints import RowLimits
from fencepost.model.fast import FastStepping
from fencepost.model.following import score
from fencepost.model.found import Found, Steps, canonical_steps
from fencepost.model.head import PointingHead
from fencepost.model.single import best_steps
from fencepost.model.stepping import MINUS, First, Rules, Stepping

_SHARE = 3 / 4  # of the rows are still under way when the others are left behind
_SINGLES = 3  # as many rows are quicker one after the other
_FEW = 2  # times as many boundaries as beams are looked at first


class Choice(Protocol):
    """How a step is chosen among others."""

    def __call__(self, scores: Tensor, number: int, rows: Tensor, /) -> tuple[Tensor, Tensor]:
        """The log-probabilities of what is chosen in each row, and which that is.

        Args:
            scores: log-probabilities, (active rows, choices)
            number: how many choices a row has made before
            rows: which rows these are, (active rows,)
        """
        ...


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
    if constraints is None and len(boundaries) <= _SINGLES and first == FastStepping.first:
        return _one_by_one(head, boundaries, lengths, canonical=canonical)
    rules = Rules(canonical, head.open_root, constraints)
    found = _walk(first(head, boundaries, lengths, rules), boundaries, _best)
    if constraints is None:
        return found
    return _canonical(head, boundaries, lengths, found, rows=constraints.asked, first=first)


@torch.no_grad()
def sample(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    chances: Tensor,
    *,
    first: First = FastStepping.first,
) -> Found:
    """Parses drawn by their probability: each step by its own, given the steps before it.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,), at least 1
        chances: evenly spread between 0 and 1, without 1; two for each step of each parse that is
            drawn for a row: (rows, samples, 2 (2 n - 1))
        first: which stepping

    Returns:
        As many parses for each row, in the order in which they were drawn.
    """
    rows, samples, _ = chances.shape
    row = torch.arange(rows, device=lengths.device).repeat_interleave(samples)
    stepping = first(head, boundaries, lengths, Rules(True, head.open_root)).spread(row, samples)
    found = _walk(stepping, boundaries, _ByChance(chances.flatten(0, 1)))
    return Found(*(getattr(found, name).unflatten(0, (rows, -1))[:, :, 0] for name in found.names))


class Taken(NamedTuple):
    """A step as it is taken, with all that it was chosen from."""

    points: Tensor  # log-probabilities of boundaries, (n + 1,); -inf: no candidate
    boundary: int
    labels: Tensor  # log-probabilities of labels, (labels,); -inf: not allowed
    label: int


@torch.no_grad()
def stream(
    head: PointingHead,
    boundaries: Tensor,
    *,
    constraints: RowLimits | None = None,
    first: First = FastStepping.first,
) -> Iterator[Taken]:
    """The steps of greedy search in one sentence, one after the other.

    Args:
        head: which parses.
        boundaries: (n + 1, width)
        constraints: what the parse has to obey
        first: which stepping
    """
    lengths = torch.tensor([len(boundaries) - 1], device=boundaries.device)
    rules = Rules(True, head.open_root, constraints)
    stepping = first(head, boundaries[None], lengths, rules)
    while not bool(stepping.where.is_final):
        points = stepping.pointing()
        boundary = points.argmax(-1)
        labels = stepping.labelling(boundary[:, None])[:, 0]
        label = labels.argmax(-1)
        yield Taken(points[0], int(boundary), labels[0], int(label))
        stepping = stepping.point(boundary, label)


def _most(boundaries: Tensor) -> int:
    """The largest number of steps: 2 n - 1."""
    return max(2 * boundaries.shape[1] - 3, 0)


def _best(scores: Tensor, number: int, rows: Tensor) -> tuple[Tensor, Tensor]:
    best = scores.max(-1)
    return best.values, best.indices


@dataclass(frozen=True, slots=True)
class _ByChance:
    """Chooses each with its probability."""

    chances: Tensor  # (rows, choices)

    def __call__(self, scores: Tensor, number: int, rows: Tensor) -> tuple[Tensor, Tensor]:
        # In 64 bits, a chance of 32 bits that is below 1 stays below the sum.
        reached = scores.double().exp().cumsum(-1)
        aim = self.chances[rows, number, None] * reached[:, -1:]
        chosen = (reached <= aim).sum(-1, keepdim=True)
        return scores.gather(-1, chosen)[:, 0], chosen[:, 0]


def _walk(stepping: Stepping, boundaries: Tensor, choose: Choice) -> Found:
    """One parse for each row, by steps that are chosen one after the other.

    Args:
        stepping: at the beginning
        boundaries: the vectors of all sentences, (sentences, n + 1, width)
        choose: a boundary, and then a label
    """
    lengths = stepping.where.lengths
    rows, most = len(lengths), _most(boundaries)
    made = lengths.new_zeros(2, rows, most)
    costs = boundaries.new_zeros(rows, most)
    counts = lengths.new_zeros(rows)
    active = torch.arange(rows, device=lengths.device)
    going: Tensor | None = None  # which rows are under way; None: all
    for number in range(most):
        cost, boundary = choose(stepping.pointing(), 2 * number, active)
        label_scores = stepping.labelling(boundary[:, None])[:, 0]
        label_cost, label = choose(label_scores, 2 * number + 1, active)
        cost = cost + label_cost
        if going is not None:
            # A row that is finished points to 0, which changes nothing, until it is left behind.
            boundary, label = boundary * going, label * going
            cost = cost.masked_fill(~going, 0.0)
        made[:, active, number] = torch.stack((boundary, label))
        costs[active, number] = cost
        counts[active] += 1 if going is None else going
        stepping = stepping.point(boundary, label)
        going = ~stepping.where.is_final
        left = int(going.sum())
        if left == 0:
            break
        if left < _SHARE * len(going):
            index = going.nonzero()[:, 0]
            active, stepping, going = active[index], stepping.rows(index), None
        elif left == len(going):
            going = None
    return Found(
        made[0][:, None], made[1][:, None], counts[:, None], costs.sum(1)[:, None], costs[:, None]
    )


def _one_by_one(
    head: PointingHead, boundaries: Tensor, lengths: Tensor, *, canonical: bool
) -> Found:
    """What greedy search finds in each sentence by itself."""
    parses = [
        best_steps(head, vectors[: n + 1], canonical=canonical)
        for vectors, n in zip(boundaries, lengths.tolist(), strict=True)
    ]
    most = _most(boundaries)
    steps = Steps.of([[(step.boundary, step.label) for step in steps] for steps in parses], most)
    costs = boundaries.new_zeros(len(parses), most)
    for row, taken in enumerate(parses):
        costs[row, : len(taken)] = costs.new_tensor([step.log_prob for step in taken])
    found = (steps.boundaries, steps.labels, steps.counts, costs.sum(1), costs)
    return Found(*(column[:, None].to(boundaries.device) for column in found))


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
        beams: how many are kept; as many are returned. One is greedy search
        canonical: whether the rules of `transition.canonical` hold; the paper has none
        constraints: what parses have to obey, in rows of which anything is asked
        first: which stepping
    """
    if beams == 1:
        return greedy(
            head, boundaries, lengths, canonical=canonical, constraints=constraints, first=first
        )
    rows, most = len(boundaries), _most(boundaries)
    active = torch.arange(rows, device=lengths.device)
    rules = Rules(canonical, head.open_root, constraints)
    row = active.repeat_interleave(beams)
    stepping = first(head, boundaries, lengths, rules).spread(row, beams)
    made = lengths.new_zeros(2, rows, beams, most)
    # All beams of a row are the same at first: only one counts.
    scores = boundaries.new_full((rows, beams), MINUS)
    scores[:, 0] = 0.0
    costs = boundaries.new_zeros(rows, beams, most)
    kept = Found(made[0], made[1], lengths.new_zeros(rows, beams), scores, costs)
    found = kept.rows(active)
    for number in range(most):
        stepping, kept = _extend(stepping, kept, number)
        is_done = stepping.where.is_final.view(-1, beams) | (kept.log_probs == MINUS)
        going = ~is_done.all(1)
        left = int(going.sum())
        if left < _SHARE * len(active):
            found.put(active, kept)
            index = going.nonzero()[:, 0]
            active, kept, stepping = active[index], kept.rows(index), stepping.sentences(index)
        if left == 0:
            break
    found.put(active, kept)
    if constraints is None:
        return found
    return _canonical(head, boundaries, lengths, found, rows=constraints.asked, first=first)


def _extend(stepping: Stepping, kept: Found, number: int) -> tuple[Stepping, Found]:
    """The best parses that are one step longer.

    Labels are only looked at where they can matter: below the best few pairs of a parse and a
    boundary. A pair that is worse than the worst parse to be kept can lead to none of them, so if
    the last of these pairs is not, there have to be more.

    Args:
        stepping: where the parses stand
        kept: how they came there
        number: how many steps they have made
    """
    rows, beams, _ = kept.boundaries.shape
    # A beam that holds no parse stays where it is, like one that holds a finished one.
    is_done = stepping.where.is_final | (kept.log_probs.view(-1) == MINUS)
    # A finished parse goes on by pointing to 0 without a label, at no cost.
    points = stepping.pointing()
    points[is_done] = MINUS
    points[is_done, 0] = 0.0
    width = points.shape[1]
    pairs = (kept.log_probs.view(-1, 1) + points).view(rows, beams * width)
    offset = torch.arange(rows, device=points.device)[:, None] * beams
    few = _FEW * beams
    while True:
        few = min(few, pairs.shape[1])
        pair_scores, pair = pairs.topk(few)
        parent, boundary = (pair // width + offset).flatten(), (pair % width).flatten()
        labels = stepping.spread(parent, few).labelling(boundary[:, None])[:, 0]
        labels[is_done[parent]] = MINUS
        labels[is_done[parent], FILLER] = 0.0
        count = labels.shape[1]
        total = pair_scores[:, :, None] + labels.view(rows, few, count)
        scores, best = total.flatten(1).topk(beams)
        if few == pairs.shape[1] or not bool((pair_scores[:, -1] > scores[:, -1]).any()):
            break
        few *= 2
    chosen = (best // count + torch.arange(rows, device=best.device)[:, None] * few).flatten()
    label = (best % count).flatten()
    cost = labels[chosen, label]
    parent, boundary = parent[chosen], boundary[chosen]
    cost = (cost + points[parent, boundary]).view(rows, beams).masked_fill(scores == MINUS, MINUS)
    going = ~is_done[parent]
    boundary, label = boundary * going, label * going
    columns = (kept.boundaries, kept.labels, kept.steps, kept.step_log_probs)
    boundaries, numbers, counts, costs = (
        column.flatten(0, 1)[parent].unflatten(0, (rows, beams)) for column in columns
    )
    boundaries[:, :, number] = boundary.view(rows, beams)
    numbers[:, :, number] = label.view(rows, beams)
    costs[:, :, number] = cost
    longer = Found(boundaries, numbers, counts + going.view(rows, beams), scores, costs)
    return stepping.spread(parent, beams).point(boundary, label), longer


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
    made = Found(*(getattr(found, name).clone() for name in found.names))
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
