"""Configurations of the paper's pointing system (section 2.2, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.errors import TransitionError
from fencepost.structure.span import Span


@dataclass(frozen=True, slots=True)
class Configuration:
    """A parse of `n` words, part-way through the post-order walk over its spans.

    One step points from the cursor to another boundary, and that completes the span
    between the two. The cursor then stands at the right end of that span, which is the
    boundary that the next span shares (Yang and Tu, 2022, section 2.2).

    The paper's quadruple (c, A, p, S) can be read off: c is `cursor`, A is `candidates()`, p is
    `newest`, and S is the union of `open_spans` over all steps so far.

    >>> c = Configuration(3).point(2)  # completes (0, 2)
    >>> c.cursor, c.candidates()
    (2, (3,))
    >>> c = c.point(3)  # completes (2, 3)
    >>> c.cursor, c.candidates()
    (3, (0,))
    >>> c.point(0).is_final  # completes (0, 3)
    True
    """

    n: int
    cursor: int = 0
    starts: tuple[int, ...] = ()  # where the completed spans start that no other holds

    @property
    def is_final(self) -> bool:
        """Whether the span over the whole sentence is complete."""
        return self.starts == (0,) and self.cursor == self.n

    @property
    def newest(self) -> int | None:
        """Where the newest span starts: the paper's p."""
        return self.starts[-1] if self.starts else None

    @property
    def open_spans(self) -> tuple[Span, ...]:
        """The completed spans that no other holds; each begins where the one before ends."""
        return tuple(map(Span, self.starts, (*self.starts[1:], self.cursor)))

    def candidates(self) -> tuple[int, ...]:
        """The boundaries that may be pointed to, in order.

        To the right, any. To the left, only where a completed span starts, since any
        other would cross it; and not the newest, since that span is there already.
        """
        if self.is_final:
            return ()
        return self.starts[:-1] + tuple(range(self.cursor + 1, self.n + 1))

    def point(self, boundary: int) -> Configuration:
        """Complete the span between the cursor and `boundary`."""
        if boundary not in self.candidates():
            raise TransitionError(
                f"cannot point from {self.cursor} to {boundary}; allowed: {self.candidates()}"
            )
        start, end = sorted((self.cursor, boundary))
        outside = tuple(s for s in self.starts if s < start)
        return Configuration(self.n, end, (*outside, start))
