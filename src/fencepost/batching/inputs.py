"""Inputs of encoders: numbered words and characters, or the pieces of a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from fencepost.batching.arrays import Ints
from fencepost.batching.batches import padded
from fencepost.batching.vocabulary import BEGIN, END, UNKNOWN, Vocabulary

MOST_CHARACTERS = 40  # of a word; what is longer is read from both ends


Array = TypeVar("Array")  # of numpy; on its way through an encoder, of the library that this uses
Other = TypeVar("Other")


class Inputs(Protocol):
    """A batch of sentences as some encoder reads them."""

    @property
    def lengths(self) -> Ints:
        """Of the sentences in words, without sentinels: (batch,)."""
        ...


Reader = Callable[[Sequence[Sequence[str]]], Inputs]  # from sentences to what an encoder reads


@dataclass(frozen=True, slots=True)
class WordInputs(Generic[Array]):
    """Sentences as words and characters, with a sentinel before and after each.

    Each different word of the batch is spelled once.
    """

    words: Array  # (batch, n + 2)
    static: Array  # (batch, n + 2): which static vectors; of the unknown if there are none
    spelled: Array  # (batch, n + 2): which of the spellings
    characters: Array  # (spellings, characters)
    spelling_lengths: Ints  # (spellings,)
    lengths: Ints  # (batch,): of the sentences in words, without the sentinels

    def converted(self, convert: Callable[[Array], Other]) -> WordInputs[Other]:
        """The same in arrays of another library; lengths stay as they are."""
        return WordInputs(
            convert(self.words),
            convert(self.static),
            convert(self.spelled),
            convert(self.characters),
            self.spelling_lengths,
            self.lengths,
        )


def word_inputs(
    sentences: Sequence[Sequence[str]],
    *,
    words: Vocabulary,
    characters: Vocabulary,
    static: Vocabulary | None = None,
) -> WordInputs[Ints]:
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
        np.array([len(row) for row in rows], dtype=np.intp),
        np.array([len(sentence) for sentence in sentences], dtype=np.intp),
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
