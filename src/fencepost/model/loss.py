"""The training objective (section 2.3)."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from fencepost.batching.arrays import Bools, Ints
from fencepost.batching.steps import Steps
from fencepost.batching.vocabulary import FILLER
from fencepost.decoding.configurations import Configurations
from fencepost.model.head import PointingHead

Over = Literal["all", "candidates", "canonical"]


def pointing_loss(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    gold: Steps,
    *,
    over: Over = "all",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The loss of each row, summed over its steps: pointing plus labelling.

    Args:
        head: whose scores are trained.
        boundaries: (rows, n + 1, width), of the rows that have the layer
        lengths: in words, (rows,)
        gold: their steps
        over: the boundaries to normalise over: `all`, as in the paper; `candidates`, its ablation
            (section 5); or those that the `canonical` rules allow, and labels likewise, so that the
            loss is minus the log-probability that search gives to the gold parse
        label_smoothing: share of the target that all labels get; none if some are not allowed

    Returns:
        (rows,)
    """
    return steps_loss(
        head, boundaries, lengths, gold, gold, over=over, label_smoothing=label_smoothing
    )


def steps_loss(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    path: Steps,
    gold: Steps,
    *,
    over: Over,
    label_smoothing: float,
) -> Tensor:
    """The loss of gold steps at each configuration along a path, which may leave the gold one.

    The decoder reads the spans of the path. Labels are learned for the spans of the gold steps.

    Args:
        head: whose scores are trained.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
        path: the steps that are taken
        gold: the steps to learn in their places
        over: the boundaries to normalise over
        label_smoothing: share of the target that all labels get

    Returns:
        (rows,)
    """
    device = boundaries.device

    def on_device(values: Ints | Bools) -> Tensor:
        return torch.from_numpy(values).to(device)

    states = head.states(
        boundaries, on_device(path.starts), on_device(path.ends), on_device(path.labels)
    )
    points = head.pointing_scores(head.sides(boundaries), states)
    # Gold steps begin at the cursors of the path, not where earlier gold steps would have led.
    starts = np.minimum(path.cursors, gold.boundaries)
    ends = np.maximum(path.cursors, gold.boundaries)
    labels = head.label_scores(boundaries, states, on_device(starts), on_device(ends))
    width = points.shape[-1]
    if over == "all":
        allowed = (torch.arange(width, device=device) <= lengths[:, None])[:, None]
    else:
        candidates, fillers = allowed_along(
            path,
            lengths.cpu().numpy(),
            width,
            canonical=over == "canonical",
            open_root=head.open_root,
        )
        allowed = on_device(candidates)
        is_filler = torch.arange(labels.shape[-1], device=device) == FILLER
        labels = labels.masked_fill(is_filler & ~on_device(fillers)[..., None], float("-inf"))
    points = points.masked_fill(~allowed, float("-inf"))
    each = functional.cross_entropy(
        points.transpose(1, 2), on_device(gold.boundaries), reduction="none"
    ) + functional.cross_entropy(
        labels.transpose(1, 2),
        on_device(gold.labels),
        reduction="none",
        label_smoothing=label_smoothing,
    )
    # Padded steps may have any score, even none.
    return each.masked_fill(~on_device(gold.mask), 0.0).sum(1)


def allowed_along(
    path: Steps, lengths: Ints, boundaries: int, *, canonical: bool = False, open_root: bool = False
) -> tuple[Bools, Bools]:
    """What is allowed before each step of a path.

    Args:
        path: the steps
        lengths: in words, (rows,)
        boundaries: how many there are with padding
        canonical: whether the rules of `transition.canonical` hold
        open_root: whether the whole sentence may be a filler

    Returns:
        Which boundaries may be pointed to, (rows, steps, boundaries), and whether the span of the
        step may be a filler, (rows, steps). In padding, everything is allowed.
    """
    where = Configurations.first(lengths, boundaries)
    candidates = np.ones((*path.boundaries.shape, boundaries), dtype=np.bool_)
    fillers = np.ones(path.boundaries.shape, dtype=np.bool_)
    for step, here in enumerate(path.mask.T):
        boundary = path.boundaries[:, step]  # a row that has ended points to 0 and stays
        if canonical:
            candidates[here, step] = where.canonical_candidates()[here]
            fillers[here, step] = where.may_be_filler(boundary, open_root=open_root)[here]
        else:
            candidates[here, step] = where.candidates()[here]
        where = where.point(boundary, path.labels[:, step])
    return candidates, fillers
