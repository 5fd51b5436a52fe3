"""Stand-off annotation: from text with labelled characters to sentences with entities.

Simple rules split text into words and sentences. They respect the annotation: no word or sentence
boundary splits an entity.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from fencepost.errors import DataError
from fencepost.structure import Sentence, Span

WORD = re.compile(
    r"""
      (?: [^\W\d_] \. ){2,} (?!\w)         # U.S.
    | \w+ (?: [-‐–.,:/'’@&+*] \w+ )*       # IL-2, don't, 1,000, a.m
    | \.{2,} | -{2,}                       # an ellipsis, a dash
    | [^\w\s]                              # any other mark by itself
    """,
    re.VERBOSE,
)
_LINE_END = re.compile(r"\n\s*")
_PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n\s*")
_SENTENCE_END = re.compile(
    r"(?<![.!?])[.!?]++[\"'”’)\]]*+(\s++)(?=[\"'“‘(\[]*+[A-Z0-9])"  # linear on any run of marks
)
_ABBREVIATION = re.compile(
    r"\b(?:[A-Z]|[A-Z]\.[A-Z]|Mr|Mrs|Ms|Dr|Prof|Gen|Col|Lt|Sgt|Sen|Rep|Gov|Rev|St|Jr|Sr|Inc|Corp|Co|"
    r"Ltd|No|vs|etc|Fig|al|e\.g|i\.e|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\.$"
)


class Mention(NamedTuple):
    """A labelled range of characters."""

    start: int
    end: int
    label: str


class Passage(NamedTuple):
    """A sentence of a text, its entities and its start in the text."""

    sentence: Sentence
    entities: tuple[Span, ...]
    start: int


def line_breaks(text: str) -> Iterator[int]:
    """The starts of sentences if each line is one."""
    return (match.end() for match in _LINE_END.finditer(text))


def sentence_breaks(text: str) -> Iterator[int]:
    """The starts of sentences in wrapped prose.

    A sentence starts after an empty line, and after a full stop, question or exclamation mark that
    is followed by a capital or a digit and does not end a common English abbreviation or initial.
    """
    yield from (match.end() for match in _PARAGRAPH_END.finditer(text))
    for match in _SENTENCE_END.finditer(text):
        if not _ABBREVIATION.search(text, max(0, match.start() - 10), match.start() + 1):
            yield match.end()


def passages(
    text: str,
    mentions: Iterable[Mention],
    *,
    name: str,
    breaks: Callable[[str], Iterable[int]] = line_breaks,
    cuts: Iterable[int] = (),
    words: re.Pattern[str] = WORD,
) -> Iterator[Passage]:
    """The sentences of a text with their entities.

    Args:
        text: the text of one document.
        mentions: its entities; blanks at their ends are ignored.
        name: the name of the document; sentences have the ids `name-1`, `name-2` and so on.
        breaks: the starts of sentences in a text; those inside of entities are ignored.
        cuts: more starts of words, besides the ends of entities.
        words: pattern of words before cutting; it matches all but blanks.
    """
    trimmed = sorted(trim(mention, text) for mention in mentions)
    edges = sorted({*cuts, *(edge for mention in trimmed for edge in mention[:2])})
    number = 0
    for start, end in _stretches(text, trimmed, breaks(text)):
        # Mentions lie within one stretch, so those that begin in it are its own.
        inside = trimmed[bisect_left(trimmed, (start,)) : bisect_left(trimmed, (end,))]
        offsets = _cut(_whole_words(words.finditer(text, start, end)), edges)
        if not offsets:
            continue
        number += 1
        first = {begin: index for index, (begin, _) in enumerate(offsets)}
        last = {finish: index + 1 for index, (_, finish) in enumerate(offsets)}
        sentence = Sentence(
            tuple(text[begin:finish] for begin, finish in offsets),
            text=text[start:end].rstrip(),
            offsets=tuple((begin - start, finish - start) for begin, finish in offsets),
            id=f"{name}-{number}",
        )
        spans = tuple(Span(first[m.start], last[m.end], m.label) for m in inside)
        yield Passage(sentence, spans, start)


def trim(mention: Mention, text: str) -> Mention:
    """The mention without blanks at its ends; an error if nothing is left."""
    start, end, label = mention
    if not 0 <= start < end <= len(text):
        raise DataError(
            f"{label} at characters {start} to {end} is not within a text of "
            f"{len(text)} characters",
            kind="out of range",
        )
    marked = text[start:end]
    left = len(marked) - len(marked.lstrip())
    right = len(marked) - len(marked.rstrip())
    if left == len(marked):
        raise DataError(f"{label} at characters {start} to {end} holds no word", kind="misaligned")
    return Mention(start + left, end - right, label)


def without_blanks(text: str) -> str:
    """A text without any blanks, for comparison."""
    return "".join(text.split())


def _stretches(
    text: str, mentions: list[Mention], breaks: Iterable[int]
) -> Iterator[tuple[int, int]]:
    """The ranges between breaks, ignoring breaks inside of mentions."""
    starts = [mention.start for mention in mentions]
    # The last end of the mentions up to each one.
    reach = list(accumulate((mention.end for mention in mentions), max))
    begin = len(text) - len(text.lstrip())
    for position in sorted(breaks):
        before = bisect_left(starts, position)
        if begin < position < len(text) and not (before and reach[before - 1] > position):
            yield begin, position
            begin = position
    if begin < len(text):
        yield begin, len(text)


def _whole_words(matches: Iterable[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """The ranges of words; a combining mark, which is no word character, joins two parts."""
    word: tuple[int, int] | None = None
    joins = False  # whether the word so far ends with a mark
    for match in matches:
        start, end = match.span()
        is_mark = unicodedata.category(match[0][0]).startswith("M")
        if word and word[1] == start and (is_mark or (joins and match[0][0].isalnum())):
            word = word[0], end
        else:
            if word:
                yield word
            word = start, end
        joins = is_mark
    if word:
        yield word


def _cut(spans: Iterable[tuple[int, int]], edges: list[int]) -> list[tuple[int, int]]:
    """Ranges of characters, cut at the edges inside of them."""
    offsets: list[tuple[int, int]] = []
    for start, end in spans:
        inside = edges[bisect_right(edges, start) : bisect_left(edges, end)]
        offsets += pairwise((start, *inside, end))
    return offsets
