"""What training makes small (section 2.3, "Training objective")."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from fencepost.batching.batches import StepTensors
from fencepost.model.configurations import Configurations
from fencepost.model.head import PointingHead


def pointing_loss(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    gold: StepTensors,
    *,
    over_candidates: bool = False,
    label_smoothing: float = 0.0,
) -> Tensor:
    """The loss of a head, summed over the steps of its rows: pointing plus labelling.

    Args:
        head: whose scores are trained.
        boundaries: (rows, n + 1, width), of the rows that have the layer
        lengths: in words, (rows,)
        gold: their steps
        over_candidates: normalise pointing over the candidates instead of all boundaries, the
            paper's ablation (section 5)
        label_smoothing: share of the target that all labels get
    """
    points, labels = head(boundaries, gold.starts, gold.ends, gold.labels)
    if over_candidates:
        allowed = candidates_along(gold, lengths, points.shape[-1])
    else:
        allowed = (torch.arange(points.shape[-1], device=points.device) <= lengths[:, None])[
            :, None
        ]
    points = points.masked_fill(~allowed, float("-inf"))
    each = functional.cross_entropy(
        points.transpose(1, 2), gold.boundaries, reduction="none"
    ) + functional.cross_entropy(
        labels.transpose(1, 2), gold.labels, reduction="none", label_smoothing=label_smoothing
    )
    each = each.masked_fill(~gold.mask, 0.0)  # padded steps may have any score, even none
    return (each.sum(1) * gold.weights).sum()


def candidates_along(gold: StepTensors, lengths: Tensor, boundaries: int) -> Tensor:
    """The candidates before each gold step: (rows, steps, boundaries)."""
    configurations = Configurations.first(lengths, boundaries)
    found = []
    for step in range(gold.boundaries.shape[1]):
        here = gold.mask[:, step]
        allowed = configurations.candidates()
        # A row that has ended points to 0 and stays; something has to be allowed in it.
        found.append(allowed | ~here[:, None])
        target = gold.boundaries[:, step].where(here, torch.zeros_like(lengths))
        configurations = configurations.point(target, filler=gold.labels[:, step] == 0)
    return torch.stack(found, dim=1)
