"""One encoder and its heads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import torch
from torch import Tensor, nn

from fencepost.batching.arrays import Floats
from fencepost.batching.inputs import Inputs
from fencepost.decoding.network import Read
from fencepost.decoding.stepper import Stepper
from fencepost.errors import ConfigError
from fencepost.model.boundaries import boundary_vectors, whole_boundary_vectors
from fencepost.model.encoder import Encoder
from fencepost.model.head import PointingHead
from fencepost.model.layers import SharedDropout, TwoWayLSTM
from fencepost.model.stepper import stepper_of


class Network(nn.Module):
    """An encoder, BiLSTM layers, and one or more heads on the boundaries.

    Args:
        encoder: encodes sentences as vectors of words.
        lstm: BiLSTM layers above the encoder; there may be none.
        heads: pointing heads, by layer.
        tags: a linear head on the words, if there is one.
        dropout: dropout before the tags.
        whole: whether boundaries take the whole states of both neighbours, and not half of each.
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
        self.is_rounded = False

    def states(self, inputs: Inputs) -> Tensor:
        """The vectors of words and sentinels: (batch, n + 2, width)."""
        words = self.encoder(inputs)
        if self.is_rounded:
            words = words.bfloat16()
        return self.lstm(words, torch.from_numpy(inputs.lengths + 2)).float()  # type: ignore[no-any-return]

    def boundaries(self, states: Tensor) -> Tensor:
        """The vectors of boundaries: (batch, n + 1, width)."""
        return whole_boundary_vectors(states) if self.whole else boundary_vectors(states)

    def tag_scores(self, states: Tensor) -> Tensor:
        """The score of each tag for each word: (batch, n, tags)."""
        assert self.tags is not None
        return self.tags(self.dropout(states[:, 1:-1]))  # type: ignore[no-any-return]

    @property
    def layers(self) -> Collection[str]:
        """The layers of its pointing heads."""
        return self.heads.keys()

    @torch.no_grad()
    def read(self, inputs: Inputs, *, tags: bool) -> Read:
        """Encode sentences, and score their tags if the network has a head for them."""
        states = self.states(inputs)
        scores = self.tag_scores(states).cpu().numpy() if tags and self.tags is not None else None
        return Read(self.boundaries(states).cpu().numpy(), scores)

    def stepper(self, layer: str) -> Stepper[Any]:
        """The stepper of a layer, which scores its steps."""
        return stepper_of(self.head(layer))

    def temperature(self, layer: str) -> float:
        """The temperature by which the stepper divides logits."""
        return self.head(layer).temperature

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Switch to evaluation mode within a block."""
        was_training = self.training
        self.eval()
        try:
            yield
        finally:
            self.train(was_training)

    def weights(self) -> Mapping[str, Floats]:
        """All weights by name, to save them.

        Raises:
            ConfigError: they are rounded.
        """
        self._refuse_if_rounded("saved")
        return {name: value.cpu().numpy() for name, value in self.state_dict().items()}

    def round(self) -> None:
        """Round the encoder to bf16, to parse with; heads stay in fp32."""
        self.encoder.bfloat16()
        self.lstm.bfloat16()
        self.is_rounded = True

    def train(self, mode: bool = True) -> Self:
        """Switch dropout on or off.

        Raises:
            ConfigError: the weights are rounded, so they cannot be trained.
        """
        if mode:
            self._refuse_if_rounded("trained")
        return super().train(mode)

    def _refuse_if_rounded(self, action: str) -> None:
        if self.is_rounded:
            raise ConfigError(
                f"precision: a network with bf16 cannot be {action}; load the model with fp32 for "
                "that"
            )

    def freeze(self, heads: Collection[str]) -> None:
        """Exclude the weights of heads from training."""
        for name in heads:
            part = self.tags if name == "tags" else self.heads[name]
            assert part is not None
            part.requires_grad_(False)

    def named_heads(self) -> list[tuple[str, PointingHead]]:
        """The pointing heads, by layer."""
        return [(name, self.head(name)) for name in self.heads]

    def head(self, name: str) -> PointingHead:
        """The pointing head of a layer."""
        head = self.heads[name]
        assert isinstance(head, PointingHead)
        return head


def device_of(network: nn.Module) -> torch.device:
    """The device of a network's weights."""
    return next(network.parameters()).device
