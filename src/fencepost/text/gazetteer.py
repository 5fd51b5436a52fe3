"""Gazetteers: lists of phrases with labels, and their matches in sentences."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from fencepost.errors import ConfigError, DataError, clipped
from fencepost.structure import Span
from fencepost.text.words import split_words

Words = tuple[str, ...]
_Phrases = dict[Words, tuple[str, str]]  # words to the phrase that has them, and its label

# Contexts in which phrases are split differently: `1. FC` at the start of a line, `J.` at its end.
_CONTEXTS: tuple[tuple[str, str], ...] = (("", ""), ("a ", ", a"))
_MOST_LINE = 1 << 20  # bytes of a line of a file


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """Phrases and their labels.

    A phrase matches words as `split_words` splits them, and also words split only at spaces, since
    sentences may have been split elsewhere.

    >>> known = Gazetteer.of({"New York": "place", "New York Times": "paper", "Ann's": "shop"})
    >>> [str(span) for span in known.find(["Ann", "'s", "sells", "the", "New", "York", "Times"])]
    ['(0, 2) shop', '(4, 7) paper']
    >>> [str(span) for span in known.find(["Ann's", "in", "New", "York"])]
    ['(0, 1) shop', '(2, 4) place']
    """

    labels: Mapping[Words, str] = field(repr=False)  # of phrases, by words
    lengths: Mapping[str, tuple[int, ...]] = field(repr=False)  # of phrases, by first word
    ignore_case: bool = False  # whether words of phrases and sentences are case-folded

    @classmethod
    def of(
        cls,
        phrases: Mapping[str, str] | Iterable[tuple[str, str]],
        *,
        ignore_case: bool = False,
    ) -> Gazetteer:
        """A gazetteer of phrases and their labels.

        Raises:
            DataError: the same words have two labels, or a phrase has no words or no label.
            ConfigError: the argument is not phrases with labels.
        """
        table: _Phrases = {}
        pairs = phrases.items() if isinstance(phrases, Mapping) else phrases
        for pair in pairs if isinstance(pairs, Iterable) else [pairs]:
            match pair:
                case (str(phrase), str(label)):
                    _add(table, phrase, label=label, ignore_case=ignore_case)
                case _:
                    raise ConfigError(
                        "gazetteer: phrases and their labels are expected, like "
                        f"{{'New York': 'place'}}, not {clipped(repr(pair))}"
                    )
        return _gazetteer(table, ignore_case=ignore_case)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, ignore_case: bool = False) -> Gazetteer:
        """A gazetteer from a file: a phrase, a tab and its label on each line.

        Blank lines and lines that start with `#` are ignored; a phrase that starts with `#` can
        have a space before it.

        Raises:
            DataError: as for `of`, or the file does not have this form.
        """
        table: _Phrases = {}
        for number, line in _lines(path):
            if not line.strip() or line.startswith("#"):
                continue
            phrase, *labels = line.split("\t")
            try:
                if len(labels) != 1:
                    raise DataError(
                        f"{len(labels)} tabs; a line has a phrase, one tab and the phrase's label"
                    )
                _add(table, phrase, label=labels[0].strip(), ignore_case=ignore_case)
            except DataError as error:
                raise error.at(str(path), number) from None
        return _gazetteer(table, ignore_case=ignore_case)

    def find(self, words: Sequence[str]) -> tuple[Span, ...]:
        """The phrases in a sentence, from left to right and without overlaps.

        Of those that start at the same word, the longest matches; the search continues after it.
        """
        if isinstance(words, str):
            raise TypeError(f"words are a sequence of strings, not one string: {words!r}")
        spelled = tuple(map(str.casefold, words) if self.ignore_case else words)
        phrases: list[Span] = []
        start = 0
        while start < len(spelled):
            longest = self._longest(spelled, start)
            if longest is not None:
                phrases.append(longest)
            start = start + 1 if longest is None else longest.end
        return tuple(phrases)

    def _longest(self, words: Words, start: int) -> Span | None:
        for length in self.lengths.get(words[start], ()):
            phrase = words[start : start + length]  # fewer words where the sentence ends
            if phrase in self.labels:
                return Span(start, start + len(phrase), self.labels[phrase])
        return None


def _add(table: _Phrases, phrase: str, *, label: str, ignore_case: bool) -> None:
    """Add a phrase, in all ways to split it."""
    if not phrase.split():
        raise DataError(f"the phrase {phrase!r} has no words")
    if not label:
        raise DataError(f"the phrase {phrase!r} has no label")
    for words in _ways(" ".join(phrase.split()), ignore_case=ignore_case):
        other, its_label = table.setdefault(words, (phrase, label))
        if its_label != label:
            raise DataError(
                f"{other!r} is {its_label} and {phrase!r} is {label}; "
                "the same words should have the same label"
            )


def _ways(phrase: str, *, ignore_case: bool) -> set[Words]:
    """All ways to split a phrase into words.

    >>> sorted(_ways("Roe, J.", ignore_case=False))
    [('Roe', ',', 'J', '.'), ('Roe', ',', 'J.'), ('Roe,', 'J.')]
    """
    ways = {tuple(phrase.split())}
    spellings, contexts = {phrase}, _CONTEXTS
    if phrase.replace(" ", "").isalnum():
        contexts = _CONTEXTS[:1]  # without signs, contexts make no difference
    elif ignore_case:
        spellings |= {phrase.lower(), phrase.upper(), phrase.title()}  # `st. Louis` has three words
    for spelling in spellings:
        for before, after in contexts:
            text = f"{before}{spelling}{after}"
            first, last = len(before), len(before) + len(spelling)
            places = split_words(text)  # no word extends over a space, or a comma before one
            ways.add(tuple(text[start:end] for start, end in places if first <= start < last))
    return {tuple(map(str.casefold, words)) for words in ways} if ignore_case else ways


def _gazetteer(table: _Phrases, *, ignore_case: bool) -> Gazetteer:
    lengths: dict[str, set[int]] = {}
    for words in table:
        lengths.setdefault(words[0], set()).add(len(words))
    return Gazetteer(
        {words: label for words, (_, label) in table.items()},
        {word: tuple(sorted(counts, reverse=True)) for word, counts in lengths.items()},
        ignore_case,
    )


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers."""
    number = 0
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(iter(partial(file.readline, _MOST_LINE + 1), b""), 1):
                if len(line) > _MOST_LINE:
                    raise DataError(
                        f"this line has more than {_MOST_LINE:,} bytes, which is no phrase",
                        line=number,
                        path=str(path),
                    )
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=str(path)) from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"not utf-8: byte 0x{error.object[error.start]:02x} at column {error.start + 1}",
            line=number,
            path=str(path),
        ) from error
