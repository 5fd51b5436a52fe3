"""Penn brackets: from a string to labelled spans, and back.

A bracket around only one word is the tag of this word, `(NN cat)`. Any other is a span. Words are
separated by ASCII blanks only, so a word may contain a no-break space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from fencepost.errors import DataError
from fencepost.structure.span import Span, spans_of

Escapes = Literal["round", "penn", "none"]

NO_TAG = "XX"  # for a word without a tag, where one is required

_ITEM = re.compile(
    r"""
      \( \s*+ ([^\s()]++) \s++ ([^\s()]++) \s*+ \)   # (tag word)
    | \( \s*+ ([^\s()]*+)                            # an opening bracket and its label, if any
    | (\))                                           # a closing bracket
    | ([^\s()]++)                                    # a word without a tag
    """,
    re.ASCII | re.VERBOSE,
)
_ROUND = {"(": "-LRB-", ")": "-RRB-"}
_PENN = {"-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", r"\/": "/", r"\*": "*"}
_NOT_A_NAME = re.compile(r"[\s()]", re.ASCII)
_MAX_INDENT = 100  # levels; more would make the text quadratic in the depth


class Bracketing(NamedTuple):
    """The content of a bracketed string: words, their tags, and spans from the root down."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    spans: tuple[Span, ...]


def read_brackets(text: str, *, escapes: Escapes = "round") -> Iterator[Bracketing]:
    """Read the bracketings in a text, one after the other.

    >>> next(read_brackets("(S (NP (PRP It)) (VP (VBD slept)))")).spans
    (Span(start=0, end=2, label='S'), Span(start=0, end=1, label='NP'), \
Span(start=1, end=2, label='VP'))
    """
    escaped = escapes != "none" and ("RB-" in text or escapes == "penn")
    words: list[str] = []
    tags: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    labels: list[str] = []
    holders: list[int] = []  # the brackets that are open
    for tag, word, label, closing, bare in _ITEM.findall(text):
        if word:
            words.append(word)
            tags.append(tag)
        elif closing:
            if not holders:
                raise _explain(text)
            index = holders.pop()
            ends[index] = len(words)
            if starts[index] == ends[index]:
                raise _explain(text)
        elif bare:
            if not holders:
                raise _explain(text)
            words.append(bare)
            tags.append("")
            continue
        else:
            holders.append(len(labels))
            labels.append(label)
            starts.append(len(words))
            ends.append(0)
            continue
        if not holders:
            if escaped:
                words = [unescape(word, escapes) for word in words]
            yield Bracketing(
                tuple(words), tuple(tags), spans_of(zip(starts, ends, labels, strict=True))
            )
            words, tags, starts, ends, labels = [], [], [], [], []
    if holders:
        raise _explain(text)


def _explain(text: str) -> DataError:
    """The error in a text that could not be read, with its line."""
    opened: list[tuple[int, str, int]] = []  # (line, label, words before it)
    words = counted = 0
    line = 1
    for item in _ITEM.finditer(text):
        _, word, label, closing, bare = item.groups()
        line += text.count("\n", counted, item.start())
        counted = item.start()
        if closing and not opened:
            return DataError("this bracket closes nothing", line=line)
        if bare and not opened:
            return DataError(f"{bare!r} stands outside of any bracket", line=line)
        if closing:
            _, name, before = opened.pop()
            if before == words:
                return DataError(f"the bracket {name!r} holds no word", kind="empty", line=line)
        elif word or bare:
            words += 1
        else:
            opened.append((line, label, words))
    return DataError("this bracket is never closed", line=opened[0][0])


def unescape(word: str, escapes: Escapes) -> str:
    r"""A word without escapes.

    >>> unescape("-LRB-", "round"), unescape(r"1\/2", "penn"), unescape("-LSB-", "round")
    ('(', '1/2', '-LSB-')
    """
    if escapes == "none":
        return word
    word = word.replace("-LRB-", "(").replace("-RRB-", ")")
    if escapes == "penn":
        for written, meant in _PENN.items():
            word = word.replace(written, meant)
    return word


def escape_round(word: str) -> str:
    """A word with round brackets as `-LRB-` and `-RRB-`."""
    if "(" in word or ")" in word:
        for meant, written in _ROUND.items():
            word = word.replace(meant, written)
    return word


def escape(word: str) -> str:
    """A word as written in brackets: only round brackets are escaped."""
    word = escape_round(word)
    if _NOT_A_NAME.search(word):
        raise DataError(f"{word!r} holds a blank, so brackets cannot say it")
    return word


def shown(name: str) -> str:
    """A word, tag or label to display in brackets that need not be readable again.

    >>> shown("New York"), shown("$(")
    ('New_York', '$-LRB-')
    """
    return printed(_NOT_A_NAME.sub("_", escape_round(name)))


def printed(text: str) -> str:
    r"""A text that any stream of UTF-8 takes, with lone surrogates as escapes.

    >>> print(printed("a\ud800"))
    a\ud800
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_brackets(
    words: Sequence[str],
    tags: Sequence[str] | None,
    spans: Sequence[Span],
    *,
    indent: int | None = None,
) -> str:
    """One bracketed string; with `indent`, a line for each child of a span that holds spans.

    Raises:
        DataError: a word contains a blank, or a label a blank or a bracket, so that reading would
            return something else.

    >>> write_brackets(["It", "slept"], ["PRP", "VBD"], [Span(0, 2, "S"), Span(1, 2, "VP")])
    '(S (PRP It) (VP (VBD slept)))'
    """
    first, last = (spans[0].start, spans[0].end) if spans else (0, len(words))
    parts: list[str] = []
    holders: list[
        tuple[int, bool]
    ] = []  # of each open bracket: its end, and whether it holds spans
    coming = 0  # the next span to open
    for index in range(first, last):
        alone = not spans
        while coming < len(spans) and spans[coming].start == index:
            _, end, label = spans[coming]
            coming += 1
            parts += (_gap(holders, indent), "(", _name(label or ""))
            holders.append((end, coming < len(spans) and spans[coming].start < end))
            alone = end == index + 1 or not label
        tag = NO_TAG if tags is None else tags[index]
        # A word alone in a bracket would be read with the label as its tag, and the first word of a
        # bracket without a label as the label: both need a tag.
        tag = tag or (NO_TAG if alone else "")
        word = escape(words[index])
        parts += (_gap(holders, indent), f"({_name(tag)} {word})" if tag else word)
        while holders and holders[-1][0] == index + 1:
            holders.pop()
            parts.append(")")
    return "".join(parts)


def _gap(holders: list[tuple[int, bool]], indent: int | None) -> str:
    if not holders:
        return ""
    if indent is None or not holders[-1][1]:
        return " "
    return "\n" + " " * (indent * min(len(holders), _MAX_INDENT))


@lru_cache(maxsize=4096)
def _name(label: str) -> str:
    if _NOT_A_NAME.search(label):
        raise DataError(
            f"the label {label!r} holds a blank or a bracket, so brackets cannot say it"
        )
    return label
