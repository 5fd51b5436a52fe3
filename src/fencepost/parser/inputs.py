"""Inputs of a parser: text, words or a Doc of spaCy's. The type decides; nothing is guessed."""

from __future__ import annotations

import re
import reprlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

from fencepost.errors import DataError, clipped
from fencepost.formats.docbin import split_doc
from fencepost.structure import Sentence
from fencepost.text.splitters import ENGLISH, Splitter


class _Repr(reprlib.Repr):
    def repr_str(self, x: str, level: int) -> str:
        return repr(clipped(x[:200], 40))


_REPR = _Repr()


class Doc(Protocol):
    """A document of spaCy's."""

    def has_annotation(self, attr: str) -> bool:
        """Whether any of its tokens has this attribute."""


_BLANK = re.compile(r"\s", re.ASCII)  # a no-break space may well be within a word

Input = str | Sentence | Sequence[str] | Sequence[Sequence[str] | Sentence] | Doc


@dataclass(frozen=True, slots=True)
class Prepared:
    """An input as sentences, or why it is none."""

    sentences: tuple[Sentence, ...]
    text: str | None = None
    status: str | None = None

    @property
    def words(self) -> int:
        """How many there are in all sentences."""
        return sum(map(len, self.sentences))


def prepared(
    x: object, splitter: Splitter = ENGLISH, *, strict: bool = False, blanks: bool = False
) -> Prepared:
    """An input as sentences.

    Args:
        x: anything; what is prepared already is returned as it is.
        splitter: of texts.
        strict: whether to raise what is raised by something that is no input.
        blanks: whether the words in lists may hold blanks.
    """
    if type(x) is Prepared:  # isinstance would ask an object for its class, which may raise
        return x
    text: str | None = None
    try:
        if isinstance(x, str):
            text = x
            return Prepared(splitter.split(text), text)
        if is_doc(x):
            text = x.text
            return Prepared(split_doc(x, lambda doc: splitter.starts(doc.text)), text)
        return Prepared(_given(x, blanks=blanks))
    except DataError as error:
        return Prepared((), text, str(error))
    except Exception as error:  # what the caller has made may raise anything, whatever is asked
        if strict:
            raise
        return Prepared((), text, told(error))


def only_sentence(x: object, splitter: Splitter) -> Sentence:
    """The one sentence of an input.

    Raises:
        DataError: it has none, or several; the message says what to do.
        TypeError: it is neither text nor words.
    """
    given = prepared(x, splitter, strict=True)
    if given.status is not None:
        raise DataError(given.status)
    if len(given.sentences) == 1:
        return given.sentences[0]
    count = len(given.sentences) or "no"
    raise DataError(
        f"one sentence was expected, and {count} sentences were found; pass the words of one, "
        "or document[0].sentence"
    )


def is_doc(x: object) -> TypeGuard[Any]:
    """Whether it is a document of spaCy's; spaCy is not loaded to find that out."""
    spacy = sys.modules.get("spacy.tokens")
    return spacy is not None and isinstance(x, spacy.Doc)


def _given(x: object, *, blanks: bool) -> tuple[Sentence, ...]:
    """Sentences of words that the caller has split."""
    one = _one_sentence(x, blanks=blanks)
    if one is not None:
        return (one,) if one.words else ()
    if _is_list(x):
        several = [_one_sentence(item, blanks=blanks) for item in x]
        if all(sentence is not None for sentence in several):
            return tuple(sentence for sentence in several if sentence)
    raise TypeError(
        f"text or words were expected, not {shown(x)}: parse('The cat sat.'), "
        "parse(['The', 'cat', 'sat']) or parse([['The', 'cat'], ['It', 'sat']])"
    )


def _one_sentence(x: object, *, blanks: bool) -> Sentence | None:
    if isinstance(x, Sentence):
        return x
    if _is_list(x) and all(isinstance(word, str) for word in x):
        texts = () if blanks else filter(_BLANK.search, x)
        for text in texts:
            raise TypeError(
                f"a list of strings is the words of one sentence, and {_REPR.repr(text)} holds a "
                "blank; of several texts, parse_many(texts) gives a document each; words that do "
                "hold blanks are parse(fencepost.Sentence(words))"
            )
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
        return f"{type(x).__name__} {_REPR.repr(x)}"
    except Exception:  # a number of too many digits, say
        return type(x).__name__
