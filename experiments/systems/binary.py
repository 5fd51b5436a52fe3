"""Trees as binary trees, and back: what splitting and charts need and pointing does not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fencepost.batching.vocabulary import FILLER
from fencepost.structure.span import Span, by_place, spans_of

Numbered = tuple[int, int, int]  # start, end and the number of a label


class Binary(NamedTuple):
    """A span of a binary tree, where it is split, and the number of its label.

    FILLER marks what only binarisation made, and words without a span of their own.
    """

    start: int
    split: int | None  # None: it is a single word
    end: int
    label: int


def binarised(spans: Iterable[Numbered], n: int) -> list[Binary]:
    """The 2 n - 1 spans of a binary tree over `n` words in pre-order, split at the last child.

    Args:
        spans: no two over the same words; fillers among them are passed over.
        n: the number of words.

    >>> binarised([(0, 3, 7)], 3)
    [Binary(start=0, split=2, end=3, label=7), Binary(start=0, split=1, end=2, label=0), \
Binary(start=0, split=None, end=1, label=0), Binary(start=1, split=None, end=2, label=0), \
Binary(start=2, split=None, end=3, label=0)]
    """
    labels = {(start, end): label for start, end, label in spans if label != FILLER}
    children = _children(Span(start, end) for start, end in {(0, n), *labels})
    found: list[Binary] = []
    waiting = [(0, n, children[0, n])]
    while waiting:
        start, end, posts = waiting.pop()  # posts: the boundaries around its children
        label = labels.get((start, end), FILLER)
        if end - start == 1:
            found.append(Binary(start, None, end, label))
            continue
        *before, split, _ = posts
        found.append(Binary(start, split, end, label))
        waiting.append((split, end, children.get((split, end), [split, end])))
        left = [*before, split]
        waiting.append(
            (start, split, left if len(left) > 2 else children.get((start, split), left))
        )
    return found


def _children(spans: Iterable[Span]) -> dict[tuple[int, int], list[int]]:
    """The boundaries around the children of each span; a word that no child holds is a child."""
    found: dict[tuple[int, int], list[int]] = {}
    holders: list[tuple[int, int]] = []

    def complete(place: tuple[int, int]) -> None:
        posts = found[place]
        posts += range(posts[-1] + 1, place[1] + 1)

    for start, end, _ in by_place(spans):
        while holders and holders[-1][1] <= start:
            complete(holders.pop())
        if holders:
            posts = found[holders[-1]]
            posts += [*range(posts[-1] + 1, start + 1), end]
        found[start, end] = [start]
        holders.append((start, end))
    while holders:
        complete(holders.pop())
    return found


def restored(nodes: Iterable[Binary], labels: Iterable[str | None]) -> tuple[Span, ...]:
    """The spans of the tree that a binary tree stands for.

    Args:
        nodes: in any order.
        labels: by number; the first is the filler's.
    """
    names = list(labels)
    return spans_of(
        (node.start, node.end, names[node.label]) for node in nodes if node.label != FILLER
    )
