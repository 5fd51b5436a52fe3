"""Gradients of processes that train together, added up.

Not by `DistributedDataParallel`: its communication hangs on gradients as they are made, so it
waits forever for a process that has none, such as one whose share of a batch is empty. A sum
that stands for nothing would free it, but would give a gradient of zero to weights that have none
in this step, and Adam moves these. It also wraps one `forward`, where a loss here is any function
of the network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite

import torch
from torch import Tensor, nn

from fencepost.training.processes import Processes

BUCKET = 2**24  # numbers that are added up at a time


def add_up_gradients(
    parameters: Iterable[nn.Parameter],
    loss: float,
    processes: Processes,
    *,
    has_failed: bool = False,
) -> tuple[float, bool]:
    """Add up the gradients of all processes, and return their loss and whether one has failed.

    A parameter that has a gradient in some process has the sum in all; one that has none in any
    stays without. If the loss is not finite, or one has failed, gradients are left as they are.

    Args:
        parameters: in the same order in all processes.
        loss: of this process.
        processes: that train together.
        has_failed: whether this process could not make its gradients.
    """
    if processes.count == 1:
        return loss, has_failed
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    told = torch.tensor(
        [loss, has_failed, *(parameter.grad is not None for parameter in trained)],
        dtype=torch.float64,
        device=trained[0].device,
    )
    processes.add_up(told)
    loss, failed, *having = told.tolist()
    if isfinite(loss) and not failed:
        used = [one for one, number in zip(trained, having, strict=True) if number]
        for bucket in _buckets(used):
            total = torch.cat([_gradient(parameter).reshape(-1) for parameter in bucket])
            processes.add_up(total)
            parts = total.split([parameter.numel() for parameter in bucket])
            for parameter, part in zip(bucket, parts, strict=True):
                parameter.grad = part.view_as(parameter)
    return loss, bool(failed)


def _gradient(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def _buckets(parameters: Iterable[nn.Parameter]) -> Iterator[list[nn.Parameter]]:
    """Neighbours, so many that one message is worth its while and not too much at once."""
    bucket: list[nn.Parameter] = []
    numbers = 0
    for parameter in parameters:
        if bucket and numbers + parameter.numel() > BUCKET:
            yield bucket
            bucket, numbers = [], 0
        bucket.append(parameter)
        numbers += parameter.numel()
    if bucket:
        yield bucket
