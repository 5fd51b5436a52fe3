"""Splitters of running text, by the name of a language that a model's settings name.

To add a language, write a module with its rules for words and sentences, and add its line below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from fencepost.errors import ConfigError
from fencepost.structure import Sentence
from fencepost.text.sentences import split_sentences
from fencepost.text.words import split_words

Offsets = tuple[int, int]


class Splitter(NamedTuple):
    """The rules of a language.

    >>> for sentence in SPLITTERS["english"].split("Dr. Who can't wait. It's 5 p.m."):
    ...     print(sentence.words)
    ('Dr.', 'Who', 'ca', "n't", 'wait', '.')
    ('It', "'s", '5', 'p.m.')
    """

    words: Callable[[str], Sequence[Offsets]]  # of a text
    sentences: Callable[[str, Sequence[Offsets]], Iterable[Sequence[Offsets]]]  # of its words

    def split(self, text: str) -> tuple[Sentence, ...]:
        """The sentences of a text. Each has the whole text, which its offsets slice."""
        parts = self.sentences(text, self.words(text))
        return tuple(_sentence(text, words, index) for index, words in enumerate(parts))

    def starts(self, text: str) -> list[int]:
        """The character offsets at which sentences start.

        >>> ENGLISH.starts("They spoke for approx. an hour. It rained.")
        [0, 32]
        """
        return [words[0][0] for words in self.sentences(text, self.words(text))]

    def sentence(self, text: str) -> Sentence:
        """A text as one sentence, split only into words."""
        return _sentence(text, self.words(text))


def _sentence(text: str, words: Sequence[Offsets], index: int | None = None) -> Sentence:
    return Sentence(
        tuple(text[start:end] for start, end in words), None, text, tuple(words), index=index
    )


ENGLISH = Splitter(split_words, split_sentences)
SPLITTERS = {"english": ENGLISH}


def splitter_of(name: str) -> Splitter:
    """The splitter of a language."""
    if name not in SPLITTERS:
        raise ConfigError(f"splitter: {name!r} is unknown; known: {', '.join(SPLITTERS)}")
    return SPLITTERS[name]
