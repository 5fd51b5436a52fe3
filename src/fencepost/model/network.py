"""One encoder and its heads."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from fencepost.batching.inputs import Inputs
from fencepost.model.boundaries import boundary_vectors, whole_boundary_vectors
from fencepost.model.encoder import Encoder
from fencepost.model.head import PointingHead
from fencepost.model.layers import SharedDropout, TwoWayLSTM


class Network(nn.Module):
    """An encoder, layers of a two-way LSTM, and one or more heads on the boundaries.

    Args:
        encoder: from sentences to vectors of words.
        lstm: reads these in both directions; it may have no layers.
        heads: pointing heads, by layer.
        tags: a linear head on the words, if there is one.
        dropout: before the tags.
        whole: whether boundaries take all of the words beside them, and not one half of each.
    """

    def __init__(
        self,
        *,
        encoder: Encoder,
        lstm: TwoWayLSTM,
        heads: Mapping[str, PointingHead],
        tags: nn.Linear | None,
        dropout: float,
        whole: bool = False,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.lstm = lstm
        self.heads = nn.ModuleDict(heads)
        self.tags = tags
        self.dropout = SharedDropout(dropout)
        self.whole = whole

    def states(self, inputs: Inputs) -> Tensor:
        """The vectors of words and sentinels: (batch, n + 2, width)."""
        return self.lstm(self.encoder(inputs), torch.from_numpy(inputs.lengths + 2))  # type: ignore[no-any-return]

    def boundaries(self, states: Tensor) -> Tensor:
        """The vectors of boundaries: (batch, n + 1, width)."""
        return whole_boundary_vectors(states) if self.whole else boundary_vectors(states)

    def tag_scores(self, states: Tensor) -> Tensor:
        """How well each tag fits each word: (batch, n, tags)."""
        assert self.tags is not None
        return self.tags(self.dropout(states[:, 1:-1]))  # type: ignore[no-any-return]

    def named_heads(self) -> list[tuple[str, PointingHead]]:
        """The pointing heads, by layer."""
        return [(name, self.head(name)) for name in self.heads]

    def head(self, name: str) -> PointingHead:
        """The pointing head of a layer."""
        head = self.heads[name]
        assert isinstance(head, PointingHead)
        return head


def device_of(network: nn.Module) -> torch.device:
    """Where the weights are."""
    return next(network.parameters()).device
