"""Spans, and what it means that they nest."""

from __future__ import annotations

from collections.abc import Iterable
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
        """The index of its sentence in the document; None if that is not known."""
        return None

    @property
    def text(self) -> str:
        """Its words in the text; of a span that was not found in a sentence, nothing."""
        return ""

    @property
    def start_char(self) -> int | None:
        """Where it begins in the text; None if that is not known."""
        return None

    @property
    def end_char(self) -> int | None:
        """Where it ends in the text; None if that is not known."""
        return None

    @property
    def probability(self) -> float | None:
        """How sure a parser was; None if none found it."""
        return None

    @property
    def head_word(self) -> Span | None:
        """Its head word, which entities of a parser know; None otherwise."""
        return None

    @property
    def is_name(self) -> bool | None:
        """Whether it is a name, which entities of a parser know; None otherwise."""
        return None

    def relabelled(self, label: str | None) -> Span:
        """The same span with another label, and with all else that is known of it."""
        return Span(self.start, self.end, label)

    def __str__(self) -> str:
        return f"({self.start}, {self.end}) {'∅' if self.label is None else self.label}"


def spans_of(rows: Iterable[tuple[int, int, str | None]]) -> tuple[Span, ...]:
    """A span for each row of start, end and label: for many at a time."""
    # Span(...) runs Python code for each; tuple.__new__ does not, and takes a third of the time.
    return tuple(map(partial(tuple.__new__, Span), rows))


def by_place(spans: Iterable[Span]) -> list[Span]:
    """Spans from left to right, the holder before what it holds."""
    # Two stable sorts on plain fields take a third of the time of one on a computed key.
    ordered = sorted(spans, key=itemgetter(1), reverse=True)
    ordered.sort(key=itemgetter(0))
    return ordered


def in_order(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Labelled spans from left to right, the holder before what it holds, then by label."""
    return tuple(by_place(sorted(spans, key=itemgetter(2))))


def first_crossing(spans: Iterable[Span]) -> tuple[Span, Span] | None:
    """The first two spans that overlap without one holding the other.

    >>> first_crossing([Span(0, 3, "A"), Span(1, 2, "B")]) is None
    True
    >>> [str(span) for span in first_crossing([Span(0, 3, "A"), Span(2, 4, "B")])]
    ['(0, 3) A', '(2, 4) B']
    """
    holders: list[Span] = []
    for span in by_place(spans):
        while holders and holders[-1].end <= span.start:
            holders.pop()
        # The innermost holder ends first, so it is the only one that need be asked.
        if holders and holders[-1].end < span.end:
            return holders[-1], span
        holders.append(span)
    return None


def drop_crossing(spans: Iterable[Span]) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The spans that nest, and those left out to make it so.

    Going from left to right, a span is left out if it crosses one that was kept.
    """
    kept: list[Span] = []
    dropped: list[Span] = []
    holders: list[Span] = []
    for span in by_place(spans):
        while holders and holders[-1].end <= span.start:
            holders.pop()
        if holders and holders[-1].end < span.end:
            dropped.append(span)
        else:
            holders.append(span)
            kept.append(span)
    return tuple(kept), tuple(dropped)
