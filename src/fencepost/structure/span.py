"""Spans, and functions on spans that nest or cross."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple


class Span(NamedTuple):
    """The words between two boundaries.

    Boundaries are the gaps around words, numbered 0..n for n words. A span is thus
    half-open over words, and neighbours share a boundary:

        0  The  1  cat  2  sat  3
        └──── NP ───────┘            Span(0, 2, "NP")
    """

    start: int
    end: int
    label: str | None = None  # None marks a filler: the parser needs it, the tree does not

    @property
    def sentence(self) -> int | None:
        """The index of its sentence in the document; None if unknown."""
        return None

    @property
    def text(self) -> str:
        """Its words in the text; empty for a span without a sentence."""
        return ""

    @property
    def start_char(self) -> int | None:
        """Its first character in the text; None if unknown."""
        return None

    @property
    def end_char(self) -> int | None:
        """The character after its last in the text; None if unknown."""
        return None

    @property
    def probability(self) -> float | None:
        """The parser's probability; None if it is not from a parser."""
        return None

    @property
    def head_word(self) -> Span | None:
        """Its head word, for predicted entities; else None."""
        return None

    @property
    def is_name(self) -> bool | None:
        """Whether it is a name, for predicted entities; else None."""
        return None

    def relabelled(self, label: str | None) -> Span:
        """The same span with another label and all other attributes."""
        return Span(self.start, self.end, label)

    def __str__(self) -> str:
        return f"({self.start}, {self.end}) {'∅' if self.label is None else self.label}"


def spans_of(rows: Iterable[tuple[int, int, str | None]]) -> tuple[Span, ...]:
    """A span for each row of start, end and label, faster than one by one."""
    # tuple.__new__ runs no Python code per span, so it takes a third of the time of Span(...).
    return tuple(map(partial(tuple.__new__, Span), rows))


def by_place(spans: Iterable[Span]) -> list[Span]:
    """Spans from left to right, holders first."""
    # Two stable sorts on plain fields take a third of the time of one on a computed key.
    ordered = sorted(spans, key=itemgetter(1), reverse=True)
    ordered.sort(key=itemgetter(0))
    return ordered


def in_order(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Labelled spans from left to right, holders first, then by label."""
    return tuple(by_place(sorted(spans, key=itemgetter(2))))


def _with_crossings(spans: Iterable[Span]) -> Iterator[tuple[Span, Span | None]]:
    """Spans from left to right, each with an earlier one that it crosses, if any.

    A span that crosses another is ignored from then on.
    """
    holders: list[Span] = []
    for span in by_place(spans):
        while holders and holders[-1].end <= span.start:
            holders.pop()
        # The innermost holder ends first, so no other one needs to be compared.
        if holders and holders[-1].end < span.end:
            yield span, holders[-1]
        else:
            holders.append(span)
            yield span, None


def first_crossing(spans: Iterable[Span]) -> tuple[Span, Span] | None:
    """The first two spans that overlap without one holding the other, if any.

    >>> first_crossing([Span(0, 3, "A"), Span(1, 2, "B")]) is None
    True
    >>> [str(span) for span in first_crossing([Span(0, 3, "A"), Span(2, 4, "B")])]
    ['(0, 3) A', '(2, 4) B']
    """
    return next(((crossed, span) for span, crossed in _with_crossings(spans) if crossed), None)


def drop_crossing(spans: Iterable[Span]) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The spans that nest, and those that were left out.

    From left to right, a span is left out if it crosses one before it that was not.
    """
    checked = list(_with_crossings(spans))
    nested = tuple(span for span, crossed in checked if crossed is None)
    return nested, tuple(span for span, crossed in checked if crossed is not None)


def holders_of(spans: Sequence[Span]) -> list[int | None]:
    """The index of the span directly around each; holders come first.

    Spans that cross do not hold each other.

    >>> holders_of([Span(0, 4, "A"), Span(0, 2, "B"), Span(1, 2, "C"), Span(2, 4, "D")])
    [None, 0, 1, 0]
    """
    holders: list[int | None] = []
    around: list[int] = []
    for index, span in enumerate(spans):
        while around and spans[around[-1]].end <= span.start:
            around.pop()
        holders.append(next((h for h in reversed(around) if spans[h].end >= span.end), None))
        around.append(index)
    return holders
