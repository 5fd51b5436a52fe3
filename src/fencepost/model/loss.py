"""What training makes small (section 2.3, "Training objective")."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from fencepost.batching.batches import StepTensors
from fencepost.batching.vocabulary import FILLER
from fencepost.model.configurations import Configurations
from fencepost.model.head import PointingHead

Over = Literal["all", "candidates", "canonical"]


def pointing_loss(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    gold: StepTensors,
    *,
    over: Over = "all",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The loss of a head, summed over the steps of its rows: pointing plus labelling.

    Args:
        head: whose scores are trained.
        boundaries: (rows, n + 1, width), of the rows that have the layer
        lengths: in words, (rows,)
        gold: their steps
        over: what scores are normalised over: `all` boundaries, the paper's way; `candidates`, its
            ablation (section 5); or what the `canonical` rules allow, boundaries and labels, so
            that the loss is minus the log-probability that search gives to the gold parse
        label_smoothing: share of the target that all labels get; none if some are not allowed
    """
    points, labels = head(boundaries, gold.starts, gold.ends, gold.labels)
    width = points.shape[-1]
    if over == "all":
        allowed = (torch.arange(width, device=points.device) <= lengths[:, None])[:, None]
    else:
        canonical = over == "canonical"
        allowed, fillers = allowed_along(
            gold, lengths, width, canonical=canonical, open_root=head.open_root
        )
        is_filler = torch.arange(labels.shape[-1], device=labels.device) == FILLER
        labels = labels.masked_fill(is_filler & ~fillers[..., None], float("-inf"))
    points = points.masked_fill(~allowed, float("-inf"))
    each = functional.cross_entropy(
        points.transpose(1, 2), gold.boundaries, reduction="none"
    ) + functional.cross_entropy(
        labels.transpose(1, 2), gold.labels, reduction="none", label_smoothing=label_smoothing
    )
    each = each.masked_fill(~gold.mask, 0.0)  # padded steps may have any score, even none
    return (each.sum(1) * gold.weights).sum()


def allowed_along(
    gold: StepTensors,
    lengths: Tensor,
    boundaries: int,
    *,
    canonical: bool = False,
    open_root: bool = False,
) -> tuple[Tensor, Tensor]:
    """What is allowed before each gold step.

    Args:
        gold: the steps
        lengths: in words, (rows,)
        boundaries: how many there are with padding
        canonical: whether the rules of `transition.canonical` hold
        open_root: whether the whole sentence may be a filler

    Returns:
        Which boundaries may be pointed to, (rows, steps, boundaries), and whether the gold span may
        be a filler, (rows, steps).
    """
    configurations = Configurations.first(lengths, boundaries)
    candidates, fillers = [], []
    for step in range(gold.boundaries.shape[1]):
        here = gold.mask[:, step]
        # A row that has ended points to 0 and stays; something has to be allowed in it.
        target = gold.boundaries[:, step].where(here, torch.zeros_like(lengths))
        if canonical:
            found = configurations.canonical_candidates()
            may = configurations.may_be_filler(target[:, None], open_root=open_root)[:, 0]
            fillers.append(may | ~here)
        else:
            found = configurations.candidates()
            fillers.append(torch.ones_like(here))
        candidates.append(found | ~here[:, None])
        configurations = configurations.point(target, filler=gold.labels[:, step] == FILLER)
    return torch.stack(candidates, dim=1), torch.stack(fillers, dim=1)
