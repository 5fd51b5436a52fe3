"""The pointings of a parse, one step a line: how the method works, on any sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from fencepost.structure import Parse, Span
from fencepost.tasks.layers import layer_spans
from fencepost.transition import fill_gaps, pointings

_SHOWN = 16  # candidates on the left; deep trees have thousands


class Step(NamedTuple):
    """One pointing, with what it could choose from."""

    cursor: int
    left: tuple[int, ...]  # the candidates on the left, perhaps only the outer and inner ones
    boundary: int
    span: Span


def steps(spans: tuple[Span, ...], *, most: int | None = None) -> Iterator[Step]:
    """The steps that make the spans, in order.

    Args:
        spans: with one over the whole sentence.
        most: how many candidates on the left to give at most; None: all of them.
    """
    cursor = 0
    starts: list[int] = []
    for pointing, span in zip(pointings(spans), fill_gaps(spans), strict=True):
        left = starts[:-1] if most is None or len(starts) <= most else _ends(starts, most)
        yield Step(cursor, tuple(left), pointing.boundary, span)
        while starts and starts[-1] >= span.start:
            starts.pop()
        starts.append(span.start)
        cursor = span.end


def _ends(starts: list[int], most: int) -> list[int]:
    half = most // 2
    return starts[:half] + starts[-1 - half : -1]


def trace(parse: Parse, layer: str) -> Iterator[str]:
    """Lines of text: the sentence with its boundaries, then a row for each step."""
    spans = layer_spans(parse, layer)
    if spans is None:
        return
    rows = [("step", "cursor", "candidates", "points to", "completes", "label")]
    n = len(parse.words)
    for number, step in enumerate(steps(spans, most=_SHOWN), 1):
        start, end, label = step.span
        rows.append(
            (
                str(number),
                str(step.cursor),
                _candidates(step.cursor, step.left, n),
                str(step.boundary),
                f"({start}, {end})",
                "∅" if label is None else label,
            )
        )
    count = len(rows) - 1
    name = f"{parse.id}: " if parse.id else ""
    yield f"# {name}{layer} of {n} word{'s' * (n != 1)} in {count} step{'s' * (count != 1)}"
    yield numbered(parse.words)
    yield from columns(rows, numbers=(0, 1, 3))


def columns(rows: Sequence[Sequence[str]], *, numbers: Collection[int]) -> Iterator[str]:
    """Rows as lines, with their cells below each other.

    Args:
        rows: of as many cells each.
        numbers: the columns that are flush right.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if index in numbers else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def numbered(words: Sequence[str]) -> str:
    """Words with the numbers of the boundaries between them.

    >>> numbered(["The", "cat"])
    '0 The 1 cat 2'
    """
    return " ".join((*(f"{index} {word}" for index, word in enumerate(words)), str(len(words))))


def _candidates(cursor: int, left: tuple[int, ...], n: int) -> str:
    """The candidates, those on the right as a range.

    >>> _candidates(4, (0, 2), 9)
    '0 2 5-9'
    """
    shown = [str(start) for start in left]
    if len(left) == _SHOWN:
        shown.insert(_SHOWN // 2, "...")
    if cursor < n:
        shown.append(str(n) if cursor + 1 == n else f"{cursor + 1}-{n}")
    return " ".join(shown)
