"""The steps of parses with numbered labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fencepost.batching.arrays import Bools, Ints
from fencepost.batching.vocabulary import FILLER, Labels
from fencepost.structure import Span
from fencepost.transition import pointings

UNKNOWN = -1  # the number of a label that the head does not have

Numbered = tuple[tuple[int, int], ...]  # boundary and number of the label, step by step


def numbered(spans: Iterable[Span], labels: Labels) -> Numbered:
    """The oracle's steps to some spans, with `UNKNOWN` for labels that the head lacks.

    >>> numbered([Span(0, 2, "S"), Span(0, 1, "NP")], Labels(("NP",)))
    ((1, 1), (2, 0), (0, -1))
    """
    numbers = ((step.boundary, labels.number(step.label)) for step in pointings(spans))
    return tuple((boundary, UNKNOWN if label is None else label) for boundary, label in numbers)


def canonical_steps(spans: Iterable[tuple[int, int, int]]) -> Numbered:
    """The oracle's steps to spans with numbered labels; fillers may be left out.

    The last span has to be the whole sentence, with a label or as a filler.

    >>> canonical_steps([(0, 1, 0), (1, 2, 0), (0, 2, 5)])  # two fillers side by side
    ((2, 5),)
    """
    *parts, (start, end, root) = spans
    named = [Span(a, b, str(label)) for a, b, label in parts if label != FILLER]
    whole = Span(start, end, str(root) if root != FILLER else None)
    oracle = pointings([*named, whole])
    return tuple((boundary, int(label or FILLER)) for boundary, label in oracle)


def places(steps: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Start, end and label of the span that each step completes.

    >>> places([(1, 1), (2, 0), (0, 5)])
    [(0, 1, 1), (1, 2, 0), (0, 2, 5)]
    """
    cursor = 0
    spans = []
    for boundary, label in steps:
        spans.append((min(cursor, boundary), max(cursor, boundary), label))
        cursor = max(cursor, boundary)
    return spans


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a batch of parses; padding points to 0 without a label."""

    boundaries: Ints  # (parses, steps)
    labels: Ints  # (parses, steps); `UNKNOWN` where the head does not have the label
    counts: Ints  # (parses,)

    @classmethod
    def of(cls, parses: Sequence[Sequence[tuple[int, int]]]) -> Steps:
        """Batch the steps of parses: pairs of boundary and label."""
        counts = np.array([len(steps) for steps in parses], dtype=np.intp)
        pairs = np.full((len(parses), counts.max(initial=0), 2), (0, FILLER), dtype=np.intp)
        for row, steps in enumerate(parses):
            if steps:
                pairs[row, : len(steps)] = steps
        return cls(pairs[:, :, 0], pairs[:, :, 1], counts)

    @property
    def mask(self) -> Bools:
        """Mask of the steps that are not padding: (parses, steps)."""
        return np.arange(self.boundaries.shape[1]) < self.counts[:, None]

    @property
    def cursors(self) -> Ints:
        """The cursor before each step, (parses, steps): the rightmost boundary so far."""
        rightmost = np.maximum.accumulate(self.boundaries, axis=1)
        return np.pad(rightmost[:, :-1], ((0, 0), (1, 0)))[:, : rightmost.shape[1]]

    @property
    def starts(self) -> Ints:
        """The starts of the completed spans: (parses, steps)."""
        return np.minimum(self.cursors, self.boundaries)

    @property
    def ends(self) -> Ints:
        """The ends of the completed spans: (parses, steps)."""
        return np.maximum(self.cursors, self.boundaries)
