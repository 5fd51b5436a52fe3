"""From sentences to vectors of words (section 2.3, "Encoder")."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from fencepost.batching.arrays import Ints
from fencepost.batching.inputs import WordInputs
from fencepost.batching.vocabulary import PADDING, RESERVED, UNKNOWN


class Encoder(nn.Module):
    """From a batch of sentences to vectors of words, with a sentinel on each side.

    Called with its own kind of inputs, it returns (batch, n + 2, width).
    """

    width: int

    def pretrained_layers(self) -> list[list[nn.Parameter]]:
        """Those that are not learned from nothing, and so want a learning rate of their own.

        The layer that is nearest to the output comes first.
        """
        return []


def on_device(array: Ints, device: torch.device) -> Tensor:
    """An array as a tensor on a device."""
    return torch.from_numpy(array).to(device)


class WordEncoder(Encoder):
    """Words and characters learned from scratch: the paper's runs without BERT.

    Args:
        counts: how often each word of the vocabulary was seen.
        characters: how many characters there are, the reserved ones included.
        word_width: of word vectors.
        character_width: of character vectors.
        character_hidden: of the LSTM over characters, both directions together.
        static: how many words have a static vector, which is added to that of the word.
        unknown: a word seen c times is taken for unknown with probability unknown / (unknown + c)
            in training, so that the vector of the unknown learns something.
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
            lost = torch.rand_like(words, dtype=self.chances.dtype) < self.chances[words]
            words = words.masked_fill(lost, UNKNOWN)
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
        """Put in the static vectors: (static, word_width)."""
        assert self.static is not None
        self.static.weight[RESERVED:] = vectors
