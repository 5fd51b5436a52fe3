"""What a parser is given: text, words or a Doc of spaCy's, told apart by type, never guessed."""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

from fencepost.errors import DataError
from fencepost.formats.docbin import split_doc
from fencepost.structure import Sentence
from fencepost.text import split_text


class Doc(Protocol):
    """A document of spaCy's."""

    def has_annotation(self, attr: str) -> bool:
        """Whether any of its tokens has this attribute."""


Input = str | Sentence | Sequence[str] | Sequence[Sequence[str] | Sentence] | Doc


@dataclass(frozen=True, slots=True)
class Waiting:
    """An input as sentences, or why it is none."""

    sentences: tuple[Sentence, ...]
    text: str | None = None
    status: str | None = None

    @property
    def words(self) -> int:
        """How many there are in all sentences."""
        return sum(map(len, self.sentences))


def waiting(x: object, *, strict: bool = False) -> Waiting:
    """An input as sentences.

    Args:
        x: anything.
        strict: whether to raise what is raised by something that is no input.
    """
    text: str | None = None
    try:
        if isinstance(x, str):
            text = x
            return Waiting(split_text(text), text)
        if is_doc(x):
            text = x.text
            return Waiting(split_doc(x), text)
        return Waiting(_given(x))
    except DataError as error:
        return Waiting((), text, str(error))
    except Exception as error:  # what the caller has made may raise anything, whatever is asked
        if strict:
            raise
        return Waiting((), text, told(error))


def only_sentence(x: object) -> Sentence:
    """The one sentence of an input.

    Raises:
        DataError: it has none, or several; the message says what to do.
        TypeError: it is neither text nor words.
    """
    given = waiting(x, strict=True)
    if given.status is not None:
        raise DataError(given.status)
    if len(given.sentences) == 1:
        return given.sentences[0]
    count = len(given.sentences) or "no"
    raise DataError(
        f"one sentence was expected, and {count} sentences were found; pass the words of one, "
        "or document.sentences[0].sentence"
    )


def is_doc(x: object) -> TypeGuard[Any]:
    """Whether it is a document of spaCy's; spaCy is not loaded to find that out."""
    spacy = sys.modules.get("spacy.tokens")
    return spacy is not None and isinstance(x, spacy.Doc)


def _given(x: object) -> tuple[Sentence, ...]:
    """Sentences of words that the caller has split."""
    one = _one_sentence(x)
    if one is not None:
        return (one,) if one.words else ()
    if _is_list(x):
        several = [_one_sentence(item) for item in x]
        if all(sentence is not None for sentence in several):
            return tuple(sentence for sentence in several if sentence)
    raise TypeError(
        f"text or words were expected, not {shown(x)}: parse('The cat sat.'), "
        "parse(['The', 'cat', 'sat']) or parse([['The', 'cat'], ['It', 'sat']])"
    )


def _one_sentence(x: object) -> Sentence | None:
    if isinstance(x, Sentence):
        return x
    if _is_list(x) and all(isinstance(word, str) for word in x):
        return Sentence(tuple(x))
    return None


def _is_list(x: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(x, Sequence) and not isinstance(x, str | bytes | bytearray | memoryview)


def told(error: Exception) -> str:
    """An error as a status says it."""
    try:
        return f"{type(error).__name__}: {error}".removesuffix(": ")
    except Exception:  # one that cannot even say what it is
        return type(error).__name__


def shown(x: object) -> str:
    """Anything, as messages show it."""
    try:
        return f"{type(x).__name__} {reprlib.repr(x)}"
    except Exception:  # a number of too many digits, say
        return type(x).__name__
