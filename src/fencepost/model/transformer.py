"""A transformer as encoder: vectors of pieces in, vectors of words out (2.3, "Encoder")."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor, nn

from fencepost.batching.arrays import Ints
from fencepost.batching.pieces import CASES, PieceInputs
from fencepost.errors import ConfigError
from fencepost.model.encoder import Encoder, on_device

if TYPE_CHECKING:
    from transformers import PreTrainedModel


# The size of a batch of windows: small enough for a processor's cache, and for a very long
# sentence to fit into the memory of other devices.
MOST_PIECES, MOST_PIECES_ELSEWHERE = 1024, 32_768


class LayerMix(nn.Module):
    """A learned mix of layers: a scale times their softmax-weighted mean."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """(layers, windows, pieces, width) to (windows, pieces, width)."""
        return self.scale * torch.einsum("l,l...->...", self.weights.softmax(0), layers)


class TransformerEncoder(Encoder):
    """A transformer; the inputs pick the pieces whose vectors represent a word.

    Args:
        transformer: the transformer.
        layers: the number of last layers to mix; 1: only the last layer.
        case: whether to add an embedding of capitalisation to the pieces.
        piece_dropout: share of pieces whose embeddings are zeroed in training; only their positions
            remain.
        frozen: whether its weights are excluded from training.
    """

    def __init__(
        self,
        transformer: PreTrainedModel,
        *,
        layers: int = 1,
        case: bool = False,
        piece_dropout: float = 0.0,
        frozen: bool = False,
    ) -> None:
        super().__init__()
        depth = transformer.config.num_hidden_layers
        if layers > depth:
            raise ConfigError(f"network.encoder.layers: {layers} of {depth} cannot be mixed")
        self.transformer = transformer
        self.mix = LayerMix(layers) if layers > 1 else None
        self.layers = layers
        self.piece_dropout = piece_dropout
        self.frozen = frozen
        self.width = int(transformer.config.hidden_size)
        self.cases: nn.Embedding | None = None
        if case:
            pieces = transformer.get_input_embeddings()
            assert isinstance(pieces, nn.Embedding)
            self.cases = nn.Embedding(CASES, pieces.embedding_dim)
            nn.init.zeros_(self.cases.weight)  # the pretrained behaviour at first
        if frozen:
            transformer.requires_grad_(False)
            transformer.eval()

    def pretrained_layers(self) -> list[list[nn.Parameter]]:
        """The layers of the transformer, from the last one down to the embeddings."""
        depth: int = self.transformer.config.num_hidden_layers
        layers: list[list[nn.Parameter]] = [[] for _ in range(depth + 1)]
        for name, parameter in self.transformer.named_parameters():
            number = re.search(r"\.(\d+)\.", name)
            above = 0 if "embed" in name else depth
            layer = min(int(number[1]) + 1, depth) if number else above
            layers[depth - layer].append(parameter)
        return layers

    def train(self, mode: bool = True) -> Self:
        """Switch dropout on or off; in a frozen transformer it stays off."""
        super().train(mode)
        if self.frozen:
            self.transformer.eval()
        return self

    def forward(self, arrays: PieceInputs[Ints]) -> Tensor:
        """The vectors of words, sentinels included: (batch, n + 2, width). Padding is zero."""
        device = next(self.transformer.parameters()).device
        inputs = arrays.converted(partial(on_device, device=device))
        # Sentences of equal length in words may differ by half in pieces: sorting windows by pieces
        # keeps padding small.
        counts = inputs.mask.sum(1)
        most = MOST_PIECES if counts.device.type == "cpu" else MOST_PIECES_ELSEWHERE
        batch_size = max(1, most // inputs.pieces.shape[1])
        vectors: Tensor | None = None
        for windows in counts.argsort(stable=True).split(batch_size):
            longest = int(counts[windows[-1]])
            states = self._states(inputs, windows, longest)
            if vectors is None:
                vectors = states.new_zeros(*inputs.pieces.shape, self.width)
            vectors[windows, :longest] = states
        assert vectors is not None
        picked = vectors.flatten(0, 1)[inputs.picked] * inputs.shares[:, None]
        rows, longest = len(inputs.lengths), int(inputs.lengths.max()) + 2
        words = picked.new_zeros(rows * longest, self.width).index_add(0, inputs.words, picked)
        return words.view(rows, longest, self.width)

    def _pieces(
        self, inputs: PieceInputs[Tensor], windows: Tensor, longest: int
    ) -> dict[str, Tensor]:
        """The ids of pieces, or their embeddings if these are changed."""
        drops = self.training and self.piece_dropout > 0
        pieces = inputs.pieces[windows, :longest]
        if self.cases is None and not drops:
            return {"input_ids": pieces}
        vectors = self.transformer.get_input_embeddings()(pieces)
        if drops:
            vectors = vectors * torch.empty_like(vectors[..., :1]).bernoulli_(
                1 - self.piece_dropout
            )
        if self.cases is not None:
            vectors = vectors + self.cases(inputs.cases[windows, :longest])
        return {"inputs_embeds": vectors}

    def _states(self, inputs: PieceInputs[Tensor], windows: Tensor, longest: int) -> Tensor:
        """The states of the first pieces of windows: (windows, longest, width)."""
        needs_gradients = not self.frozen or self.cases is not None
        with torch.set_grad_enabled(torch.is_grad_enabled() and needs_gradients):
            output = self.transformer(
                **self._pieces(inputs, windows, longest),
                attention_mask=inputs.mask[windows, :longest],
                output_hidden_states=self.mix is not None,
            )
        if self.mix is None:
            return output.last_hidden_state  # type: ignore[no-any-return]
        lower = output.hidden_states[-self.layers : -1]
        return self.mix(torch.stack((*lower, output.last_hidden_state)))  # type: ignore[no-any-return]
