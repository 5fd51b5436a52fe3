"""The layout of a tree: from sizes of labels and words to places, for any kind of picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.structure import Span, Tree


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of a tree's items: its spans in pre-order, then its words.

    Every item has a horizontal range to itself and its descendants. So labels never touch, and an
    edge can go straight down to any child.
    """

    children: list[list[int]]  # of each span, the items directly below it
    rows: list[int]  # 0 for words; a span is one above its highest child
    centres: list[float]
    width: float

    @property
    def levels(self) -> int:
        """The number of rows with spans."""
        return max(self.rows)


def lay_out(
    tree: Tree, labels: Sequence[float], words: Sequence[float], *, gap: float, whole: bool = False
) -> Layout:
    """Lay out a tree with labels and words of these widths.

    Args:
        tree: a tree of any depth.
        labels: the width of each span's label.
        words: the width of each word, or of its tag if that is wider.
        gap: the least space between neighbours.
        whole: whether places are whole numbers, as in a terminal; a text of width w then has w // 2
            columns left of its centre.
    """
    children = children_of(tree.spans, tree.start, tree.end)
    sizes = [*labels, *words]
    lefts = [_half(size, whole) for size in sizes]  # of an item's range, left of its centre
    rights = [size - left for size, left in zip(sizes, lefts, strict=True)]
    rows = [0] * len(sizes)
    shifts = [0.0] * len(sizes)  # from the centre of the parent
    for index in reversed(range(len(children))):  # children first
        below = children[index]
        place = 0.0
        for last, child in zip([None, *below], below, strict=False):
            if last is not None:
                place += rights[last] + gap + lefts[child]
            shifts[child] = place
        centre = _half(place, whole)
        lefts[index] = max(lefts[index], centre + lefts[below[0]])
        rights[index] = max(rights[index], place - centre + rights[below[-1]])
        rows[index] = 1 + max(rows[child] for child in below)
        for child in below:
            shifts[child] -= centre
    centres = [0.0] * len(sizes)
    centres[0] = lefts[0]
    for index, below in enumerate(children):
        for child in below:
            centres[child] = centres[index] + shifts[child]
    return Layout(children, rows, centres, lefts[0] + rights[0])


def _half(size: float, whole: bool) -> float:
    return size // 2 if whole else size / 2


def children_of(spans: Sequence[Span], start: int, end: int) -> list[list[int]]:
    """The child items of each span in pre-order: spans, and words from `start` on.

    >>> children_of([Span(0, 3, "S"), Span(1, 3, "VP")], 0, 3)
    [[2, 1], [3, 4]]
    """
    children: list[list[int]] = [[] for _ in spans]
    holders: list[int] = []
    coming = 0
    for boundary in range(start, end):
        while holders and spans[holders[-1]].end == boundary:
            holders.pop()
        while coming < len(spans) and spans[coming].start == boundary:
            if holders:
                children[holders[-1]].append(coming)
            holders.append(coming)
            coming += 1
        if holders:
            children[holders[-1]].append(len(spans) + boundary - start)
    return children
