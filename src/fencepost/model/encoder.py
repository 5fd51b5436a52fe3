"""Encoders: sentences in, vectors of words out (section 2.3, "Encoder")."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from fencepost.batching.arrays import Ints
from fencepost.batching.inputs import WordInputs
from fencepost.batching.vocabulary import PADDING, RESERVED, UNKNOWN


class Encoder(nn.Module):
    """Encodes a batch of sentences as vectors of words, with a sentinel on each side.

    `forward` takes the encoder's own kind of inputs and returns (batch, n + 2, width).
    """

    width: int

    def pretrained_layers(self) -> list[list[nn.Parameter]]:
        """The layers that have a learning rate of their own, from the last one down."""
        return []


def on_device(array: Ints, device: torch.device) -> Tensor:
    """Copy an array to a device."""
    return torch.from_numpy(array).to(device)


class WordEncoder(Encoder):
    """Word and character embeddings trained from scratch: the paper's runs without BERT.

    Args:
        counts: the count of each word of the vocabulary.
        characters: the number of characters, reserved ids included.
        word_width: size of word embeddings.
        character_width: size of character embeddings.
        character_hidden: size of the BiLSTM over characters, both directions together.
        static: the number of words with a static vector, which is added to their embedding.
        unknown: in training, a word with count c is replaced by the unknown word with probability
            unknown / (unknown + c), so that its embedding is trained.
    """

    chances: Tensor

    def __init__(
        self,
        *,
        counts: tuple[int, ...],
        characters: int,
        word_width: int,
        character_width: int,
        character_hidden: int,
        unknown: float,
        static: int = 0,
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(len(counts) + RESERVED, word_width, padding_idx=PADDING)
        self.static: nn.Embedding | None = None
        if static:
            self.static = nn.Embedding(static + RESERVED, word_width, padding_idx=PADDING)
            nn.init.zeros_(self.static.weight)
            self.static.requires_grad_(False)
        self.characters = nn.Embedding(characters, character_width, padding_idx=PADDING)
        self.spelling = nn.LSTM(
            character_width, character_hidden // 2, batch_first=True, bidirectional=True
        )
        chances = torch.tensor([0.0] * RESERVED + [unknown / (unknown + c) for c in counts])
        self.register_buffer("chances", chances, persistent=False)
        self.width = word_width + 2 * (character_hidden // 2)

    def forward(self, arrays: WordInputs[Ints]) -> Tensor:
        """The vectors of words, sentinels included: (batch, n + 2, width)."""
        inputs = arrays.converted(partial(on_device, device=self.words.weight.device))
        words = inputs.words
        if self.training:
            dropped = torch.rand_like(words, dtype=self.chances.dtype) < self.chances[words]
            words = words.masked_fill(dropped, UNKNOWN)
        vectors = self.words(words)
        if self.static is not None:
            vectors = vectors + self.static(inputs.static)
        packed = pack_padded_sequence(
            self.characters(inputs.characters),
            torch.from_numpy(inputs.spelling_lengths),
            batch_first=True,
            enforce_sorted=False,
        )
        _, (last, _) = self.spelling(packed)
        spellings = torch.cat((last[0], last[1]), dim=-1)  # (spellings, hidden)
        return torch.cat((vectors, spellings[inputs.spelled]), dim=-1)

    @torch.no_grad()
    def set_static(self, vectors: Tensor) -> None:
        """Set the static vectors: (static, word_width)."""
        assert self.static is not None
        self.static.weight[RESERVED:] = vectors
