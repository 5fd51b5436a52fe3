"""The best next step from anywhere: an oracle for parses that have left the gold path.

A configuration settles which gold spans can still be made. With the open spans, these nest, so all
of them can be made together: there is a tree that holds both, and the ordinary oracle walks it in
its one canonical order. The step after the open spans loses none of them. Others may lose none
either; this one is what the ordinary oracle does on the gold path.

`gold` is everywhere what `transition.pointings` takes: no two spans over the same words, one over
the whole sentence (among entities perhaps without a label), and no fillers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter

from fencepost.errors import TransitionError
from fencepost.structure import Span
from fencepost.transition import Configuration, Pointing, pointings


def reachable(configuration: Configuration, gold: Iterable[Span]) -> tuple[Span, ...]:
    """The gold spans that are not complete and can still be made.

    What ends right of the cursor has to start there, too, or where an open span does: any other
    place lies inside of one. What ends at the cursor has to be a merge.

    >>> after = Configuration(3).point(2)  # completes (0, 2)
    >>> [str(span) for span in reachable(after, [Span(0, 3, "S"), Span(1, 3, "VP")])]
    ['(0, 3) S']
    """
    cursor, starts = configuration.cursor, configuration.starts
    return tuple(
        span
        for span in gold
        if (span.end > cursor and (span.start >= cursor or span.start in starts))
        or (span.end == cursor and span.start in starts[:-1])
    )


def best_step(configuration: Configuration, gold: Iterable[Span]) -> Pointing:
    """The step that loses no gold span which can still be made: the reference of `best_steps`.

    >>> gold = [Span(0, 3, "S"), Span(1, 3, "VP")]
    >>> best_step(Configuration(3), gold)
    Pointing(boundary=1, label=None)
    >>> best_step(Configuration(3).point(2), gold)  # VP is lost; S needs a filler beside (0, 2)
    Pointing(boundary=3, label=None)
    """
    if configuration.is_final:
        raise TransitionError("the parse is complete: there is no next step")
    tree = [*configuration.open_spans, *reachable(configuration, gold)]
    return pointings(tree)[len(configuration.starts)]


def best_steps(path: Iterable[Pointing], gold: Iterable[Span], n: int) -> list[Pointing]:
    """The best step at each configuration that a path goes through, in linear time.

    Args:
        path: steps that are allowed, one after the other.
        gold: in any order.
        n: the number of words.

    Returns:
        One for each step of the path: what would have been best in its place.
    """
    labels = {(start, end): label for start, end, label in gold}
    places = sorted(labels, key=itemgetter(0), reverse=True)
    places.sort(key=itemgetter(1))
    found = best_places((boundary for boundary, _ in path), places, n)
    return [Pointing(boundary, labels.get((start, end))) for boundary, start, end in found]


def best_places(
    path: Iterable[int], gold: Sequence[tuple[int, int]], n: int
) -> list[tuple[int, int, int]]:
    """The best steps along a path as boundaries, each with the start and end of its span.

    A span that is not among `gold` is a filler. A gold span that cannot be made any more never can
    be later, so one walk through `gold` beside the path is enough.

    Args:
        path: the boundaries that its steps point to.
        gold: starts and ends in post-order.
        n: the number of words.
    """
    beyond = _beyond(gold, n)
    is_open = [False] * (n + 1)  # whether an open span starts there
    starts: list[int] = []
    cursor, newest = 0, -1
    found: list[tuple[int, int, int]] = []
    waiting = iter(gold)
    start, end = next(waiting)
    for boundary in path:
        while (
            end < cursor
            or (start < cursor and not is_open[start])
            or (start == newest and end == cursor)
        ):
            start, end = next(waiting)
        if end == cursor:
            found.append((start, start, end))
        elif start <= cursor:  # itself, or the filler that is its last child
            found.append((end, cursor, end))
        else:
            found.append((beyond[cursor], cursor, beyond[cursor]))
        if boundary > cursor:
            starts.append(cursor)
            is_open[cursor] = True
            cursor, newest = boundary, cursor
        else:
            while starts[-1] != boundary:
                is_open[starts.pop()] = False
            newest = boundary
    return found


def _beyond(gold: Iterable[tuple[int, int]], n: int) -> list[int]:
    """For each boundary, the first one to the right of it where a gold span starts; or n."""
    begins = {start for start, _ in gold}
    found = [n] * (n + 1)
    for boundary in range(n - 1, -1, -1):
        found[boundary] = boundary + 1 if boundary + 1 in begins else found[boundary + 1]
    return found
