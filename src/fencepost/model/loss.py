"""The training objective (section 2.3), and alternatives beyond the paper's."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from fencepost.batching.arrays import Bools, Ints
from fencepost.batching.steps import Steps
from fencepost.batching.vocabulary import FILLER
from fencepost.decoding.configurations import Configurations, along
from fencepost.decoding.rules import asked_before
from fencepost.model.grid import grid_loss
from fencepost.model.head import PointingHead, Where

Over = Literal["all", "candidates", "canonical"]


def pointing_loss(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    gold: Steps,
    *,
    path: Steps | None = None,
    over: Over = "all",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The loss of each row, summed over its steps: pointing plus labelling, plus all spans.

    Args:
        head: the head to train
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
        gold: the gold steps
        path: the steps to follow, if they differ from gold: the gold step of each configuration
            along the path is then the target, with the span that it would complete there
        over: the boundaries to normalise over: `all`, as in the paper; `candidates`, its ablation
            (section 5); or those that the `canonical` rules allow, and labels likewise, so that the
            loss is the negative log-probability that search gives to the gold parse
        label_smoothing: share of the target that is spread over all labels; 0 if `over` is
            `canonical`

    Returns:
        (rows,)
    """
    device, width = boundaries.device, boundaries.shape[1]
    taken = gold if path is None else path

    def on_device(values: Ints | Bools) -> Tensor:
        return torch.from_numpy(values).to(device)

    where = along(taken, lengths.cpu().numpy(), width, stack=head.has_context)
    places = Where.of(where, device)
    states = head.states(
        boundaries, on_device(taken.starts), on_device(taken.ends), on_device(taken.labels)
    )
    sentences = head.read(boundaries)
    points = head.pointing_scores(sentences, states, places)
    starts = np.minimum(where.cursor, gold.boundaries)
    ends = np.maximum(where.cursor, gold.boundaries)
    labels = head.label_scores(boundaries, states, on_device(starts), on_device(ends), places)
    target, mask = on_device(gold.boundaries), on_device(gold.mask)
    allowed, fillers = allowed_along(where, taken, over=over, open_root=head.open_root)
    if head.nearest_first:
        earlier, is_last = asked_before(where, allowed, gold.boundaries)
        score = points.gather(2, target[:, :, None])[:, :, 0]
        no = functional.softplus(points).masked_fill(~on_device(earlier), 0.0).sum(-1)
        pointing = no + functional.softplus(-score).masked_fill(on_device(is_last), 0.0)
    else:
        points = points.masked_fill(~on_device(allowed), float("-inf"))
        pointing = functional.cross_entropy(points.transpose(1, 2), target, reduction="none")
    number = torch.arange(labels.shape[-1], device=device)
    forbidden = (number == FILLER) & ~on_device(fillers)[..., None]
    if over == "canonical" and head.bare is not None:
        is_whole = on_device(where.is_whole(gold.boundaries) | ~gold.mask)
        forbidden |= (number == head.bare) & ~is_whole[..., None]
    labels = labels.masked_fill(forbidden, float("-inf"))
    labelling = functional.cross_entropy(
        labels.transpose(1, 2),
        on_device(gold.labels),
        reduction="none",
        label_smoothing=label_smoothing,
    )
    # Padded steps may have any loss, even nan.
    loss = (pointing + labelling).masked_fill(~mask, 0.0).sum(1)
    if sentences.spans is not None:
        loss = loss + grid_loss(sentences.spans, lengths, gold, open_root=head.open_root)
    return loss


def allowed_along(
    where: Configurations, path: Steps, *, over: Over, open_root: bool
) -> tuple[Bools, Bools]:
    """The choices to normalise over at each step of a path.

    Args:
        where: the configurations before the steps
        path: the steps
        over: the boundaries to normalise over
        open_root: whether the whole sentence may be a filler

    Returns:
        The allowed boundaries, (rows, steps, boundaries), and whether the span of the step may be
        a filler, (rows, steps). In padding, everything is allowed.
    """
    width, padding = where.rank.shape[-1], ~path.mask
    fillers = np.ones(padding.shape, dtype=np.bool_)
    if over == "all":
        allowed = np.arange(width) <= where.lengths[..., None]
    elif over == "candidates":
        allowed = where.candidates()
    else:
        allowed = where.canonical_candidates()
        fillers = where.may_be_filler(path.boundaries, open_root=open_root) | padding
    return allowed | padding[..., None], fillers
