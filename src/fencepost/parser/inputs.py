"""Inputs of a parser: text, words or a spaCy Doc. The type decides; nothing is guessed."""

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
_BLANK = re.compile(r"\s", re.ASCII)  # a word may well contain a no-break space


class Doc(Protocol):
    """A spaCy Doc."""

    def has_annotation(self, attr: str) -> bool:
        """Whether any of its tokens has this attribute."""


Input = str | Sentence | Sequence[str] | Sequence[Sequence[str] | Sentence] | Doc


@dataclass(frozen=True, slots=True)
class PreparedInput:
    """The sentences of an input, or a status that says why there are none."""

    sentences: tuple[Sentence, ...]
    text: str | None = None
    status: str | None = None

    @property
    def words(self) -> int:
        """The number of words in all sentences."""
        return sum(map(len, self.sentences))


def prepare_input(
    x: object, splitter: Splitter = ENGLISH, *, strict: bool = False, blanks: bool = False
) -> PreparedInput:
    """Split an input into sentences.

    Args:
        x: any object; a `PreparedInput` is returned as it is.
        splitter: splits texts.
        strict: raise an error for what is no input, instead of a status.
        blanks: allow blanks in the words of lists.
    """
    if type(x) is PreparedInput:  # isinstance would ask an object for its class, which may raise
        return x
    text: str | None = None
    try:
        if isinstance(x, str):
            text = x
            return PreparedInput(splitter.split(text), text)
        if is_doc(x):
            text = x.text
            return PreparedInput(split_doc(x, lambda doc: splitter.starts(doc.text)), text)
        return PreparedInput(_sentences(x, blanks=blanks))
    except DataError as error:
        return PreparedInput((), text, str(error))
    except Exception as error:  # the methods of a caller's object may raise anything
        if strict:
            raise
        return PreparedInput((), text, error_text(error))


def only_sentence(x: object, splitter: Splitter) -> Sentence:
    """The one sentence of an input.

    Raises:
        DataError: it has none, or several; the message says what to do.
        TypeError: it is neither text nor words.
    """
    prepared = prepare_input(x, splitter, strict=True)
    if prepared.status is not None:
        raise DataError(prepared.status)
    if len(prepared.sentences) == 1:
        return prepared.sentences[0]
    count = len(prepared.sentences) or "no"
    raise DataError(
        f"one sentence was expected, and {count} sentences were found; pass the words of one, "
        "or document[0].sentence"
    )


def is_doc(x: object) -> TypeGuard[Any]:
    """Whether an object is a spaCy Doc; does not import spaCy."""
    spacy = sys.modules.get("spacy.tokens")
    return spacy is not None and isinstance(x, spacy.Doc)


def _sentences(x: object, *, blanks: bool) -> tuple[Sentence, ...]:
    """The sentences in lists of words; empty ones are left out."""
    sentence = _sentence(x, blanks=blanks)
    if sentence is not None:
        return (sentence,) if sentence.words else ()
    if _is_list(x):
        sentences = [_sentence(item, blanks=blanks) for item in x]
        if all(sentence is not None for sentence in sentences):
            return tuple(sentence for sentence in sentences if sentence)
    raise TypeError(
        f"text or words were expected, not {typed_repr(x)}: parse('The cat sat.'), "
        "parse(['The', 'cat', 'sat']) or parse([['The', 'cat'], ['It', 'sat']])"
    )


def _sentence(x: object, *, blanks: bool) -> Sentence | None:
    if isinstance(x, Sentence):
        return x
    if not (_is_list(x) and all(isinstance(word, str) for word in x)):
        return None
    with_blank = None if blanks else next(filter(_BLANK.search, x), None)
    if with_blank is not None:
        raise TypeError(
            f"a list of strings is the words of one sentence, and {_REPR.repr(with_blank)} holds a "
            "blank; of several texts, parse_many(texts) gives a document each; words that do "
            "hold blanks are parse(fencepost.Sentence(words))"
        )
    return Sentence(tuple(x))


def _is_list(x: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(x, Sequence) and not isinstance(x, str | bytes | bytearray | memoryview)


def error_text(error: Exception) -> str:
    """The type and message of an error, for a status."""
    try:
        return f"{type(error).__name__}: {error}".removesuffix(": ")
    except Exception:  # from its __str__
        return type(error).__name__


def typed_repr(x: object) -> str:
    """The type and a short repr of any object, for messages."""
    try:
        return f"{type(x).__name__} {_REPR.repr(x)}"
    except Exception:  # an integer with too many digits, for example
        return type(x).__name__
