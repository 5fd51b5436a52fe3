"""Inputs of encoders: ids of words and characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from fencepost.batching.arrays import Ints
from fencepost.batching.batches import padded
from fencepost.batching.vocabulary import BEGIN, END, UNKNOWN, Vocabulary

MOST_CHARACTERS = 40  # of a word; of a longer one, both ends are read


Array = TypeVar("Array")  # a numpy array, or a tensor once it is on its device
Other = TypeVar("Other")


class Inputs(Protocol):
    """A batch of sentences for an encoder."""

    @property
    def lengths(self) -> Ints:
        """Numbers of words, without sentinels: (batch,)."""


Reader = Callable[[Sequence[Sequence[str]]], Inputs]  # from the words of sentences


@dataclass(frozen=True, slots=True)
class WordInputs(Generic[Array]):
    """Ids of words and characters, with a sentinel before and after each sentence.

    The spelling of each distinct word is there once.
    """

    words: Array  # (batch, n + 2): word ids
    static: Array  # (batch, n + 2): ids of static vectors; the unknown word's if there are none
    spelled: Array  # (batch, n + 2): indices into the spellings
    characters: Array  # (spellings, characters): character ids
    spelling_lengths: Ints  # (spellings,)
    lengths: Ints  # (batch,): numbers of words, without the sentinels

    def converted(self, convert: Callable[[Array], Other]) -> WordInputs[Other]:
        """Convert all arrays but the lengths to another library."""
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
    """Build the inputs of an encoder of words and characters.

    Args:
        sentences: the words of each sentence.
        words: vocabulary of words.
        characters: vocabulary of characters.
        static: vocabulary of static vectors, if there are any.
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
    """The id of a word, or of its lower-case form if only that is known."""
    number = static.number(word)
    return number if number != UNKNOWN else static.number(word.lower())


def _spell(word: str, characters: Vocabulary) -> list[int]:
    if len(word) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        word = word[:half] + word[-half:]
    return [BEGIN, *map(characters.number, word), END]
