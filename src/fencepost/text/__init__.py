"""From running English text to sentences of words that know where they stand in it."""

from __future__ import annotations

from fencepost.structure import Sentence
from fencepost.text.sentences import split_sentences
from fencepost.text.words import split_words

__all__ = ["split_text", "split_words"]


def split_text(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text. Each keeps the whole text, and its offsets slice it.

    >>> for sentence in split_text("Dr. Who can't wait. It's 5 p.m."):
    ...     print(sentence.words)
    ('Dr.', 'Who', 'ca', "n't", 'wait', '.')
    ('It', "'s", '5', 'p.m.')
    """
    return tuple(
        Sentence(tuple(text[start:end] for start, end in words), text=text, offsets=tuple(words))
        for words in split_sentences(text, split_words(text))
    )
