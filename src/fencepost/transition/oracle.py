"""The oracle (spans to pointings) and replay (pointings to spans), section 2.2."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from fencepost.errors import CrossingSpansError, DataError, TransitionError
from fencepost.structure.span import Span, by_place, spans_of


class Pointing(NamedTuple):
    """One step of a parse: a boundary to point to, and the label of the completed span."""

    boundary: int
    label: str | None = None


def fill_gaps(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans in post-order, with a filler over each run of words that children leave out.

    One span must hold all others, and no two may cover the same words; `tasks` ensures both. A span
    without children needs no filler, since one step makes it (section 2.1).

    >>> [str(span) for span in fill_gaps([Span(0, 3, "S"), Span(1, 2, "NP")])]
    ['(0, 1) ∅', '(1, 2) NP', '(2, 3) ∅', '(0, 3) S']
    """
    return spans_of(_walk(spans))


def _walk(spans: Iterable[Span]) -> list[tuple[int, int, str | None]]:
    """The rows of `fill_gaps`: start, end and label."""
    rows: list[tuple[int, int, str | None]] = []
    holders: list[Span] = []
    reached: list[int] = []  # for each holder, the end of its last child
    for span in by_place(spans):
        start, end, _ = span
        while holders and holders[-1][1] <= start:
            _complete(holders.pop(), reached.pop(), rows)
        if holders:
            holder = holders[-1]
            if end > holder[1]:
                raise CrossingSpansError(f"{holder} and {span} cross")
            if holder[0] == start and holder[1] == end:
                raise DataError(f"{holder} and {span} cover the same words: join their labels")
            if reached[-1] < start:
                rows.append((reached[-1], start, None))
            reached[-1] = end
        elif rows or start != 0:
            raise DataError(f"{span} is not held by a span over the whole sentence")
        holders.append(span)
        reached.append(start)
    while holders:
        _complete(holders.pop(), reached.pop(), rows)
    return rows


def _complete(span: Span, reached: int, rows: list[tuple[int, int, str | None]]) -> None:
    """Add a span after its children, and a filler for words that they leave out at its end."""
    start, end, _ = span
    if start < reached < end:
        rows.append((reached, end, None))
    rows.append(span)


def pointings(spans: Iterable[Span]) -> tuple[Pointing, ...]:
    """The oracle: the only steps that make these spans, fillers included.

    Each span is pointed to from the boundary that it shares with the span before it.

    >>> pointings([Span(0, 3, "S"), Span(0, 2, "NP"), Span(2, 3, "VP")])
    (Pointing(boundary=2, label='NP'), Pointing(boundary=3, label='VP'), \
Pointing(boundary=0, label='S'))
    """
    cursor = 0
    steps: list[tuple[int, str | None]] = []
    for start, end, label in _walk(spans):
        steps.append((end if start == cursor else start, label))
        cursor = end
    return tuple(map(partial(tuple.__new__, Pointing), steps))


def replay(steps: Iterable[Pointing]) -> tuple[Span, ...]:
    """The spans that pointings make, in order.

    >>> [str(span) for span in replay([Pointing(2, "NP"), Pointing(3), Pointing(0, "S")])]
    ['(0, 2) NP', '(2, 3) ∅', '(0, 3) S']
    """
    cursor = 0
    starts: list[int] = []
    rows: list[tuple[int, int, str | None]] = []
    for boundary, label in steps:
        if boundary > cursor:
            starts.append(cursor)
            rows.append((cursor, boundary, label))
            cursor = boundary
            continue
        if starts:
            starts.pop()  # the newest span is complete already
        while starts and starts[-1] > boundary:
            starts.pop()
        if not starts or starts[-1] != boundary:
            raise TransitionError(
                f"step {len(rows)} points from {cursor} to {boundary}, "
                "where no completed span starts, or only the newest"
            )
        rows.append((boundary, cursor, label))
    if rows and starts != [0]:
        raise TransitionError(f"the steps end before (0, {cursor}) is complete")
    return spans_of(rows)
