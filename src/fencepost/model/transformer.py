"""A transformer as encoder: vectors of pieces in, vectors of words out (2.3, "Encoder")."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor, nn

from fencepost.batching.pieces import PieceInputs
from fencepost.errors import ConfigError
from fencepost.model.encoder import Encoder

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class LayerMix(nn.Module):
    """A learned mix of layers: a scale times their mean, weighted by a softmax."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """(layers, windows, pieces, width) to (windows, pieces, width)."""
        return self.scale * torch.einsum("l,l...->...", self.weights.softmax(0), layers)


class TransformerEncoder(Encoder):
    """A transformer; each word has the vector of its last piece, or as the inputs say.

    Args:
        transformer: called with pieces and their mask, gives states of width `hidden_size`.
        layers: how many of its last layers are mixed; 1: the last alone.
        frozen: whether its weights stay as they are.
    """

    def __init__(
        self, transformer: PreTrainedModel, *, layers: int = 1, frozen: bool = False
    ) -> None:
        super().__init__()
        depth = transformer.config.num_hidden_layers
        if layers > depth:
            raise ConfigError(f"network.encoder.layers: {layers} of {depth} cannot be mixed")
        self.transformer = transformer
        self.mix = LayerMix(layers) if layers > 1 else None
        self.layers = layers
        self.frozen = frozen
        self.width = int(transformer.config.hidden_size)
        if frozen:
            transformer.requires_grad_(False)
            transformer.eval()

    def pretrained_parameters(self) -> Iterator[nn.Parameter]:
        """Those of the transformer; the mix of layers starts from nothing."""
        return self.transformer.parameters()

    def train(self, mode: bool = True) -> Self:
        """Switch dropout on or off; in a frozen transformer it stays off."""
        super().train(mode)
        if self.frozen:
            self.transformer.eval()
        return self

    def forward(self, inputs: PieceInputs) -> Tensor:
        """The vectors of words, sentinels included: (batch, n + 2, width). Padding is zero."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            read = self.transformer(
                input_ids=inputs.pieces,
                attention_mask=inputs.mask,
                output_hidden_states=self.mix is not None,
            )
        vectors: Tensor = read.last_hidden_state
        if self.mix is not None:
            lower = read.hidden_states[-self.layers : -1]
            vectors = self.mix(torch.stack((*lower, vectors)))
        picked = vectors.flatten(0, 1)[inputs.picked] * inputs.shares[:, None]
        rows, longest = len(inputs.lengths), int(inputs.lengths.max()) + 2
        words = picked.new_zeros(rows * longest, self.width).index_add(0, inputs.words, picked)
        return words.view(rows, longest, self.width)
