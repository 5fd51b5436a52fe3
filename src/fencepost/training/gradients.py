"""The sum of the gradients of all processes.

`DistributedDataParallel` does not fit. It communicates as gradients are computed, so it waits
forever for a process without any, such as one whose share of a batch is empty. A dummy loss would
free it, but would give zero gradients to weights that have none in this step, and Adam moves
these. It also wraps one `forward`, where a loss here is any function of the network.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

import torch
from torch import Tensor, nn

from fencepost.batching.batches import in_groups
from fencepost.training.processes import Processes

BUCKET = 2**24  # numbers in a message


def sum_gradients(
    parameters: Iterable[nn.Parameter],
    loss: float,
    processes: Processes,
    *,
    has_failed: bool = False,
) -> tuple[float, bool]:
    """Sum the gradients of all processes; return the sum of losses, and whether a process failed.

    A parameter with a gradient in some process gets the sum in all; one without any stays without.
    If the loss is not finite, or a process failed, gradients do not change.

    Args:
        parameters: the parameters, in the same order in all processes.
        loss: the loss of this process.
        processes: the processes that train together.
        has_failed: whether this process could not compute its gradients.
    """
    if processes.count == 1:
        return loss, has_failed
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    summary = torch.tensor(
        [loss, has_failed, *(parameter.grad is not None for parameter in trained)],
        dtype=torch.float64,
        device=trained[0].device,
    )
    processes.all_reduce(summary)
    loss, failed, *counts = summary.tolist()
    if isfinite(loss) and not failed:
        used = [parameter for parameter, count in zip(trained, counts, strict=True) if count]
        for bucket in in_groups(used, nn.Parameter.numel, most=BUCKET):
            total = torch.cat([_gradient(parameter).reshape(-1) for parameter in bucket])
            processes.all_reduce(total)
            parts = total.split([parameter.numel() for parameter in bucket])
            for parameter, part in zip(bucket, parts, strict=True):
                parameter.grad = part.view_as(parameter)
    return loss, bool(failed)


def _gradient(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
