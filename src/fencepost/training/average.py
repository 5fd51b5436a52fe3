"""A moving average of weights, which often scores better than the last weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


@dataclass(slots=True)
class Average:
    """An exponential moving average of a network's weights.

    Its decay rises to `decay` from low values, so that the random beginning is soon forgotten.
    """

    decay: float
    weights: dict[str, Tensor] = field(default_factory=dict)

    @torch.no_grad()
    def add(self, network: nn.Module, step: int) -> None:
        """Update the average with the network's weights after a step, counted from 0."""
        decay = min(self.decay, (1 + step) / (10 + step))
        for name, value in network.state_dict().items():
            if name not in self.weights:
                self.weights[name] = value.detach().clone()
            elif value.is_floating_point():
                self.weights[name].lerp_(value, 1 - decay)
            else:
                self.weights[name].copy_(value)


@contextmanager
def averaged(network: nn.Module, average: Average | None) -> Iterator[None]:
    """Give a network its averaged weights, if there are any, within a block."""
    if average is None or not average.weights:
        yield
        return
    weights = {name: value.detach().clone() for name, value in network.state_dict().items()}
    network.load_state_dict(average.weights)
    try:
        yield
    finally:
        network.load_state_dict(weights)
