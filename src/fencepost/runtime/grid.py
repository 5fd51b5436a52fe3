"""The scores of all spans of a sentence, in numpy: the twin of `model.grid.Grid`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fencepost.batching.arrays import Floats, Ints
from fencepost.decoding.blas import quiet

NORM_EPSILON = 1e-5  # of LayerNorm

# Wider spans are not scored, unless they are the whole sentence, which needs no score: the work of
# a very long sentence thus grows with its length, not with the square of it.
WIDEST = 400  # words
NEVER = -20.0  # the score of such a span

_MOST_BOUNDARIES = 1024  # the spans of longer sentences are scored when the cursor gets there


class GridEnds(NamedTuple):
    """The parts of starts and ends in the hidden layer, centred: (rows, n + 1, hidden)."""

    starts: Floats
    ends: Floats


class GridWeights(NamedTuple):
    """The weights of a grid; the mean that LayerNorm subtracts is taken out beforehand."""

    start: Floats  # (width, hidden)
    end: Floats  # (width, hidden)
    bias: Floats  # (hidden,)
    scale: Floats  # (hidden,): of LayerNorm
    shift: Floats  # (hidden,)
    out: Floats  # (hidden,)
    out_bias: Floats  # (1,)
    left: Floats  # (): weight of the scores of steps to the left
    right: Floats  # ()

    @classmethod
    def of(cls, weights: Mapping[str, Floats], *, temperature: float) -> GridWeights:
        """The weights of a head with a grid, by their names in `model.head.PointingHead`."""
        first, bias = weights["grid.first.weight"], weights["grid.first.bias"]
        first, bias = first - first.mean(0), bias - bias.mean()
        start, end = np.split(first.T, 2)
        return cls(
            np.ascontiguousarray(start),
            np.ascontiguousarray(end),
            bias,
            weights["grid.norm.weight"],
            weights["grid.norm.bias"],
            weights["grid.out.weight"][0],
            weights["grid.out.bias"],
            *(weights["grid_weight"] / temperature),
        )

    def ends(self, boundaries: Floats) -> GridEnds:
        """The two roles of each boundary: (rows, n + 1, width)."""
        *shape, width = boundaries.shape
        flat = boundaries.reshape(-1, width)
        starts, ends = flat.dot(self.start), flat.dot(self.end)
        ends += self.bias
        return GridEnds(starts.reshape(*shape, -1), ends.reshape(*shape, -1))

    def matrix(self, ends: GridEnds) -> Floats:
        """The terms of the logits for pointing from i to j, at [i, j]: (rows, n + 1, n + 1).

        The spans from one start are scored together, in all sentences of a batch.
        """
        width = ends.starts.shape[1]
        # LayerNorm divides all features of a span by one number, by |s + e|² = s² + e² + 2 s e.
        # Of ends that nearly cancel out, 32 bits would leave little.
        wide = [each.astype(np.float64) for each in ends]
        squares = 2 * products(*wide)
        squares += _squares(wide[0])[:, :, None]
        squares += _squares(wide[1])[:, None]
        factors = (1 / self._deviation(squares)).astype(ends.starts.dtype)
        starts, last = ends.starts * self.scale, ends.ends * self.scale
        hidden = np.empty_like(starts)
        scores = np.zeros_like(factors)
        for start in range(width - 1):
            spans = hidden[:, start + 1 :]
            np.add(last[:, start + 1 :], starts[:, start, None], out=spans)
            spans *= factors[:, start, start + 1 :, None]
            spans += self.shift
            scores[:, start, start + 1 :] = np.maximum(spans, 0, out=spans).dot(self.out)
        scores += self.out_bias
        boundary = np.arange(width)
        scores[:, boundary - boundary[:, None] > WIDEST] = NEVER
        upper = np.triu(scores, 1)
        return self.right * upper + self.left * upper.swapaxes(1, 2)

    def scores(self, hidden: Floats) -> Floats:
        """Scores of spans from their hidden layer: (spans, hidden) to (spans,)."""
        normed = hidden / self._deviation(_squares(hidden))[:, None] * self.scale + self.shift
        return np.maximum(normed, 0).dot(self.out) + self.out_bias

    def _deviation(self, squares: Floats) -> Floats:
        """The divisor of LayerNorm, from the sums of squares of centred features."""
        return np.sqrt(np.maximum(squares, 0) / len(self.out) + NORM_EPSILON)

    def around(self, ends: GridEnds, sentence: Ints, cursor: Ints) -> Floats:
        """The rows of `matrix` at some cursors, computed now: (rows, n + 1).

        Args:
            ends: of all sentences
            sentence: of each row, (rows,)
            cursor: (rows,)
        """
        width = ends.starts.shape[1]
        boundary = np.arange(width)
        terms = np.where(boundary < cursor[:, None], self.left * NEVER, self.right * NEVER)
        terms = terms.astype(ends.starts.dtype)
        for row, (text, here) in enumerate(zip(sentence.tolist(), cursor.tolist(), strict=True)):
            first, last = max(0, here - WIDEST), min(here + WIDEST + 1, width)
            left = ends.starts[text, first:here] + ends.ends[text, here]
            right = ends.ends[text, here + 1 : last] + ends.starts[text, here]
            terms[row, first:here] = self.left * self.scores(left)
            terms[row, here + 1 : last] = self.right * self.scores(right)
        return terms


def products(left: Floats, right: Floats) -> Floats:
    """Products of all vectors of each sentence: (rows, a, m) and (rows, b, m) to (rows, a, b)."""
    if len(left) == 1:
        return left[0].dot(right[0].T)[None]  # raises no false alarm, so it may be loud
    return _products(left, right)


@quiet
def _products(left: Floats, right: Floats) -> Floats:
    return left @ right.swapaxes(1, 2)


def _squares(vectors: Floats) -> Floats:
    """The sum of squares of each vector: (…, m) to (…, )."""
    return np.einsum("...m,...m->...", vectors, vectors)


def fits(boundaries: int) -> bool:
    """Whether the grid of a sentence is small enough to be computed at once."""
    return boundaries <= _MOST_BOUNDARIES
