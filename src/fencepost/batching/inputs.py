"""What an encoder reads: numbered words and characters, or the pieces of a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import torch
from torch import Tensor

from fencepost.batching.batches import padded
from fencepost.batching.vocabulary import BEGIN, END, UNKNOWN, Vocabulary

MOST_CHARACTERS = 40  # of a word; what is longer is read from both ends


class Inputs(Protocol):
    """A batch of sentences as some encoder reads them."""

    @property
    def lengths(self) -> Tensor:
        """Of the sentences in words, without sentinels: (batch,), on the CPU."""
        ...

    def to(self, device: torch.device) -> Self:
        """The same on a device."""
        ...


Reader = Callable[[Sequence[Sequence[str]]], Inputs]  # from sentences to what an encoder reads


@dataclass(frozen=True, slots=True)
class WordInputs:
    """Sentences as words and characters, with a sentinel before and after each.

    Each different word of the batch is spelled once.
    """

    words: Tensor  # (batch, n + 2)
    static: Tensor  # (batch, n + 2): which static vectors; of the unknown if there are none
    spelled: Tensor  # (batch, n + 2): which of the spellings
    characters: Tensor  # (spellings, characters)
    spelling_lengths: Tensor  # (spellings,)
    lengths: Tensor  # (batch,): of the sentences in words, without the sentinels

    def to(self, device: torch.device) -> Self:
        """The same on a device; lengths stay, since packing wants them on the CPU."""
        return type(self)(
            self.words.to(device),
            self.static.to(device),
            self.spelled.to(device),
            self.characters.to(device),
            self.spelling_lengths,
            self.lengths,
        )


def word_inputs(
    sentences: Sequence[Sequence[str]],
    *,
    words: Vocabulary,
    characters: Vocabulary,
    static: Vocabulary | None = None,
) -> WordInputs:
    """Sentences as an encoder of words and characters reads them.

    Args:
        sentences: with their words.
        words: that have vectors of their own.
        characters: that have.
        static: words that have a static vector, if there are any.
    """
    spellings: dict[str, int] = {}
    begin, end = len(spellings), 1
    numbers = [[BEGIN, *map(words.number, sentence), END] for sentence in sentences]
    spelled = [
        [begin, *(spellings.setdefault(word, len(spellings) + 2) for word in sentence), end]
        for sentence in sentences
    ]
    rows = [[BEGIN], [END], *(_spell(word, characters) for word in spellings)]
    known = static or Vocabulary((), ())
    return WordInputs(
        padded(numbers),
        padded(
            [BEGIN, *(_static_number(word, known) for word in sentence), END]
            for sentence in sentences
        ),
        padded(spelled),
        padded(rows),
        torch.tensor([len(row) for row in rows]),
        torch.tensor([len(sentence) for sentence in sentences]),
    )


def _static_number(word: str, static: Vocabulary) -> int:
    """The number of a word, or of the word in small letters if only that is known."""
    number = static.number(word)
    return number if number != UNKNOWN else static.number(word.lower())


def _spell(word: str, characters: Vocabulary) -> list[int]:
    if len(word) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        word = word[:half] + word[-half:]
    return [BEGIN, *map(characters.number, word), END]
