"""Our way, trained as it searches: normalised over what the canonical rules allow."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from experiments.systems.pointing import Pointing
from fencepost.batching.batches import StepTensors, step_tensors
from fencepost.batching.examples import Example
from fencepost.batching.inputs import Inputs
from fencepost.batching.vocabulary import FILLER
from fencepost.model.configurations import Configurations
from fencepost.model.head import PointingHead
from fencepost.model.network import Network, device_of
from fencepost.training.loop import Recipe


class Canonical(Pointing):
    """Candidates and labels that the canonical rules forbid take no part in the loss."""

    def losses(
        self, network: Network, batch: Sequence[Example], inputs: Inputs, recipe: Recipe
    ) -> dict[str, Tensor]:
        """The negative log-probability of the gold parse, as `Parser.score` gives it."""
        device = device_of(network)
        inputs = inputs.to(device)
        boundaries = network.boundaries(network.states(inputs))
        lengths = inputs.lengths.to(device)
        losses: dict[str, Tensor] = {}
        for name, head in network.named_heads():
            gold = step_tensors(batch, name)
            if gold is not None:
                gold = gold.to(device)
                rows = gold.rows
                losses[name] = canonical_loss(head, boundaries[rows], lengths[rows], gold)
        return losses


def canonical_loss(
    head: PointingHead, boundaries: Tensor, lengths: Tensor, gold: StepTensors
) -> Tensor:
    """The loss of a head, summed over the steps of its rows.

    Args:
        head: whose scores are trained.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
        gold: their steps
    """
    points, labels = head(boundaries, gold.starts, gold.ends, gold.labels)
    candidates, fillers = allowed_along(
        gold, lengths, boundaries=points.shape[-1], open_root=head.open_root
    )
    points = points.masked_fill(~candidates, float("-inf"))
    is_filler = torch.arange(labels.shape[-1], device=labels.device) == FILLER
    labels = labels.masked_fill(is_filler & ~fillers[..., None], float("-inf"))
    each = functional.cross_entropy(
        points.transpose(1, 2), gold.boundaries, reduction="none"
    ) + functional.cross_entropy(labels.transpose(1, 2), gold.labels, reduction="none")
    each = each.masked_fill(~gold.mask, 0.0)
    return (each.sum(1) * gold.weights).sum()


def allowed_along(
    gold: StepTensors, lengths: Tensor, *, boundaries: int, open_root: bool
) -> tuple[Tensor, Tensor]:
    """What the rules allow before each gold step.

    Args:
        gold: the steps
        lengths: in words, (rows,)
        boundaries: how many there are with padding
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
        candidates.append(configurations.canonical_candidates() | ~here[:, None])
        may = configurations.may_be_filler(target[:, None], open_root=open_root)[:, 0]
        fillers.append(may | ~here)
        configurations = configurations.point(target, filler=gold.labels[:, step] == FILLER)
    return torch.stack(candidates, dim=1), torch.stack(fillers, dim=1)
